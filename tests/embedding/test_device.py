"""Where models are run. There is no graphics card here: what is computed for one is computed by the processor, through
the same code, and what onnxruntime says without one is what it says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.embedding.test_onnx import TEXTS
from tests.fakes.openai_server import OpenAIServer
from trivium.cli.app import app
from trivium.embedding.batches import BATCH_TOKENS, batches, embed_batches
from trivium.embedding.device import CPU, Device, check_taken, parse_device
from trivium.embedding.late_chunking import WholeText
from trivium.embedding.manifest import manifest
from trivium.embedding.model_files import installed, locate
from trivium.embedding.onnx import OnnxEmbedder
from trivium.embedding.onnx_float_graph import POOLED, float_graph
from trivium.embedding.registry import open_embedder
from trivium.engine import Engine
from trivium.errors import ConfigurationError, EmbeddingError, MissingExtraError
from trivium.settings.settings import Settings, load_settings
from trivium.testing import HashEmbedder

CARD = Device("cuda:0", CPU.provider, batched=True)
"""What is done for a card, by the processor."""


@pytest.mark.parametrize(
    ("name", "providers"),
    [
        ("cpu", ["CPUExecutionProvider"]),
        ("cuda", [("CUDAExecutionProvider", {"device_id": "0", "use_tf32": "0"}), "CPUExecutionProvider"]),
        ("cuda:3", [("CUDAExecutionProvider", {"device_id": "3", "use_tf32": "0"}), "CPUExecutionProvider"]),
    ],
)
def test_a_device_is_a_provider_of_onnxruntime_with_its_options(name: str, providers: list[Any]) -> None:
    """As an InferenceSession takes them."""
    assert parse_device(name).providers == providers


@pytest.mark.parametrize(
    "name", ["", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:0 ", "cuda:1\n", "cpu:0"]
)
def test_an_unknown_device_is_refused_with_the_known_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an argument and as a setting."""
    with pytest.raises(ConfigurationError, match=r"cpu, cuda, or cuda:N .* got "):
        parse_device(name)
    if name:  # an empty variable counts as none
        monkeypatch.setenv("TRIVIUM_DEVICE", name)
        with pytest.raises(ConfigurationError, match="device"):
            load_settings()


def test_the_processor_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never whatever onnxruntime takes by itself, which is a card where there is one."""
    asked = []
    real = onnxruntime.InferenceSession

    def session(*args: Any, **options: Any) -> Any:
        asked.append(options["providers"])
        return real(*args, **options)

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    open_embedder("minilm", device="cpu").embed_query("x")
    assert asked == [["CPUExecutionProvider"]]


def test_a_missing_provider_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both steps: the packages for the processor and for cards are one folder."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    for name in ("minilm", "fastembed:sentence-transformers/all-MiniLM-L6-v2"):
        with pytest.raises(MissingExtraError) as refused:
            open_embedder(name, device="cuda:1")
        assert "cuda:1 needs packages" in str(refused.value)
        assert (
            "pip install 'trivium[cuda]' && pip install --force-reinstall --no-deps onnxruntime-gpu"
            in str(refused.value)
        )


def test_a_card_that_is_not_there_is_an_error_and_not_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime-gpu without a card gives a session on the processor, and logs it."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    real = onnxruntime.InferenceSession

    def session(model: Any, options: Any, *, providers: Any, enable_fallback: int) -> Any:
        assert providers[0] == ("CUDAExecutionProvider", {"device_id": "0", "use_tf32": "0"})
        assert enable_fallback == 0
        return real(model, options, providers=providers[1:])

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    with pytest.raises(EmbeddingError, match=r"cannot use cuda:0: it needs an NVIDIA card .* driver .* CUDA"):
        open_embedder("minilm", device="cuda").embed_query("x")
    library = SimpleNamespace(__version__="1.31.1", cuda_version="13.0")
    check_taken(library, parse_device("cuda"), ["CUDAExecutionProvider", "CPUExecutionProvider"])
    with pytest.raises(EmbeddingError, match=r"onnxruntime 1\.31\.1 .* CUDA 13\.0 and cuDNN 9"):
        check_taken(library, parse_device("cuda"), ["CPUExecutionProvider"])


def test_a_refusal_of_cuda_is_not_blamed_on_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """With CUDA's libraries and no card, onnxruntime 1.31 raises this; an unreadable model is another error."""
    said = ["CUDA failure 100: no CUDA-capable device is detected ; GPU=-1", "the protobuf is damaged"]

    def session(*_: Any, **__: Any) -> Any:
        raise RuntimeError(said.pop(0))

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    monkeypatch.setattr(onnxruntime, "set_default_logger_severity", lambda _: None)
    for message in ("cannot use cuda:0: it needs an NVIDIA card", "cannot load .* damaged"):
        with pytest.raises(EmbeddingError, match=message):
            OnnxEmbedder("minilm", device=CARD).embed_query("x")


def test_without_onnx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """It rewrites models for cards."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[cuda\]'"):
        OnnxEmbedder("minilm", device=CARD).embed_query("x")


@pytest.mark.parametrize("name", [pytest.param("bge-small", marks=pytest.mark.slow), "minilm"])
def test_vectors_of_a_card_are_those_of_the_processor(name: str) -> None:
    """Batched, padded and rewritten for a card: the same identity, the same vectors, of questions and of spans too."""
    if not installed(name, load_settings().home):
        pytest.skip(f"{name} is not installed")
    here, there = OnnxEmbedder(name), OnnxEmbedder(name, device=CARD)
    assert here.identity == there.identity
    done: list[int] = []
    vectors = there.embed(TEXTS, done.append)
    assert vectors == pytest.approx(here.embed(TEXTS), abs=1e-5)
    assert sum(done) == len(set(TEXTS))
    some = TEXTS[:6]  # in other company
    assert there.embed(some[::-1]) == pytest.approx(vectors[: len(some)][::-1], abs=1e-5)
    assert there.embed([]).shape == (0, 384)
    assert (here.texts_at_once, there.texts_at_once) == (512 if name == "bge-small" else 128, 4096)
    assert there.embed_query("moons") == pytest.approx(here.embed_query("moons"), abs=1e-5)
    whole = [WholeText("Mars", "It has two moons. They are small.", ((0, 17), (18, 33)))]
    assert there.embed_spans(whole)[0] == pytest.approx(here.embed_spans(whole)[0], abs=1e-5)
    assert (here.gpus, there.gpus) == (0, 1)


def _quantised_model(path: Path) -> None:
    """Tokens 0 to 3 with two numbers each, times two columns of whole numbers less their zeros, with scales."""
    onnx = pytest.importorskip("onnx")
    node, tensor = onnx.helper.make_node, onnx.numpy_helper.from_array
    given = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["n", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    graph = onnx.helper.make_graph(
        [
            node("Gather", ["table", "input_ids"], ["x"]),
            node("DynamicQuantizeLinear", ["x"], ["x_q", "x_scale", "x_zero"]),
            node("Mul", ["x_scale", "w_scale"], ["scale"]),
            node("MatMulInteger", ["x_q", "w", "x_zero", "w_zero"], ["whole"]),
            node("Cast", ["whole"], ["product"], to=onnx.TensorProto.FLOAT),
            node("Mul", ["product", "scale"], ["last_hidden_state"]),
        ],
        "quantised",
        given,
        [onnx.helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, None)],
        [
            tensor(np.array([[0, 0], [1, -2], [0.3, 3.1], [40, 80]], np.float32), "table"),
            tensor(np.array([[7, -3], [2, 120]], np.int8), "w"),
            tensor(np.array([1, -1], np.int8), "w_zero"),
            tensor(np.array([0.5, 0.25], np.float32), "w_scale"),
        ],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 11)], ir_version=6)
    path.write_bytes(model.SerializeToString())


def _run(model: Any, output: str, rows: list[list[int]]) -> Any:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}
    names = {known.name for known in session.get_inputs()}
    return session.run([output], {name: inputs[name] for name in names})[0]


def test_a_text_keeps_its_own_range_in_a_batch(tmp_path: Path) -> None:
    """By hand for tokens 1 and 2: from -2 to 3.1 are 255 steps of .02, 0 is step 100; 50, -100, 15 and 155 steps, times
    6, -2; 1, 121 and the scales. A neighbour with greater numbers, which the quantised model would mix in, and padding
    change nothing."""
    _quantised_model(tmp_path / "model.onnx")
    rewritten = float_graph(tmp_path / "model.onnx", "cls")
    by_hand = [
        [(50 * 6 + -100 * 1) * 0.01, (50 * -2 + -100 * 121) * 0.005],
        [(15 * 6 + 155 * 1) * 0.01, (15 * -2 + 155 * 121) * 0.005],
    ]
    alone = _run(rewritten, "last_hidden_state", [[1, 2]])
    assert alone[0] == pytest.approx(np.array(by_hand), rel=1e-5)
    assert np.array_equal(alone, _run(str(tmp_path / "model.onnx"), "last_hidden_state", [[1, 2]]))
    beside = [[1, 2], [3, 3, 2]]
    assert np.array_equal(_run(rewritten, "last_hidden_state", beside)[0, :2], alone[0])
    mixed = _run(str(tmp_path / "model.onnx"), "last_hidden_state", beside)[0, :2]
    assert not np.allclose(mixed, alone[0], rtol=1e-2)


def test_pooling_leaves_out_padding(tmp_path: Path) -> None:
    """The first token's vector, or the sum of all, one a text."""
    _quantised_model(tmp_path / "model.onnx")
    rows = [[1, 2], [3, 3, 2]]
    hidden = _run(float_graph(tmp_path / "model.onnx", "cls"), "last_hidden_state", rows)
    first = _run(float_graph(tmp_path / "model.onnx", "cls"), POOLED, rows)
    total = _run(float_graph(tmp_path / "model.onnx", "mean"), POOLED, rows)
    assert np.array_equal(first, hidden[:, 0])
    assert total[0] == pytest.approx(hidden[0, :2].sum(axis=0), rel=1e-5)
    assert total[1] == pytest.approx(hidden[1].sum(axis=0), rel=1e-5)


def test_a_rewritten_model_asks_the_processor_for_nothing_quantised() -> None:
    """No operator is left that onnxruntime lacks for CUDA."""
    onnx = pytest.importorskip("onnx")
    for name, spec in manifest().items():
        if installed(name, load_settings().home):
            rewritten = onnx.load_from_string(float_graph(locate(name).model, spec.pooling))
            left = {node.op_type for node in rewritten.graph.node}
            assert not left & {"DynamicQuantizeLinear", "MatMulInteger", "DynamicQuantizeMatMul"}


@given(st.lists(st.integers(1, 600), max_size=80), st.integers(600, 4000))
def test_batches_hold_each_text_once_within_their_tokens(lengths: list[int], tokens: int) -> None:
    """And are of like length: none holds a text that is shorter than one of a later batch."""
    groups = list(batches(lengths, tokens))
    assert sorted(place for group in groups for place in group) == list(range(len(lengths)))
    assert all(len(group) * max(lengths[place] for place in group) <= tokens for group in groups)
    ordered = [lengths[place] for group in groups for place in group]
    assert ordered == sorted(lengths, reverse=True)


def test_batches_come_back_in_the_order_of_the_texts() -> None:
    """What is embedded is padded with a mask."""
    seen = []

    def embed(ids: Any, mask: Any) -> Any:
        seen.append(mask.sum(axis=1).tolist())
        return np.stack([(ids * mask).sum(axis=1), mask.sum(axis=1)], axis=1).astype(np.float32)

    rows = [[5], [1, 2, 3], [4] * BATCH_TOKENS]
    assert embed_batches(embed, rows, 2).tolist() == [[5, 1], [6, 3], [4 * BATCH_TOKENS, BATCH_TOKENS]]
    assert seen == [[BATCH_TOKENS], [3, 1]]


def test_a_store_takes_any_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the processor filled is searched by a card, and the other way round: the identity is the embedder's."""
    monkeypatch.setattr(
        "trivium.embedding.registry.parse_device", lambda name: CARD if "cuda" in name else CPU
    )
    (tmp_path / "moons.md").write_text(
        "# Moons\n\nPhobos is a moon of Mars.\n\nEuropa is a moon of Jupiter.\n"
    )
    found = {}
    for filled in ("cpu", "cuda:0"):
        with Engine.create(tmp_path / filled.replace(":", ""), "minilm", device=filled) as engine:
            engine.build([tmp_path / "moons.md"])
        for asked in ("cpu", "cuda:0"):
            with Engine.open(tmp_path / filled.replace(":", ""), device=asked) as engine:
                assert repr(engine.embedder) == "OnnxEmbedder('minilm')"
                hits = engine.search("a moon of Mars", k=2, retrievers=["vector"])
                found[filled, asked] = [(hit.uri, round(hit.score, 4)) for hit in hits]
                assert not engine.check(full=True).findings
    assert len(found) == 4 and len({str(hits) for hits in found.values()}) == 1


def test_a_device_is_for_embedders_that_run_here(tmp_path: Path) -> None:
    """A service chooses by itself, and so does an embedder of one's own; the setting does not concern them."""
    with OpenAIServer() as server:
        configured = Settings(openai_base_url=server.base_url, device="cuda")
        with pytest.raises(ConfigurationError, match="openai:some-model is computed by its service"):
            open_embedder("openai:some-model", configured, "cuda")
        assert open_embedder("openai:some-model", configured).identity.name == "openai:some-model"
    Engine.create(tmp_path / "store", HashEmbedder()).close()
    with pytest.raises(ConfigurationError, match="has its own"):
        Engine.open(tmp_path / "store", HashEmbedder(), device="cuda")


def test_commands_take_the_device_of_the_settings(tmp_path: Path) -> None:
    """One that cannot be had fails before a store is made."""
    (tmp_path / "moons.md").write_text("# Moons\n\nPhobos is a moon of Mars.\n")
    store, run = str(tmp_path / "store"), CliRunner()
    build = ["build", str(tmp_path / "moons.md"), "--store", store, "--embedder", "minilm"]
    assert run.invoke(app, build, env={"TRIVIUM_DEVICE": "cuda"}).exit_code == 1
    assert not Path(store).exists()
    assert run.invoke(app, build, env={"TRIVIUM_DEVICE": "cpu"}).exit_code == 0
    found = run.invoke(app, ["search", "moons", "--store", store, "--json"])
    assert found.exit_code == 0 and "Phobos" in found.output


def test_a_server_embeds_on_its_device(tmp_path: Path) -> None:
    """As its settings say, in every process that searches."""
    pytest.importorskip("fastapi")
    from trivium.server.app import create_app
    from trivium.server.settings import ServerSettings

    Engine.create(tmp_path / "store", "minilm").close()
    with pytest.raises(ConfigurationError, match="cpu, cuda, or cuda:N"):
        create_app(str(tmp_path / "store"), ServerSettings(device="gpu"))


def test_a_cluster_embeds_where_the_build_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each machine opens the embedder on the device of the build, and tells what is missing there."""
    from trivium.index.build_parts import Work
    from trivium.index.ray_build import embed_texts_on_node
    from trivium.settings.limits import DEFAULT_LIMITS

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    identity = OnnxEmbedder("minilm").identity
    work = Work(str(Path.cwd()), DEFAULT_LIMITS, "blocks", "minilm", identity, device="cuda")
    with pytest.raises(ConfigurationError, match=r"trivium\[cuda\]"):
        embed_texts_on_node(work, ["a moon"], [])
