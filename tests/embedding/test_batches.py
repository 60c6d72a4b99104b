"""Texts of one length in a call have the bits they have one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trivium.common.onnx_file import array_of, node, parse_model, tensor
from trivium.embedding import batch_session
from trivium.embedding import onnx as onnx_module
from trivium.embedding.batch_session import open_batch_session
from trivium.embedding.batches import FEWEST, MOST, SHORT, equal_lengths, is_batch
from trivium.embedding.embedder import Vectors
from trivium.embedding.model_files import installed, locate
from trivium.embedding.onnx import OnnxEmbedder
from trivium.embedding.onnx_batch_graph import HIDDEN, batch_graph

WIDTH, HEADS, TOKENS = 8, 2, 50
NAMES = ["Mars", "Phobos", "Deimos", "Io", "Europa", "Ganymede", "Callisto", "Rhea", "Titan", "Dione"]
TEXTS = [
    "",
    *NAMES,
    *(f"{name} (moon)" for name in NAMES),
    *(f"When was {name} discovered, and by whom was it named?" for name in NAMES),
    *(
        f"{name} orbits its planet in the plane of the equator, {number} km away."
        for number, name in enumerate(NAMES)
    ),
    "土星有光环。",
    "\ud800 \x00 \u202e",
    "x" * 5000,
    "a b " * 400,
    "a " * (SHORT - 2),
    "a " * (SHORT - 1),
]


def _attention_model(path: Path, *, zero: int = 0, opset: int = 11, largest: int = 60) -> None:
    """One layer of attention with 8-bit products, of random weights, in the form of the published models."""
    onnx = pytest.importorskip("onnx")
    make, rng = onnx.helper.make_node, np.random.default_rng(5)
    floats = onnx.TensorProto.FLOAT
    nodes, weights = (
        [make("Gather", ["table", "input_ids"], ["x"])],
        {
            "table": rng.standard_normal((TOKENS, WIDTH)).astype(np.float32)
            * rng.uniform(0.1, 5, (TOKENS, 1)).astype("f"),
            "zero": np.array(zero, np.int8),
            "heads": np.array([0, 0, HEADS, WIDTH // HEADS], np.int64),
            "flat": np.array([0, 0, WIDTH], np.int64),
        },
    )

    def quantise(name: str) -> None:
        nodes.append(make("DynamicQuantizeLinear", [name], [f"{name}_q", f"{name}_scale", f"{name}_zero"]))

    def product(name: str, given: str) -> str:
        weights[f"{name}_w"] = rng.integers(-largest, largest + 1, (WIDTH, WIDTH)).astype(np.int8)
        weights[f"{name}_s"] = rng.uniform(0.01, 0.02, WIDTH).astype(np.float32)
        weights[f"{name}_b"] = rng.standard_normal(WIDTH).astype(np.float32)
        nodes.extend(
            [
                make(
                    "MatMulInteger", [f"{given}_q", f"{name}_w", f"{given}_zero", "zero"], [f"{name}_whole"]
                ),
                make("Cast", [f"{name}_whole"], [f"{name}_float"], to=floats),
                make("Mul", [f"{given}_scale", f"{name}_s"], [f"{name}_scale"]),
                make("Mul", [f"{name}_float", f"{name}_scale"], [f"{name}_scaled"]),
                make("Add", [f"{name}_scaled", f"{name}_b"], [name]),
            ]
        )
        return name

    quantise("x")
    for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        nodes.append(make("Reshape", [product(name, "x"), "heads"], [f"{name}_split"]))
        nodes.append(make("Transpose", [f"{name}_split"], [f"{name}_heads"], perm=order))
    nodes += [
        make("MatMul", ["query_heads", "key_heads"], ["scores"]),
        make("Softmax", ["scores"], ["shares"], axis=3),
        make("MatMul", ["shares", "value_heads"], ["mixed"]),
        make("Transpose", ["mixed"], ["mixed_tokens"], perm=[0, 2, 1, 3]),
        make("Reshape", ["mixed_tokens", "flat"], ["context"]),
        make("Add", ["context", "x"], ["sum"]),
    ]
    quantise("sum")
    product("last_hidden_state", "sum")
    graph = onnx.helper.make_graph(
        nodes,
        "attention",
        [onnx.helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["n", "tokens"])],
        [onnx.helper.make_tensor_value_info("last_hidden_state", floats, ["n", "tokens", WIDTH])],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    opsets = [onnx.helper.make_opsetid("", opset)]
    path.write_bytes(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=7).SerializeToString())


def _run(model: bytes | str, output: str, rows: Any) -> Any:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run([output], {"input_ids": np.array(rows, np.int64)})[0]


@pytest.mark.parametrize("tokens", [1, 2, 3, 7, 20])
def test_a_text_keeps_its_bits_beside_others_of_its_length(tmp_path: Path, tokens: int) -> None:
    """In the model itself, its neighbours change them."""
    path = tmp_path / "model.onnx"
    _attention_model(path)
    rewritten = batch_graph(path.read_bytes())
    assert rewritten is not None
    rows = np.random.default_rng(tokens).integers(0, TOKENS, (6, tokens))
    alone = np.concatenate([_run(str(path), "last_hidden_state", [row]) for row in rows])
    together = _run(rewritten, HIDDEN, rows)
    assert together.shape == (tokens, 6, WIDTH)
    assert np.array_equal(together.swapaxes(0, 1), alone)
    assert not np.array_equal(_run(str(path), "last_hidden_state", rows), alone)


def test_a_text_of_zeros_has_a_range(tmp_path: Path) -> None:
    """Its step would be 0, and its vector not a number."""
    path = tmp_path / "model.onnx"
    _attention_model(path)
    loaded = parse_model(path.read_bytes())
    (table,) = [known for known in loaded.graph.initializer if known.name == "table"]
    table.CopyFrom(tensor("table", np.vstack([array_of(table)[:-1], np.zeros((1, WIDTH), np.float32)])))
    path.write_bytes(loaded.SerializeToString())
    rewritten = batch_graph(path.read_bytes())
    assert rewritten is not None
    rows = [[TOKENS - 1] * 2, [1, 2]]
    alone = np.concatenate([_run(str(path), "last_hidden_state", [row]) for row in rows])
    assert np.array_equal(_run(rewritten, HIDDEN, rows).swapaxes(0, 1), alone)


@pytest.mark.parametrize("unlike", [{"zero": 3}, {"opset": 18}])
def test_a_model_of_another_form_is_left_alone(tmp_path: Path, unlike: dict[str, int]) -> None:
    """Weights with a zero of their own, and later sets of operators."""
    _attention_model(tmp_path / "model.onnx", **unlike)
    assert batch_graph((tmp_path / "model.onnx").read_bytes()) is None


def test_sums_that_32_bits_might_round_are_left_alone(tmp_path: Path) -> None:
    """255 times the weights of a column must be below 2^24: 519 weights of 127 are too many."""
    for rows, rewritten in ((518, True), (519, False)):
        _attention_model(tmp_path / "model.onnx")
        loaded = parse_model((tmp_path / "model.onnx").read_bytes())
        (weights,) = [known for known in loaded.graph.initializer if known.name == "last_hidden_state_w"]
        weights.CopyFrom(tensor(weights.name, np.full((rows, WIDTH), 127, np.int8)))
        assert (batch_graph(loaded.SerializeToString()) is not None) == rewritten


def test_a_model_without_quantised_activations_is_left_alone() -> None:
    assert batch_graph(locate("minilm").model.read_bytes()) is None


def test_the_parts_of_a_file_that_are_not_declared_stay(tmp_path: Path) -> None:
    """Producers, inputs, attributes of other types."""
    onnx = pytest.importorskip("onnx")
    _attention_model(tmp_path / "model.onnx")
    file = (tmp_path / "model.onnx").read_bytes()
    loaded = parse_model(file)
    loaded.graph.node.append(node("Cast", ["scores"], ["unused"], to=7))
    again, before = onnx.load_from_string(loaded.SerializeToString()), onnx.load_from_string(file)
    assert list(again.graph.input) == list(before.graph.input) and again.ir_version == before.ir_version
    assert list(again.graph.node[:-1]) == list(before.graph.node)
    assert onnx.helper.get_node_attr_value(again.graph.node[-1], "to") == 7
    with pytest.raises(ValueError, match="got type 16"):
        array_of(SimpleNamespace(data_type=16))


@given(st.lists(st.none() | st.integers(2, SHORT + 20), max_size=120))
def test_each_text_is_in_one_group(lengths: list[int | None]) -> None:
    """Of one length, or of at most eight; no more texts than needed are left out of batches."""
    groups = list(equal_lengths(lengths))
    assert sorted(place for group in groups for place in group) == list(range(len(lengths)))
    rows = [None if length is None else [0] * length for length in lengths]
    batched = [group for group in groups if is_batch([rows[place] for place in group])]
    assert all(len(group) <= 8 for group in groups if group not in batched)
    together = Counter(lengths[place] for group in batched for place in group)
    for length, count in Counter(lengths).items():
        left = count - together[length]
        assert left < FEWEST if length is not None and length <= SHORT else left == count


class _Session:
    """In place of onnxruntime's."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.given = given


@pytest.mark.parametrize(("off", "used"), [(0.0, True), (1e-7, False)])
def test_batches_that_change_a_vector_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off: float, used: bool
) -> None:
    """As another processor or version of onnxruntime may do."""
    monkeypatch.setattr(batch_session, "batch_graph", lambda model: model)
    (tmp_path / "model.onnx").write_bytes(b"")

    def alone(row: Sequence[int]) -> Any:
        return np.array([row], np.float32)[:, :, None]

    def together(session: _Session, rows: Any) -> Any:
        return np.array(rows, np.float64).T[:, :, None] * (1 + off) if len(rows[0]) == 20 else _exact(rows)

    def _exact(rows: Any) -> Any:
        return np.array(rows, np.float32).T[:, :, None]

    fake = SimpleNamespace(InferenceSession=_Session)
    opened = open_batch_session(fake, SimpleNamespace(), tmp_path / "model.onnx", range(60), alone, together)
    assert (opened is not None) == used


def test_a_model_that_onnxruntime_refuses_is_run_one_text_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_session, "batch_graph", lambda model: b"no model")
    (tmp_path / "model.onnx").write_bytes(b"")
    options = onnxruntime.SessionOptions()
    file = tmp_path / "model.onnx"
    assert (
        open_batch_session(onnxruntime, options, file, range(60), lambda row: None, lambda *given: None)
        is None
    )


@pytest.fixture(scope="module")
def one_by_one() -> dict[str, Vectors]:
    embedder = OnnxEmbedder("bge-small")
    return {text: embedder.embed([text])[0] for text in TEXTS}


@pytest.fixture(scope="module")
def bge_small() -> Iterator[OnnxEmbedder]:
    """With its session for batches loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx_module, "_WORTHWHILE", 1)
        embedder = OnnxEmbedder("bge-small", workers=2)
        embedder.embed(["x"])
        assert embedder._batches not in ("untried", None)
        yield embedder
        embedder.close()


needs_bge_small = pytest.mark.skipif(not installed("bge-small"), reason="bge-small is not installed")


@needs_bge_small
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.sampled_from(TEXTS), max_size=60))
def test_bits_do_not_depend_on_what_is_embedded_together(
    bge_small: OnnxEmbedder, one_by_one: dict[str, Vectors], order: list[str]
) -> None:
    """Any texts in any order: short and long ones, the empty one, cut ones, hostile ones."""
    found = bge_small.embed(order)
    assert np.array_equal(found, np.array([one_by_one[text] for text in order]).reshape(-1, 384))


@needs_bge_small
@pytest.mark.parametrize("workers", [1, 3])
def test_batches_are_used_and_change_nothing(
    bge_small: OnnxEmbedder, one_by_one: dict[str, Vectors], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """All texts at once, with any number of workers. Progress counts each text."""
    sizes: list[int] = []
    run = bge_small._run_batch

    def noted(session: Any, rows: Any) -> Any:
        sizes.append(len(rows))
        return run(session, rows)

    monkeypatch.setattr(bge_small, "_run_batch", noted)
    monkeypatch.setattr(bge_small, "_workers", workers)
    steps: list[int] = []
    assert np.array_equal(
        bge_small.embed(TEXTS, steps.append), np.array([one_by_one[text] for text in TEXTS])
    )
    assert sum(steps) == len(TEXTS)
    assert sum(sizes) > len(TEXTS) // 3 and FEWEST <= min(sizes) <= MOST


@needs_bge_small
def test_questions_together_have_the_bits_of_each(bge_small: OnnxEmbedder) -> None:
    questions = [f"Who discovered {name}?" for name in NAMES]
    each = np.array([bge_small.embed_query(question) for question in questions])
    assert np.array_equal(bge_small.embed_queries(questions), each)


@needs_bge_small
def test_an_interrupt_ends_a_call_with_batches(bge_small: OnnxEmbedder) -> None:
    """The rest is abandoned, and the embedder stays usable."""

    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bge_small.embed([f"Moon {number}" for number in range(400)], interrupt)
    assert bge_small.embed(["Moon 1"]).shape == (1, 384)


@needs_bge_small
def test_the_second_session_is_loaded_for_many_short_texts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted over all calls; closing begins anew."""
    monkeypatch.setattr(onnx_module, "_WORTHWHILE", 4)
    opened: list[int] = []
    monkeypatch.setattr(OnnxEmbedder, "_open_batch_session", lambda self: opened.append(1))
    embedder = OnnxEmbedder("bge-small", workers=1)
    for texts in (["a", "b"], ["x " * 500] * 9, ["c"]):
        embedder.embed(texts)
    assert not opened
    embedder.embed_queries(["d"])
    embedder.embed(["e", "f", "g", "h"])
    assert len(opened) == 1
    embedder.close()
    embedder.embed(["i", "j", "k"])
    assert len(opened) == 1


@pytest.mark.parametrize("name", ["minilm", "bge-small"])
def test_pooling_gives_the_same_bits_for_one_and_for_many(name: str) -> None:
    """The mean of all tokens, and the first one."""
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    embedder = OnnxEmbedder(name)
    hidden = np.random.default_rng(1).standard_normal((9, 12, 384)).astype(np.float32)
    each = [embedder._pooled(hidden[:, text][None], 1)[0] for text in range(12)]
    assert np.array_equal(embedder._pooled(hidden, 0), np.array(each))
