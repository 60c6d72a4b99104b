"""Rewrites a quantised model with floating-point operations that GPUs support, for many texts per call.

The int8 models scale the input of a product by the range of the whole tensor and multiply integers (operators
DynamicQuantizeLinear and MatMulInteger). With CUDA, onnxruntime runs these on the CPU, with a copy in each direction.
Here the same numbers are computed in floating point, in which sums of such products are exact, and with a separate
range per text, so that neither batch neighbours nor padding change a vector. A final node pools, so that one vector
per text is returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trivium.errors import EmbeddingError, MissingExtraError

POOLED = "trivium/pooled"
"""Name of the output with the pooled vectors (n, d), not normalised."""

_MASK, _MASK_ROW = "trivium/mask", "trivium/mask_row"
_ZERO, _STEPS, _SMALLEST = "trivium/zero", "trivium/steps", "trivium/smallest"
_LAST_OPSET = 17
"""In later opsets, reductions take their axes as an input."""


def float_graph(model: Path, pooling: Literal["cls", "mean"]) -> bytes:
    """Return the model in that file, rewritten. A model without dynamic quantisation only gets the output
    :data:`POOLED`. Raises MissingExtraError without the package onnx, and EmbeddingError for a model it cannot
    rewrite.
    """
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("a model on a graphics card", "cuda") from error
    loaded = onnx.load(str(model))
    opset = max(entry.version for entry in loaded.opset_import if entry.domain in ("", "ai.onnx"))
    if opset > _LAST_OPSET:
        raise EmbeddingError(f"{model}: expected an opset of at most {_LAST_OPSET}, got {opset}")
    _Rewriting(onnx, loaded.graph).run(pooling)
    serialised: bytes = loaded.SerializeToString()
    return serialised


class _Rewriting:
    def __init__(self, onnx: Any, graph: Any) -> None:
        self._graph = graph
        self._node = onnx.helper.make_node
        self._array = onnx.numpy_helper.to_array
        self._tensor = onnx.numpy_helper.from_array
        self._float = onnx.TensorProto.FLOAT
        self._value = onnx.helper.make_tensor_value_info
        self._weights = {tensor.name: tensor for tensor in graph.initializer}

    def run(self, pooling: Literal["cls", "mean"]) -> None:
        graph = self._graph
        nodes = [*self._masks(), *(new for node in graph.node for new in self._replaced(node))]
        nodes += self._pooled(graph.output[0].name, pooling)
        used = {name for node in nodes for name in node.input}
        tensors = [tensor for tensor in self._weights.values() if tensor.name in used]
        for items, new in ((graph.node, nodes), (graph.initializer, tensors), (graph.value_info, [])):
            del items[:]
            items.extend(new)
        graph.output.append(self._value(POOLED, self._float, None))

    def _constant(self, name: str, value: Any) -> str:
        self._weights[name] = self._tensor(np.asarray(value), name)
        return name

    def _masks(self) -> Iterator[Any]:
        """Masks that are 1 for tokens and 0 for padding, with shapes (n, tokens, 1) and (n, 1, tokens)."""
        self._constant(_ZERO, np.float32(0))
        self._constant(_STEPS, np.float32(255))
        self._constant(_SMALLEST, np.finfo(np.float32).tiny)
        column = self._constant(f"{_MASK}/shape", np.array([0, -1, 1], np.int64))
        row = self._constant(f"{_MASK_ROW}/shape", np.array([0, 1, -1], np.int64))
        yield self._node("Cast", ["attention_mask"], [f"{_MASK}/flat"], to=self._float)
        yield self._node("Reshape", [f"{_MASK}/flat", column], [_MASK])
        yield self._node("Reshape", [f"{_MASK}/flat", row], [_MASK_ROW])

    def _replaced(self, node: Any) -> Iterator[Any]:
        if node.op_type == "DynamicQuantizeLinear":
            yield from self._quantised(node.input[0], node.output[0], node.output[1])
        elif node.op_type == "MatMulInteger":
            left, right, _, zero = node.input  # the zero point of the left side is subtracted already
            weights = self._array(self._weights[right]).astype(np.float32)
            weights -= self._array(self._weights[zero]).astype(np.float32)
            yield self._node("MatMul", [left, self._constant(f"{right}/float", weights)], list(node.output))
        else:
            yield node

    def _quantised(self, given: str, quantised: str, scale: str) -> Iterator[Any]:
        """Quantise to integers from -zero to 255 - zero, rounding like onnxruntime: a text's range includes 0 and has
        255 steps, and ``zero`` is the step at 0.
        """

        def part(name: str) -> str:
            return f"{quantised}/{name}"

        yield self._node("Mul", [given, _MASK], [part("own")])
        for reduce, bound, name in (("ReduceMax", "Max", "most"), ("ReduceMin", "Min", "least")):
            # Tokens first: cuDNN reduces both axes at once in one block per text, which leaves most of a GPU idle.
            yield self._node(reduce, [part("own")], [part(f"{name}/tokens")], axes=[1], keepdims=1)
            yield self._node(reduce, [part(f"{name}/tokens")], [part(f"{name}/own")], axes=[2], keepdims=1)
            yield self._node(bound, [part(f"{name}/own"), _ZERO], [part(name)])
        yield self._node("Sub", [part("most"), part("least")], [part("range")])
        yield self._node("Div", [part("range"), _STEPS], [part("step")])
        yield self._node("Max", [part("step"), _SMALLEST], [scale])
        yield self._node("Div", [part("least"), scale], [part("lowest/exact")])
        yield self._node("Round", [part("lowest/exact")], [part("lowest")])
        yield self._node("Add", [part("lowest"), _STEPS], [part("highest")])
        yield self._node("Div", [part("own"), scale], [part("steps")])
        yield self._node("Max", [part("steps"), part("lowest")], [part("steps/from")])
        yield self._node("Min", [part("steps/from"), part("highest")], [part("steps/to")])
        yield self._node("Round", [part("steps/to")], [quantised])

    def _pooled(self, hidden: str, pooling: Literal["cls", "mean"]) -> Iterator[Any]:
        if pooling == "cls":
            yield self._node(
                "Gather", [hidden, self._constant(f"{POOLED}/first", np.int64(0))], [POOLED], axis=1
            )
            return
        # A sum suffices, since pooled vectors are normalised anyway.
        shape = self._constant(f"{POOLED}/shape", np.array([0, -1], np.int64))
        yield self._node("MatMul", [_MASK_ROW, hidden], [f"{POOLED}/rows"])
        yield self._node("Reshape", [f"{POOLED}/rows", shape], [POOLED])
