"""The files of a tiny CLIP, made here: it knows three colours, and fastembed loads it as it would the real one.

A picture's vector is the mean of its red, green and blue after the real preprocessing; a text's is the sum of those of
its words ``red``, ``green`` and ``blue``; further dimensions are 0.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.fakes.onnx_files import FLOAT, INT64, model, node, value

COLOURS = ("red", "green", "blue")
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
        node("GlobalAveragePool", ["pixel_values"], "mean"),
        node("Flatten", ["mean"], "flat"),
        node("MatMul", ["flat", "space"], "image_embeds"),
    )
    inputs = (value("pixel_values", FLOAT, ("n", 3, 224, 224)),)
    file = model(nodes, inputs, value("image_embeds", FLOAT, ("n", _DIMENSION)), {"space": space})
    (folder / "model.onnx").write_bytes(file)
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
        node("Gather", ["words", "input_ids"], "each"),
        node("Cast", ["attention_mask"], "mask", to=FLOAT),
        node("Unsqueeze", ["mask", "last"], "column"),
        node("Mul", ["each", "column"], "own"),
        node("ReduceSum", ["own", "first"], "text_embeds", keepdims=0),
    )
    inputs = tuple(value(name, INT64, ("n", "length")) for name in ("input_ids", "attention_mask"))
    constants = {"words": np.vstack([unknown, space]), "last": np.array([2]), "first": np.array([1])}
    file = model(nodes, inputs, value("text_embeds", FLOAT, ("n", _DIMENSION)), constants)
    (folder / "model.onnx").write_bytes(file)
