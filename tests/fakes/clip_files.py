"""The files of a tiny CLIP, made here: it knows three colours, and fastembed loads it as it would the real one.

A picture's vector is the mean of its red, green and blue after the real preprocessing; a text's is the sum of those of
its words ``red``, ``green`` and ``blue``; further dimensions are 0. ONNX files are protocol buffers, written by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

COLOURS = ("red", "green", "blue")
_FLOAT, _INT64 = 1, 7
_DIMENSION = 512


def write_clip(folder: Path, strength: float = 1.0) -> Path:
    """Both models below a folder, which is returned. ``strength`` makes other weights."""
    space = np.zeros((3, _DIMENSION), dtype=np.float32)
    space[[0, 1, 2], [0, 1, 2]] = strength
    _write_vision(folder / "vision", space)
    _write_text(folder / "text", space)
    return folder


def _write_vision(folder: Path, space: np.ndarray) -> None:
    folder.mkdir(parents=True)
    nodes = (
        _node("GlobalAveragePool", ["pixel_values"], "mean"),
        _node("Flatten", ["mean"], "flat"),
        _node("MatMul", ["flat", "space"], "image_embeds"),
    )
    inputs = (_value("pixel_values", _FLOAT, ("n", 3, 224, 224)),)
    model = _model(nodes, inputs, _value("image_embeds", _FLOAT, ("n", _DIMENSION)), {"space": space})
    (folder / "model.onnx").write_bytes(model)
    settings = {
        "image_processor_type": "CLIPImageProcessor",
        "do_resize": True,
        "size": {"shortest_edge": 224},
        "do_center_crop": True,
        "crop_size": {"height": 224, "width": 224},
        "do_rescale": True,
        "do_normalize": True,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.25, 0.25, 0.25],
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))


def _write_text(folder: Path, space: np.ndarray) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace

    folder.mkdir(parents=True)
    words = {"[PAD]": 0, "[UNK]": 1, **{word: place for place, word in enumerate(COLOURS, 2)}}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 77, "pad_token": "[PAD]"}))
    unknown = np.zeros((2, _DIMENSION), dtype=np.float32)
    unknown[:, 3] = 0.1  # a text without colours has a vector, too
    nodes = (
        _node("Gather", ["words", "input_ids"], "each"),
        _node("Cast", ["attention_mask"], "mask", to=_FLOAT),
        _node("Unsqueeze", ["mask", "last"], "column"),
        _node("Mul", ["each", "column"], "own"),
        _node("ReduceSum", ["own", "first"], "text_embeds", keepdims=0),
    )
    inputs = tuple(_value(name, _INT64, ("n", "length")) for name in ("input_ids", "attention_mask"))
    constants = {"words": np.vstack([unknown, space]), "last": np.array([2]), "first": np.array([1])}
    model = _model(nodes, inputs, _value("text_embeds", _FLOAT, ("n", _DIMENSION)), constants)
    (folder / "model.onnx").write_bytes(model)


# -- protocol buffers: (field number, value) where a value is a number, bytes or a text ------------------------------


def _message(*fields: tuple[int, int | bytes | str]) -> bytes:
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += _varint(number << 3) + _varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += _varint(number << 3 | 2) + _varint(len(data)) + data
    return bytes(out)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _node(kind: str, inputs: list[str], output: str, **numbers: int) -> bytes:
    attributes = [(5, _message((1, name), (3, value), (20, 2))) for name, value in numbers.items()]
    return _message(*((1, name) for name in inputs), (2, output), (3, output), (4, kind), *attributes)


def _value(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    sides = [(1, _message((1, side) if isinstance(side, int) else (2, side))) for side in shape]
    tensor = _message((1, kind), (2, _message(*sides)))
    return _message((1, name), (2, _message((1, tensor))))


def _model(
    nodes: tuple[bytes, ...], inputs: tuple[bytes, ...], output: bytes, constants: dict[str, np.ndarray]
) -> bytes:
    tensors = [
        _message(
            *((1, side) for side in values.shape),
            (2, _FLOAT if values.dtype == np.float32 else _INT64),
            (8, name),
            (9, values.tobytes()),
        )
        for name, values in constants.items()
    ]
    graph = _message(
        *((1, node) for node in nodes),
        (2, "tiny"),
        *((5, tensor) for tensor in tensors),
        *((11, value) for value in inputs),
        (12, output),
    )
    return _message((1, 8), (7, graph), (8, _message((1, ""), (2, 17))))
