"""Measures how close embedding on the CPU comes to the hardware limit, and whether other ways of running the model are
faster.

    python benchmarks/embedding_limit.py --store STORE [--texts 40] [--rounds 5] [--questions FILE]
    python benchmarks/embedding_limit.py --store STORE --equal [--questions FILE]

First compares the operations of a forward pass per second, counted from the shapes of the model's weights, with
products of large matrices in the same runtime on one thread. Then compares alternatives with one text per call, in
turns: a ratio is the median of the ratios of the rounds, and a difference is the largest absolute difference between
components of the vectors. Last come calls with texts of equal length, as the embedder makes them of short texts: by
number of tokens, and for all texts of a slice (``--equal``: only these). Times are processor time of the computing
thread, so that other load on the machine hardly matters; with several threads or processes they are wall-clock time.
Requires the package onnx (extra ``dev``).
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

import trivium
from experiments import command
from trivium.embedding.batches import EQUAL_SLICE, equal_lengths, is_batch, padded
from trivium.embedding.manifest import manifest
from trivium.embedding.model_files import locate
from trivium.embedding.onnx_batch_graph import HIDDEN, batch_graph
from trivium.embedding.onnx_float_graph import float_graph
from trivium.graph.records import Passage
from trivium.graph.schema import embedding_text, headings_of
from trivium.graph.stored_vectors import sentence_texts

MODEL = "bge-small"
SLICE = 128
"""Texts that a build embedded between two writes."""
COUNTED = 1024
"""Maximum number of texts of each kind whose tokens are counted; fewer are embedded."""
SIDE = 1024
"""Rows and columns of the matrices whose product is the reference."""

Ids = Sequence[Sequence[int]]
Vectors = NDArray[np.float64]


class Shape(NamedTuple):
    """What a model computes: parameters of matrix products, number of attention layers, and their width."""

    weights: int
    layers: int
    width: int

    def operations(self, tokens: int) -> float:
        """Return the floating-point operations of one forward pass; a multiply-add counts as two."""
        return 2.0 * tokens * self.weights + 4.0 * self.layers * self.width * tokens * tokens


def session(model: Any, threads: int = 1, level: str = "ORT_ENABLE_ALL", **options: bool) -> Any:
    """Create an ONNX session with the options of the embedder."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    for name, value in options.items():
        if hasattr(settings, name):
            setattr(settings, name, value)
        else:
            settings.add_session_config_entry(name.replace("__", "."), str(int(value)))
    return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def run(model: Any, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Any:
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    return model.run(["last_hidden_state"], inputs)[0]


def unit(rows: Any) -> Vectors:
    vectors: Vectors = np.asarray(rows, np.float64)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def one_by_one(model: Any, rows: Ids) -> Vectors:
    return unit([run(model, *padded([row]))[0, 0] for row in rows])


def to_multiples(model: Any, rows: Ids, multiple: int) -> Vectors:
    """Run the model on rows padded to a multiple of tokens, so that few distinct shapes occur."""
    found = []
    for row in rows:
        ids, mask = padded([row, [0] * (-(-len(row) // multiple) * multiple)])
        found.append(run(model, ids[:1], mask[:1])[0, 0])
    return unit(found)


def in_batches(model: Any, rows: Ids, size: int, by_length: bool) -> Vectors:
    order = sorted(range(len(rows)), key=lambda place: len(rows[place])) if by_length else range(len(rows))
    found = np.empty((len(rows), 384))
    places = iter(order)
    while group := list(islice(places, size)):
        found[group] = run(model, *padded([rows[place] for place in group]))[:, 0]
    return unit(found)


def shape_of(path: Path) -> Shape:
    import onnx

    graph = onnx.load(str(path)).graph
    sizes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    products = [sizes[node.input[1]] for node in graph.node if node.op_type == "MatMulInteger"]
    layers = sum(node.op_type == "Softmax" for node in graph.node)
    return Shape(sum(rows * columns for rows, columns in products), layers, products[0][0])


def product_speed(kind: str, rows: int, seconds: float = 1.0) -> float:
    """Return the operations per second of a matrix product in 32-bit floats or 8-bit integers, on one thread."""
    import onnx

    made, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    rng = np.random.default_rng(0)
    if kind == "float":
        left, weights = onnx.TensorProto.FLOAT, rng.standard_normal((SIDE, SIDE)).astype(np.float32)
        given: Any = rng.standard_normal((rows, SIDE)).astype(np.float32)
        node, output = made("MatMul", ["x", "w"], ["y"]), onnx.TensorProto.FLOAT
    else:
        left, weights = onnx.TensorProto.UINT8, rng.integers(-127, 128, (SIDE, SIDE)).astype(np.int8)
        given = rng.integers(0, 256, (rows, SIDE)).astype(np.uint8)
        node, output = made("MatMulInteger", ["x", "w"], ["y"]), onnx.TensorProto.INT32
    graph = onnx.helper.make_graph(
        [node],
        "product",
        [value("x", left, [rows, SIDE])],
        [value("y", output, None)],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    opset = [onnx.helper.make_opsetid("", 13)]
    made_model = session(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString())
    best, begun = 0.0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        used = time.thread_time()
        made_model.run(None, {"x": given})
        best = max(best, 2.0 * rows * SIDE * SIDE / (time.thread_time() - used))
    return best


def bandwidth() -> float:
    """Return the memory bandwidth of one thread, in bytes per second."""
    numbers = np.ones(32 << 20, np.float32)
    speeds = []
    for _ in range(5):
        used = time.thread_time()
        numbers.max()
        speeds.append(numbers.nbytes / (time.thread_time() - used))
    return max(speeds)


def in_equal_batches(model: Any, together: Any, rows: Ids, size: int) -> Vectors:
    """Run short rows of one length in one call, others one by one, as the embedder does in slices of ``size`` texts."""
    found = np.empty((len(rows), 384))
    for at in range(0, len(rows), size):
        own = rows[at : at + size]
        for group in equal_lengths(map(len, own)):
            some = [own[place] for place in group]
            places = [at + place for place in group]
            found[places] = equal_batch(together, some) if is_batch(some) else one_by_one(model, some)
    return found


def equal_batch(together: Any, rows: Ids) -> Vectors:
    ids = np.array(rows, np.int64)
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    return unit(together.run([HIDDEN], inputs)[0][0])


def texts_of(store: str, count: int) -> dict[str, list[str]]:
    """Return passages, sentences and names, sampled evenly from a store."""
    with trivium.Engine.open(store) as engine:
        pages = engine.pages()
        graphs = engine.store.page_graphs(pages[:: max(1, len(pages) // (2 * count))])
        passages = [
            Passage(tuple(headings_of(chunk.parent)), chunk.text)
            for graph in graphs
            for chunk in graph.chunks
        ]
    sentences = [text for passage in passages for text in sentence_texts(passage)]
    whole = [embedding_text(passage.headings, passage.text) for passage in passages]
    kinds = {"passages": whole, "sentences": sentences, "names": pages}
    return {kind: texts[:: max(1, len(texts) // count)][:count] for kind, texts in kinds.items()}


def seconds_of(work: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    begun = clock()
    result = work()
    return clock() - begun, result


def best_of(work: Callable[[], Any], rounds: int) -> float:
    """Return the minimum processor time in seconds over the rounds, the least disturbed by other processes."""
    return min(seconds_of(work, time.thread_time)[0] for _ in range(rounds))


def compare(ways: dict[str, Callable[[], Any]], rounds: int, clock: Callable[[], float], now: str) -> None:
    """Print the time of each alternative as a ratio to that of ``now``, and how much its vectors differ."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    vectors = {name: work() for name, work in ways.items()}  # also warms up
    for _ in range(rounds):
        for name, work in ways.items():
            times[name].append(seconds_of(work, clock)[0])
    for name, own in times.items():
        ratio = statistics.median(one / base for one, base in zip(own, times[now], strict=True))
        said = f"  {name:48} {ratio:5.2f}"
        if isinstance(vectors[name], np.ndarray):
            difference = np.abs(vectors[name] - vectors[now]).max()
            cosine = (vectors[name] * vectors[now]).sum(axis=1).min()
            said += f"   greatest difference {difference:.1e}, lowest cosine {cosine:.4f}"
        print(said, flush=True)


def several(pool: Any, work: Callable[[Ids], Any], rows: Ids) -> None:
    """Run two workers, each on half of the texts."""
    list(pool.map(work, [rows[::2], rows[1::2]]))


_OWN: list[Any] = []


def in_own_process(rows: Ids) -> None:
    if not _OWN:
        _OWN.append(session(str(locate(MODEL).model)))
    one_by_one(_OWN[0], rows)


def show_limit(kinds: dict[str, Ids], now: Any, shape: Shape, rounds: int) -> None:
    peaks = {
        (kind, rows): product_speed(kind, rows) for kind in ("float", "int8") for rows in (SIDE, 128, 16)
    }
    reading = bandwidth()
    for (kind, rows), speed in peaks.items():
        print(
            f"product of {rows} x {SIDE} x {SIDE}, {kind}: {speed / 1e9:.0f} billion operations a second and core"
        )
    print(
        f"memory: {reading / 1e9:.1f} GB/s a core; the {shape.weights / 1e6:.1f} MB of weights are read in"
        f" {1000 * shape.weights / reading:.2f} ms where no cache has them",
        flush=True,
    )
    for kind, rows in kinds.items():
        lengths = [len(row) for row in rows]
        used = sum(best_of(partial(one_by_one, now, [row]), rounds) for row in rows)
        speed = sum(map(shape.operations, lengths)) / used
        print(
            f"{kind}: {statistics.mean(lengths):.0f} tokens, {1000 * used / len(rows):.2f} ms,"
            f" {speed / 1e9:.0f} billion operations a second: {speed / peaks['int8', SIDE]:.0%} of 8-bit products,"
            f" {speed / peaks['float', SIDE]:.0%} of 32-bit ones"
        )


def show_padding(kinds: dict[str, Ids]) -> None:
    """Print how many tokens are computed per token of the texts, in slices as in a build."""
    for kind, rows in kinds.items():
        lengths = [len(row) for row in rows]
        said = []
        for size, by_length in ((8, False), (8, True), (32, True)):
            computed = 0
            for at in range(0, len(lengths), SLICE):
                own = lengths[at : at + SLICE]
                own = sorted(own) if by_length else own
                groups = [own[first : first + size] for first in range(0, len(own), size)]
                computed += sum(len(group) * max(group) for group in groups)
            said.append(f"batches of {size}{' by length' * by_length} {computed / sum(lengths):.2f}")
        print(f"{kind}: tokens computed for one asked: today 1, {', '.join(said)}")


def show_time_by_length(now: Any, shape: Shape, rounds: int) -> None:
    print("one pass by its number of tokens:")
    for tokens in (3, 8, 16, 32, 64, 128, 256, 512):
        row = np.random.default_rng(tokens).integers(1000, 20000, tokens).tolist()
        used = best_of(partial(one_by_one, now, [row]), 5 * rounds)
        print(
            f"  {tokens:4} tokens {1000 * used:6.2f} ms, {shape.operations(tokens) / used / 1e9:4.0f} billion a second"
        )


def show_equal_lengths(kinds: dict[str, Ids], now: Any, path: Path, rounds: int) -> None:
    rewritten = batch_graph(path.read_bytes())
    together = session(rewritten, enable_mem_reuse=False, enable_mem_pattern=False)
    print("texts of equal length in one call, times as fast as one by one:")
    for tokens in (3, 6, 12, 20, 33, 48):
        rows = np.random.default_rng(tokens).integers(1000, 20000, (32, tokens)).tolist()
        said = []
        for size in (2, 3, 4, 8, 16, 32):
            groups = [rows[at : at + size] for at in range(0, 32 // size * size, size)]
            pairs = []
            for _ in range(3 * rounds):
                alone, one = seconds_of(partial(one_by_one, now, rows[: 32 // size * size]), time.thread_time)
                batched, several = seconds_of(
                    lambda groups=groups: np.concatenate([equal_batch(together, own) for own in groups]),
                    time.thread_time,
                )
                pairs.append(alone / batched)
            said.append(
                f"{size} {statistics.median(pairs):.2f}{'' if np.array_equal(one, several) else ' (differ)'}"
            )
        print(f"  {tokens:3} tokens: in calls of {', '.join(said)}", flush=True)
    for kind, all_rows in kinds.items():
        rows = all_rows[:EQUAL_SLICE]
        print(f"{kind}, {len(rows)} texts, {statistics.mean(map(len, rows)):.0f} tokens:")
        ways: dict[str, Callable[[], Any]] = {"one by one": partial(one_by_one, now, rows)}
        for size in (32, SLICE, EQUAL_SLICE):
            ways[f"equal lengths in slices of {size}"] = partial(in_equal_batches, now, together, rows, size)
        compare(ways, rounds, time.thread_time, "one by one")


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="minutes", packages=("onnx",))
    parser.add_argument("--store", type=command.store, required=True, help="store to take texts from")
    parser.add_argument("--texts", type=int, default=40, help="number of texts of each kind")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--questions", type=command.existing, help="also texts of the field `question` of this file"
    )
    parser.add_argument("--equal", action="store_true", help="only compare calls with texts of equal length")
    given = parser.parse_args()
    path = locate(MODEL).model
    tokenizer = Tokenizer.from_file(str(locate(MODEL).tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(manifest()[MODEL].max_tokens)
    texts = texts_of(given.store, COUNTED)
    if given.questions:
        lines = given.questions.read_text("utf-8").splitlines()[:COUNTED]
        texts["questions"] = [manifest()[MODEL].query_prefix + json.loads(line)["question"] for line in lines]
    counted = {kind: [tokenizer.encode(text).ids for text in own] for kind, own in texts.items()}
    if given.equal:
        show_equal_lengths(counted, session(str(path)), path, given.rounds)
        return
    show_padding(counted)
    kinds = {kind: rows[:: max(1, len(rows) // given.texts)][: given.texts] for kind, rows in counted.items()}
    shape, now = shape_of(path), session(str(path))
    show_limit(kinds, now, shape, 3 * given.rounds)
    show_time_by_length(now, shape, given.rounds)

    plain = session(float_graph(path, manifest()[MODEL].pooling))
    others = {
        "graph optimised: basic": session(str(path), level="ORT_ENABLE_BASIC"),
        "graph optimised: extended": session(str(path), level="ORT_ENABLE_EXTENDED"),
        "without memory patterns": session(str(path), enable_mem_pattern=False),
        "denormal numbers as zero": session(str(path), session__set_denormal_as_zero=True),
        "32-bit products of the same numbers": plain,
    }
    for kind, rows in kinds.items():
        print(f"{kind}, ratio of processor time to one unpadded text a call:")
        ways = {"now": partial(one_by_one, now, rows)}
        ways |= {name: partial(one_by_one, other, rows) for name, other in others.items()}
        ways |= {f"padded to multiples of {n}": partial(to_multiples, now, rows, n) for n in (16, 64)}
        ways |= {f"batches of {n}, by length": partial(in_batches, now, rows, n, True) for n in (8, 32)}
        ways["batches of 8, as they come"] = partial(in_batches, now, rows, 8, False)
        ways["batches of 8, by length, 32-bit products"] = partial(in_batches, plain, rows, 8, True)
        compare(ways, given.rounds, time.thread_time, "now")
    show_equal_lengths(counted, now, path, given.rounds)

    rows = kinds["passages"]
    inner = session(str(path), threads=2)
    with (
        ThreadPoolExecutor(2) as threads,
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes,
    ):
        print("passages on two cores, ratio by the clock to two threads over one model:")
        ways = {
            "two threads, one text each": partial(several, threads, partial(one_by_one, now), rows),
            "two processes": partial(several, processes, in_own_process, rows),
            "one text at a time, two threads inside": lambda: one_by_one(inner, rows) is None,
            "one thread": lambda: one_by_one(now, rows) is None,
        }
        compare(ways, given.rounds, time.perf_counter, "two threads, one text each")


if __name__ == "__main__":
    command.run(main)
