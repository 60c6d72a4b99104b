"""The files of a tiny cross-encoder, made here: it knows four words, and both onnxruntime and fastembed load it as they
would a real one.

Its logit is the sum of the weights of the passage's words less ten times that of the question's. ONNX files are protocol
buffers, written by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.fakes.onnx_files import FLOAT, INT64, model, node, value

WEIGHTS = {"moon": 3.0, "mars": 2.0, "hall": 0.5, "dull": -1.0}
"""Of each word; others weigh nothing."""
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def write_cross_encoder(folder: Path, *, labels: int = 1, file: str = "model.onnx", reads: int = 32) -> Path:
    """The model in a folder, which is returned. With two ``labels`` the first is always 1, the second the logit of one
    label and 1. It ``reads`` so many tokens."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    words = {word: place for place, word in enumerate((*_SPECIAL, *WEIGHTS))}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", words["[CLS]"]), ("[SEP]", words["[SEP]"])],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": reads, "pad_token": "[PAD]"})
    )
    weights = np.array([[0.0]] * len(_SPECIAL) + [[weight] for weight in WEIGHTS.values()], np.float32)
    nodes = (
        node("Gather", ["weights", "input_ids"], "each"),
        node("Gather", ["sides", "token_type_ids"], "side"),
        node("Mul", ["each", "side"], "own"),
        node("ReduceSum", ["own", "first"], "sum", keepdims=0),
        node("MatMul", ["sum", "spread"], "labels"),
        node("Add", ["labels", "bias"], "logits"),
    )
    constants = {
        "weights": weights,
        "sides": np.array([[-10.0], [1.0]], np.float32),
        "first": np.array([1]),
        "spread": np.array([[1.0]] if labels == 1 else [[0.0] * (labels - 1) + [1.0]], np.float32),
        "bias": np.array([0.0] if labels == 1 else [1.0] * labels, np.float32),
    }
    inputs = tuple(value(name, INT64, ("n", "length")) for name in ("input_ids", "token_type_ids"))
    (folder / file).write_bytes(model(nodes, inputs, value("logits", FLOAT, ("n", labels)), constants))
    return folder
