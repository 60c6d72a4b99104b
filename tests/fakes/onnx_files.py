"""ONNX files, which are protocol buffers, written by hand: the parts that the tiny models of the tests are made of."""

from __future__ import annotations

import numpy as np

FLOAT, INT64 = 1, 7


def message(*fields: tuple[int, int | bytes | str]) -> bytes:
    """Fields as (number, value), where a value is a number, bytes or a text."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return bytes(out)


def varint(value: int) -> bytes:
    """A number, seven bits a byte."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def node(kind: str, inputs: list[str], output: str, **numbers: int) -> bytes:
    """An operator; ``numbers`` are its attributes."""
    attributes = [(5, message((1, name), (3, value), (20, 2))) for name, value in numbers.items()]
    return message(*((1, name) for name in inputs), (2, output), (3, output), (4, kind), *attributes)


def value(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    """An input or output of a kind (:data:`FLOAT`, :data:`INT64`); named sides may have any length."""
    sides = [(1, message((1, side) if isinstance(side, int) else (2, side))) for side in shape]
    tensor = message((1, kind), (2, message(*sides)))
    return message((1, name), (2, message((1, tensor))))


def model(
    nodes: tuple[bytes, ...], inputs: tuple[bytes, ...], output: bytes, constants: dict[str, np.ndarray]
) -> bytes:
    """The file of a model."""
    tensors = [
        message(
            *((1, side) for side in values.shape),
            (2, FLOAT if values.dtype == np.float32 else INT64),
            (8, name),
            (9, values.tobytes()),
        )
        for name, values in constants.items()
    ]
    graph = message(
        *((1, node) for node in nodes),
        (2, "tiny"),
        *((5, tensor) for tensor in tensors),
        *((11, value) for value in inputs),
        (12, output),
    )
    return message((1, 8), (7, graph), (8, message((1, ""), (2, 17))))
