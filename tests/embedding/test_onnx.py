"""The models Trivium runs itself: the same text gives the same bits, whatever is around it."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trivium.embedding import onnx
from trivium.embedding.batches import embed_each
from trivium.embedding.embedder import Embedder, Vectors, to_valid_text
from trivium.embedding.late_chunking import WholeText
from trivium.embedding.manifest import manifest
from trivium.embedding.model_files import installed, locate
from trivium.embedding.onnx import OnnxEmbedder
from trivium.errors import ConfigurationError, EmbeddingError, ModelNotInstalledError

TEXTS = [
    "Saturn has rings of ice and rock.",
    "The rings around Saturn are made of frozen water and stones.",
    "A sonnet has fourteen lines.",
    "",
    "Titan > Atmosphere: Titan is the only moon with a dense atmosphere, mostly nitrogen.",
    "土星有光环。",
    "x" * 500,
    "a b " * 400,
] + [f"Moon number {i} was found in {1610 + i}." for i in range(16)]


@pytest.fixture(scope="module")
def minilm() -> Iterator[OnnxEmbedder]:
    embedder = OnnxEmbedder("minilm", workers=2)
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def vectors(minilm: OnnxEmbedder) -> Vectors:
    return minilm.embed(TEXTS)


def _digest_in_another_process(texts: list[str], answer: multiprocessing.Queue[str]) -> None:
    answer.put(hashlib.sha256(OnnxEmbedder("minilm", workers=1).embed(texts).tobytes()).hexdigest())


def test_vectors_are_unit_float32_rows(minilm: OnnxEmbedder, vectors: Vectors) -> None:
    """One row a text, of length one, the empty text included."""
    embedder: Embedder = minilm
    assert vectors.shape == (len(TEXTS), embedder.identity.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_meaning_is_near_meaning(vectors: Vectors) -> None:
    """Two sentences on Saturn's rings are nearer to each other than to one on sonnets."""
    rings, same, sonnet = vectors[:3]
    assert rings @ same > 0.7
    assert rings @ sonnet < 0.3


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.integers(0, len(TEXTS) - 1), max_size=24), workers=st.integers(1, 3))
def test_bits_do_not_hang_on_neighbours_order_or_workers(
    vectors: Vectors, order: list[int], workers: int
) -> None:
    """Any sub-list in any order with repeats, and any number of workers: bit-equal vectors."""
    again = OnnxEmbedder("minilm", workers=workers).embed([TEXTS[i] for i in order])
    assert np.array_equal(again, vectors[order])


def test_bits_are_those_of_another_process(vectors: Vectors) -> None:
    """A fresh process computes the same bytes."""
    context = multiprocessing.get_context("spawn")
    answer: multiprocessing.Queue[str] = context.Queue()
    process = context.Process(target=_digest_in_another_process, args=(TEXTS, answer))
    process.start()
    digest = answer.get(timeout=60)
    process.join()
    assert digest == hashlib.sha256(vectors.tobytes()).hexdigest()


def test_without_a_prefix_a_question_is_embedded_like_a_passage(
    minilm: OnnxEmbedder, vectors: Vectors
) -> None:
    """minilm has no query prefix."""
    assert np.array_equal(minilm.embed_query(TEXTS[0]), vectors[0])


@pytest.mark.skipif(not installed("bge-small"), reason="bge-small is not installed")
def test_bge_small_puts_its_prefix_before_questions_only() -> None:
    """A question is embedded as the prefixed passage, and that differs from the bare one."""
    embedder = OnnxEmbedder("bge-small")
    prefix = "Represent this sentence for searching relevant passages: "
    prefixed, bare = embedder.embed([prefix + TEXTS[0], TEXTS[0]])
    assert np.array_equal(embedder.embed_query(TEXTS[0]), prefixed)
    assert not np.array_equal(bare, prefixed)


def test_minilm_reads_256_tokens(minilm: OnnxEmbedder) -> None:
    """254 words and the two special tokens: the 255th word changes nothing, the 254th does. (The file's own
    setting is 128, for another purpose.)"""
    words = ["moon"] * 300
    base, at_254, at_255 = (
        words,
        [*words[:253], "sun", *words[254:]],
        [*words[:254], "sun", *words[255:]],
    )
    first, second, third = minilm.embed([" ".join(text) for text in (base, at_254, at_255)])
    assert not np.array_equal(first, second)
    assert np.array_equal(first, third)


def test_hostile_text_is_embedded(minilm: OnnxEmbedder) -> None:
    """Lone surrogates, control characters and a megabyte of spaces are texts like any other."""
    hostile = ["\ud800", "\x00\x01\x1b", " " * 1_000_000, "\u202e" * 10, "[CLS] [SEP] [PAD]"]
    assert np.isfinite(minilm.embed(hostile)).all()
    assert len(to_valid_text(" " * 1_000_000)) == 100_000


def test_equal_texts_are_embedded_once(minilm: OnnxEmbedder) -> None:
    """Progress counts the distinct texts."""
    steps: list[int] = []
    rows = minilm.embed(["one", "two", "one"] * 10, steps.append)
    assert sum(steps) == 2
    assert np.array_equal(rows[0], rows[27])


def test_nothing_gives_nothing(minilm: OnnxEmbedder) -> None:
    """No texts are zero rows of the right width."""
    assert minilm.embed([]).shape == (0, 384)


def test_closing_lets_go_and_the_next_text_loads_again(minilm: OnnxEmbedder, vectors: Vectors) -> None:
    """close() is no end: the weights come back when needed, with the same bits."""
    minilm.close()
    minilm.close()
    assert np.array_equal(minilm.embed(TEXTS[:1]), vectors[:1])


def test_opening_loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The identity is known without the weights; its version is the start of their sha256."""
    monkeypatch.setattr(OnnxEmbedder, "_open_session", lambda self: pytest.fail("loaded"))
    identity = OnnxEmbedder("minilm").identity
    digest = hashlib.sha256(locate("minilm").model.read_bytes()).hexdigest()
    assert (identity.name, identity.version, identity.dimension) == ("minilm", digest[:12], 384)


def test_a_model_that_is_not_there_names_the_command(tmp_path: Path) -> None:
    """The message is what to type."""
    with pytest.raises(ModelNotInstalledError, match="trivium models install bge-small"):
        OnnxEmbedder("bge-small", home=tmp_path)


def test_an_unknown_model_is_refused() -> None:
    """The message lists those there are."""
    with pytest.raises(ConfigurationError, match="bge-small, minilm"):
        OnnxEmbedder("bge-tiny")


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_damaged_files_of_the_right_size_are_an_error_that_names_the_cure(
    tmp_path: Path, damaged: str
) -> None:
    """onnxruntime's and tokenizers' own exceptions are translated."""
    spec = manifest()["bge-small"]
    folder = tmp_path / "models" / f"bge-small-{spec.version}"
    folder.mkdir(parents=True)
    for name, file in spec.files.items():
        with (folder / name).open("wb") as stream:
            if name == damaged or name == "model.onnx":
                stream.truncate(file.size)
            else:
                stream.write(b"{}".ljust(file.size))
    with pytest.raises(EmbeddingError, match="trivium models install bge-small"):
        OnnxEmbedder("bge-small", home=tmp_path).embed(["text"])


def test_weights_that_differ_in_one_bit_are_not_used(tmp_path: Path) -> None:
    """A model of the right size that onnxruntime would run: its vectors would be wrong without a word."""
    intact = locate("minilm")
    folder = tmp_path / "models" / f"minilm-{manifest()['minilm'].version}"
    folder.mkdir(parents=True)
    for path in (intact.model, intact.tokenizer):
        shutil.copy(path, folder)
    assert OnnxEmbedder("minilm", home=tmp_path).embed_query("text").shape == (384,)
    with (folder / "model.onnx").open("r+b") as file:
        file.seek(10_000_000)
        (byte,) = file.read(1)
        file.seek(10_000_000)
        file.write(bytes([byte ^ 1]))
    damaged = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    with pytest.raises(EmbeddingError, match=r"model\.onnx is damaged") as refused:
        OnnxEmbedder("minilm", home=tmp_path).embed_query("text")
    for said in (
        damaged,
        manifest()["minilm"].files["model.onnx"].sha256,
        "run  trivium models install minilm",
    ):
        assert said in str(refused.value)


def test_an_error_in_a_worker_ends_the_call_without_embedding_the_rest() -> None:
    """What has not begun is abandoned."""
    seen: list[str] = []

    def fail(text: str) -> Vectors:
        time.sleep(0.001)
        seen.append(text)
        raise EmbeddingError("broken")

    with pytest.raises(EmbeddingError, match="broken"):
        embed_each(fail, ["x"] * 8000, 3, workers=2)  # 1,000 runs of eight
    assert len(seen) < 500


def test_an_interrupt_while_waiting_abandons_the_rest() -> None:
    """Ctrl-C reaches the calling thread, here while progress is shown."""
    seen: list[str] = []

    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    def embed_one(text: str) -> Vectors:
        time.sleep(0.001)
        seen.append(text)
        return np.zeros(3, dtype=np.float32)

    with pytest.raises(KeyboardInterrupt):
        embed_each(embed_one, ["x"] * 2000, 3, interrupt, workers=2)
    assert len(seen) < 1000


def test_minilm_is_what_fastembed_computes_from_the_same_files(vectors: Vectors, tmp_path: Path) -> None:
    """An independent implementation of tokenising and mean pooling agrees to 1e-5, through our adapter."""
    pytest.importorskip("fastembed")
    from trivium.embedding.fastembed import FastEmbedEmbedder

    files = locate("minilm")
    (tmp_path / "model.onnx").symlink_to(files.model)
    (tmp_path / "tokenizer.json").symlink_to(files.tokenizer)
    for name, content in {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 256, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]"},
    }.items():
        (tmp_path / name).write_text(json.dumps(content))
    other = FastEmbedEmbedder("sentence-transformers/all-MiniLM-L6-v2", workers=2, folder=tmp_path)
    steps: list[int] = []
    theirs = other.embed([*TEXTS, TEXTS[0]], steps.append)
    assert np.abs(theirs[:-1] - vectors).max() < 1e-5
    assert np.array_equal(theirs[0], theirs[-1])
    assert sum(steps) == len(TEXTS)
    assert np.array_equal(other.embed_query(TEXTS[0]), theirs[0])
    assert other.identity.version == manifest()["minilm"].version
    assert other.identity.name == "fastembed:sentence-transformers/all-MiniLM-L6-v2"


def test_passages_of_a_model_that_wants_it_have_a_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    """e5 is trained on "query: " and "passage: "; spans get it in every window."""
    plain = OnnxEmbedder("minilm")
    spec = manifest()["minilm"].model_copy(update={"passage_prefix": "passage: ", "query_prefix": "query: "})
    monkeypatch.setattr(onnx, "manifest", lambda: {"minilm": spec})
    prefixed = OnnxEmbedder("minilm")
    texts = ["Mars has two moons.", "passage: it", "Mars has two moons."]
    wanted = plain.embed([f"passage: {text}" for text in texts])
    assert np.array_equal(prefixed.embed(texts), wanted)
    assert np.array_equal(prefixed.embed_query("moons"), plain.embed_query("query: moons"))
    whole = WholeText("Mars", "It has two moons.", ((0, 17),))
    as_title = WholeText("passage: Mars", "It has two moons.", ((0, 17),))
    assert np.array_equal(prefixed.embed_spans([whole])[0], plain.embed_spans([as_title])[0])
