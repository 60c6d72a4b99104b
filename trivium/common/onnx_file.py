"""Reads and changes ONNX files with the package protobuf, which comes with onnxruntime. The package onnx would do more,
but is 27 MB that nothing else needs at run time.

Only the parts of the format that are used here are declared. protobuf keeps the others as they are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOAT, UINT8 = 1, 2
"""Types of elements, for the attribute ``to`` of Cast."""

_TYPES: dict[str, int] = {"float32": FLOAT, "uint8": UINT8, "int8": 3, "int64": 7}
_NAMES = {number: name for name, number in _TYPES.items()}
_INT, _INTS = 2, 7
"""Types of attributes."""

_MESSAGES: dict[str, dict[int, tuple[str, str]]] = {
    "Model": {7: ("graph", "Graph"), 8: ("opset_import", "Opset*")},
    "Opset": {1: ("domain", "string"), 2: ("version", "int64")},
    "Graph": {
        1: ("node", "Node*"),
        5: ("initializer", "Tensor*"),
        12: ("output", "Value*"),
        13: ("value_info", "Value*"),
    },
    "Node": {
        1: ("input", "string*"),
        2: ("output", "string*"),
        3: ("name", "string"),
        4: ("op_type", "string"),
        5: ("attribute", "Attribute*"),
        7: ("domain", "string"),
    },
    "Attribute": {1: ("name", "string"), 3: ("i", "int64"), 8: ("ints", "int64*"), 20: ("type", "int64")},
    "Tensor": {
        1: ("dims", "int64*"),
        2: ("data_type", "int64"),
        5: ("int32_data", "int64*"),
        8: ("name", "string"),
        9: ("raw_data", "bytes"),
    },
    "Value": {1: ("name", "string"), 2: ("type", "Type")},
    "Type": {1: ("tensor_type", "TensorType")},
    "TensorType": {1: ("elem_type", "int64"), 2: ("shape", "Shape")},
    "Shape": {},
}
"""Names and types of the fields of each message, by number; a star marks repeated ones."""


def parse_model(file: bytes) -> Any:
    """Return the message ``Model`` of a file. Raises protobuf's errors for other content."""
    model = _class("Model")()
    model.ParseFromString(file)
    return model


def node(operator: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: Any) -> Any:
    """Return a node; attributes are whole numbers or lists of them."""
    made = _class("Node")(op_type=operator, input=inputs, output=outputs, name=outputs[0], domain=domain)
    for name, value in attributes.items():
        if isinstance(value, int):
            made.attribute.add(name=name, i=value, type=_INT)
        else:
            made.attribute.add(name=name, ints=value, type=_INTS)
    return made


def opset(domain: str, version: int) -> Any:
    """Return the import of a set of operators."""
    return _class("Opset")(domain=domain, version=version)


def tensor(name: str, values: Any) -> Any:
    """Return a constant: float32, uint8, int8 or int64."""
    array = np.asarray(values)
    return _class("Tensor")(
        name=name, dims=array.shape, data_type=_TYPES[array.dtype.name], raw_data=array.tobytes()
    )


def array_of(tensor: Any) -> NDArray[Any]:
    """Return the values of a constant. Raises ValueError if its type, or the way they are stored, is not supported."""
    if tensor.data_type not in _NAMES:
        raise ValueError(f"expected a tensor of {', '.join(_TYPES)}, got type {tensor.data_type}")
    kind = _NAMES[tensor.data_type]
    # Small integers may be a list of numbers instead of bytes.
    listed = np.array(tensor.int32_data, kind) if tensor.int32_data else np.frombuffer(tensor.raw_data, kind)
    return listed.reshape(tuple(tensor.dims))


@cache
def _class(name: str) -> Any:
    return _classes()[name]


@cache
def _classes() -> dict[str, Any]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # on demand

    kinds = descriptor_pb2.FieldDescriptorProto
    scalars = {"string": kinds.TYPE_STRING, "bytes": kinds.TYPE_BYTES, "int64": kinds.TYPE_INT64}
    file = descriptor_pb2.FileDescriptorProto(
        name="trivium/onnx.proto", package="trivium.onnx", syntax="proto2"
    )
    for message, fields in _MESSAGES.items():
        declared = file.message_type.add(name=message)
        for number, (name, kind) in fields.items():
            single = kind.removesuffix("*")
            label = kinds.LABEL_OPTIONAL if single == kind else kinds.LABEL_REPEATED
            field = declared.field.add(name=name, number=number, label=label)
            if single in scalars:
                field.type = scalars[single]
            else:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".trivium.onnx.{single}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName
    return {name: message_factory.GetMessageClass(found(f"trivium.onnx.{name}")) for name in _MESSAGES}
