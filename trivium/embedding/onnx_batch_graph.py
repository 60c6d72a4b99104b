"""Rewrites a quantised model for several texts of the same number of tokens per call, without a change of their vectors.

The int8 models scale the input of a product by the range of the whole tensor (operator DynamicQuantizeLinear), so a text
would depend on the others of its call. Here each text has its own range. Steps and products of whole numbers are the
same as for the text alone, and the floating-point operations are the same in the same order, so a vector has the same
bits. Equal lengths need no padding, whose zeros would count in a range.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from trivium.common.onnx_file import UINT8, array_of, node, opset, parse_model, tensor

HIDDEN = "trivium/hidden"
"""Name of the output: vectors of tokens (tokens, n, d)."""

_ONE, _LEAST, _MOST, _STEPS, _FLAT = (
    f"trivium/{name}" for name in ("one", "at least", "at most", "steps", "flat")
)
_QUANTISED = b"DynamicQuantizeLinear"
_EXTENSIONS = "com.microsoft"
"""Operators that onnxruntime adds."""
_LAST_OPSET = 17
"""In later opsets, reductions take their axes as an input."""
_EXACT = 2**24
"""32-bit floats represent every whole number up to this."""
_TO_HEADS = {(0, 2, 1, 3): [1, 2, 0, 3], (0, 2, 3, 1): [1, 2, 3, 0]}
"""Transpositions of (text, token, head, number), and what they are for (token, text, head, number)."""
_FROM_HEADS = {(0, 2, 1, 3): [2, 0, 1, 3]}
"""The same for (text, head, token, number), which is the same for both."""


def is_candidate(file: Path) -> bool:
    """Whether a model's file may be one that :func:`batch_graph` rewrites."""
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(_QUANTISED) >= 0


def batch_graph(model: bytes) -> bytes | None:
    """Return the model of an ONNX file, rewritten, or None for a model that this cannot rewrite. Callers must check that
    vectors are the same, since only the parts that change are looked at.
    """
    if _QUANTISED not in model:
        return None
    loaded = parse_model(model)
    versions = [entry.version for entry in loaded.opset_import if entry.domain in ("", "ai.onnx")]
    if not versions or max(versions) > _LAST_OPSET:
        return None
    try:
        _Rewriting(loaded.graph).run()
    except _UnsupportedError:
        return None
    if all(entry.domain != _EXTENSIONS for entry in loaded.opset_import):
        loaded.opset_import.append(opset(_EXTENSIONS, 1))
    serialised: bytes = loaded.SerializeToString()
    return serialised


class _UnsupportedError(Exception):
    """The model is not one of those that are rewritten here."""


class _Rewriting:
    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._weights = {known.name: known for known in graph.initializer}
        self._maker = {output: made for made in graph.node for output in made.output}
        self._users: dict[str, list[Any]] = {}
        for user in graph.node:
            for name in user.input:
                self._users.setdefault(name, []).append(user)
        self._quantised: dict[str, str] = {}  # the name of a quantised tensor -> that of its zeros as floats
        self._renamed: dict[str, str] = {}
        self._dropped: set[str] = set()

    def run(self) -> None:
        graph = self._graph
        for name, value in (
            (_ONE, np.float32(1)),
            (_LEAST, np.float32(0)),
            # Keeps the step of a text of zeros from being 0; it changes no other range.
            (_MOST, np.finfo(np.float32).tiny * np.float32(255)),
            (_STEPS, np.float32(255)),
            (_FLAT, np.array([-1], np.int64)),
        ):
            self._constant(name, value)
        nodes = [new for old in graph.node for new in self._replaced(old)]
        if not self._quantised or len(graph.output) != 1:
            raise _UnsupportedError
        nodes.append(node("Identity", [graph.output[0].name], [HIDDEN]))
        used = {name for new in nodes for name in new.input}
        tensors = [known for known in self._weights.values() if known.name in used]
        for items, new in ((graph.node, nodes), (graph.initializer, tensors), (graph.value_info, [])):
            del items[:]
            items.extend(new)
        graph.output[0].name = HIDDEN
        graph.output[0].type.tensor_type.ClearField("shape")

    def _constant(self, name: str, value: Any) -> str:
        self._weights[name] = tensor(name, value)
        return name

    def _replaced(self, old: Any) -> Iterator[Any]:
        if old.output[0] in self._dropped:
            return
        for place, name in enumerate(old.input):
            old.input[place] = self._renamed.get(name, name)
        if old.op_type == "DynamicQuantizeLinear":
            yield from self._ranges(old.input[0], *old.output)
        elif old.op_type == "MatMulInteger":
            yield from self._product(old)
        elif old.op_type == "Transpose":
            yield self._transposed(old)
        else:
            yield old

    def _ranges(self, given: str, quantised: str, scale: str, zero: str) -> Iterator[Any]:
        """Quantise each text by its own range, like DynamicQuantizeLinear: the range includes 0 and has 255 steps."""

        def part(name: str) -> str:
            return f"{quantised}/{name}"

        if not self._quantised:
            # Tokens first: then attention reads the heads of a text in place.
            yield node("Transpose", [given], [part("tokens first")], perm=[1, 0, 2])
            self._renamed[given] = part("tokens first")
            given = self._renamed[given]
        for reduce, bound, name, limit in (
            ("ReduceMin", "Min", "least", _LEAST),
            ("ReduceMax", "Max", "most", _MOST),
        ):
            yield node(reduce, [given], [part(f"{name}/own")], axes=[0, 2], keepdims=1)
            yield node(bound, [part(f"{name}/own"), limit], [part(name)])
        yield node("Sub", [part("most"), part("least")], [part("range")])
        yield node("Div", [part("range"), _STEPS], [scale])
        yield node("Div", [part("least"), scale], [part("lowest/exact")])
        yield node("Neg", [part("lowest/exact")], [part("zero/exact")])
        yield node("Round", [part("zero/exact")], [part("zero/float")])
        yield node("Cast", [part("zero/float")], [zero], to=UINT8)
        yield node("Reshape", [scale, _FLAT], [part("scales")])
        yield node("Reshape", [zero, _FLAT], [part("zeros")])
        yield node("QuantizeLinear", [given, part("scales"), part("zeros")], [quantised], _EXTENSIONS, axis=1)
        self._quantised[quantised] = part("zero/float")

    def _product(self, old: Any) -> Iterator[Any]:
        """Multiply whole numbers as floats, which is exact below 2^24: sum (q - z) w = sum q w - z sum w."""
        if len(old.input) != 4 or old.input[0] not in self._quantised:
            raise _UnsupportedError
        left, right, _, zero = old.input
        weights = self._values(right).astype(np.int64)
        users = self._users.get(old.output[0], [])
        if self._values(zero).any() or [user.op_type for user in users] != ["Cast"]:
            raise _UnsupportedError
        if weights.ndim != 2 or 255 * np.abs(weights).sum(axis=0).max() >= _EXACT:
            raise _UnsupportedError
        (cast,) = users
        product = cast.output[0]
        self._dropped.add(product)
        sums = self._constant(f"{right}/sums", weights.sum(axis=0).astype(np.float32))
        yield node("MatMulIntegerToFloat", [left, right, _ONE, _ONE], [f"{product}/raw"], _EXTENSIONS)
        yield node("Mul", [self._quantised[left], sums], [f"{product}/zero"])
        yield node("Sub", [f"{product}/raw", f"{product}/zero"], [product])

    def _values(self, name: str) -> Any:
        if name not in self._weights:
            raise _UnsupportedError
        try:
            return array_of(self._weights[name])
        except ValueError:
            raise _UnsupportedError from None

    def _transposed(self, old: Any) -> Any:
        maker = self._maker.get(old.input[0])
        known = _TO_HEADS if maker is not None and maker.op_type == "Reshape" else _FROM_HEADS
        order = next((tuple(given.ints) for given in old.attribute if given.name == "perm"), ())
        if order not in known:
            raise _UnsupportedError
        return node("Transpose", list(old.input), list(old.output), perm=known[order])
