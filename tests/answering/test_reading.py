"""A question and a part read together by a network: what it is given, how it is changed, and what it tells."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

import trivium
from trivium.answering.reader_network import ALL, Reader, adapted, load_reader, packed
from trivium.common.onnx_file import parse_model
from trivium.embedding.manifest import manifest
from trivium.embedding.model_files import installed, locate
from trivium.sample import DEMO_QUESTIONS, DOCUMENT_QUESTIONS, documents_folder, pages_folder
from trivium.types import EmbedderIdentity

TOKENIZER = Tokenizer.from_file(str(locate("minilm").tokenizer))
TOKENIZER.no_padding()
TOKENIZER.no_truncation()


needs_bge_small = pytest.mark.skipif(
    not installed("bge-small") and not os.environ.get("CI"), reason="bge-small is not installed"
)


def hidden(model: bytes, ids: list[int]) -> NDArray[np.float32]:
    """The vectors of tokens (n, d) that a model gives."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    row = np.array([ids], np.int64)
    given = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
    found: NDArray[np.float32] = session.run(None, given)[0][0]
    return found


def narrow(model: bytes, size: float) -> dict[str, NDArray[Any]]:
    """Low-rank changes of all products of a model: rank 1, every number of the first one is ``size``."""
    graph = parse_model(model).graph
    shapes = {one.name: tuple(one.dims) for one in graph.initializer}
    products = [one.input[1] for one in graph.node if one.op_type == "MatMulInteger"]
    changes: dict[str, NDArray[Any]] = {}
    for number, name in enumerate(products):
        rows, columns = shapes[name]
        changes[f"low.{number}.a"] = np.full((rows, 1), 0.0 if number else size, np.float32)
        changes[f"low.{number}.b"] = np.ones((1, columns), np.float32)
    return changes


@needs_bge_small
def test_changes_of_nothing_change_nothing_and_others_do() -> None:
    model = locate("bge-small").model.read_bytes()
    ids = TOKENIZER.encode("Who found the moons of Mars?").ids
    before = hidden(model, ids)
    np.testing.assert_array_equal(hidden(adapted(model, narrow(model, 0.0)), ids), before)
    assert np.abs(hidden(adapted(model, narrow(model, 0.01)), ids) - before).max() > 0.01


@needs_bge_small
def test_vectors_of_the_same_name_are_replaced() -> None:
    """A last normalisation that multiplies by 0 and adds 2 makes every number 2."""
    model = locate("bge-small").model.read_bytes()
    last = "encoder.layer.11.output.LayerNorm.weight"
    flat = {last: np.zeros(384, np.float32), last.replace("weight", "bias"): np.full(384, 2, np.float32)}
    assert (hidden(adapted(model, narrow(model, 0.0) | flat), [101, 2040, 102]) == 2).all()


def test_the_question_comes_first_and_what_is_too_long_is_cut() -> None:
    ids, types = packed(TOKENIZER, "who?", "Mars", "Hall.")
    assert TOKENIZER.decode(ids, skip_special_tokens=False) == "[CLS] who? [SEP] mars : hall. [SEP]"
    assert types == [0] * 4 + [1] * 5
    ids, types = packed(TOKENIZER, "who " * 90, "Mars " * 90, "Hall " * 90)
    assert len(ids) == len(types) == ALL
    assert types.count(0) == 32 + 2 and ids.count(ids[40]) == 20


def test_both_log_odds_make_the_probability() -> None:
    """The network says 1 * tanh(0.5) + 0.25 = 0.7121; with -1 of the trees 0.5 * -1 + 2 * 0.7121 + 0.1 = 1.0242.
    With another part of log-odds 2 and the highest reading 3: 2 * 1.0242 - 0.5 * 2 + 0.3 * 3 - 0.1 = 1.8484.
    """
    first = np.array([[[0.5, 9.0]]], np.float32)
    weights = {
        "blend": np.array([0.5, 2.0, 0.1]),
        "rival": np.array([2.0, -0.5, 0.3, -0.1]),
        "hidden.weight": np.array([[1.0, 0.0]]),
        "hidden.bias": np.zeros(1),
        "output.weight": np.ones(1),
        "output.bias": np.array([0.25]),
    }
    reader = Reader(SimpleNamespace(run=lambda _names, _given: [first]), TOKENIZER, weights)
    judged = 1 / (1 + np.exp(1.0))
    odds = reader.odds(reader.read("who?", "Mars", "Hall."), judged)
    assert odds == pytest.approx(1.0242, abs=1e-4)
    assert reader.probability(odds, 2.0, 3.0) == pytest.approx(1 / (1 + np.exp(-1.8484)), abs=1e-4)


def test_only_the_embedder_whose_network_it_changes_has_a_reader() -> None:
    assert load_reader(EmbedderIdentity("minilm", manifest()["minilm"].version, 384)) is None
    assert load_reader(EmbedderIdentity("bge-small", "another version", 384)) is None


@needs_bge_small
def test_what_does_not_say_what_is_asked_for_is_told_from_what_does() -> None:
    """Words and names are the same: the trees cannot tell."""
    reader = load_reader(EmbedderIdentity("bge-small", manifest()["bge-small"].version, 384))
    assert reader is not None
    text = "The depot at Quillon Yard was opened in 1974 and enlarged by 640 m², which cost £186,000."
    said, unsaid = (
        reader.read(question, "Annual report", text)
        for question in (
            "In which year was the depot at Quillon Yard opened?",
            "In which year was the depot at Quillon Yard painted?",
        )
    )
    assert said > unsaid


@needs_bge_small
def test_the_questions_of_the_demo_are_answered_outright(tmp_path: Path) -> None:
    """What a newcomer sees first, with the embedder that is recommended."""
    with trivium.Engine.create(tmp_path / "store", embedder="bge-small") as engine:
        engine.build([pages_folder(), documents_folder()])
        found = {
            question: engine.ask(question)
            for question in (*DEMO_QUESTIONS, *DOCUMENT_QUESTIONS, "How loud is thunder on Venus?")
        }
    *asked, unsaid = found.values()
    assert [answer.outcome for answer in asked] == ["answered"] * len(asked)
    assert all(
        said in answer.text
        for said, answer in zip(("Asaph Hall", "Enceladus", "iron o", "214", "8 mm"), asked, strict=True)
    )
    assert unsaid.outcome == "absent"


@needs_bge_small
def test_without_a_place_for_temporary_files_it_reads_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers may be read-only."""

    def refused(**_: object) -> str:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refused)
    load_reader.cache_clear()
    reader = load_reader(EmbedderIdentity("bge-small", manifest()["bge-small"].version, 384))
    assert reader is not None and np.isfinite(reader.read("Who?", "Mars", "Hall."))
