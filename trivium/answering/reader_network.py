"""Whether a part answers a question, by a network that reads both together.

The trees of :mod:`trivium.answering.judge_parts` compare words, numbers and vectors of a question and a part that were
made apart. Which of two similar parts answers they tell as well as this network; whether the best one answers at all
("When was it opened?", "It was enlarged for £186,000.") they do not. The network is the embedder's own with low-rank
changes (``readers/EMBEDDER.safetensors``, fitted by ``experiments/answers/fit_reader.py``), so that it needs no other
model.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from trivium.common.arrays import dots
from trivium.common.log_odds import log_odds_of, probability_of
from trivium.common.onnx_file import node, parse_model, tensor
from trivium.embedding.device import one_thread
from trivium.embedding.manifest import manifest
from trivium.embedding.model_files import installed, locate
from trivium.types import EmbedderIdentity

QUESTION, ABOVE, ALL = 32, 20, 88
"""Tokens that are read at most: of the question, of the headings, and altogether."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A network that reads a question and a part together, with the last layers as arrays."""

    session: Any
    tokenizer: Any
    weights: dict[str, NDArray[Any]]
    most: int = ALL
    """Tokens that are read at most."""

    def read(self, question: str, above: str, text: str) -> float:
        """Return the log-odds, by the network alone, that a ``text`` under the headings ``above`` answers a question."""
        ids, types = packed(self.tokenizer, question, above, text, self.most)
        given = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, len(ids)), np.int64),
            "token_type_ids": np.array([types], np.int64),
        }
        first = self.session.run(None, given)[0][0, 0]
        hidden = np.tanh(dots(self.weights["hidden.weight"], first) + self.weights["hidden.bias"])
        return float(dots(self.weights["output.weight"][None], hidden)[0] + self.weights["output.bias"][0])

    def odds(self, read: float, judged: float) -> float:
        """Return the log-odds that a part answers, by what the network ``read`` and the probability, in [0, 1], that the
        trees ``judged``.
        """
        by_trees, by_reader, constant = self.weights["blend"].tolist()
        odds: float = by_trees * log_odds_of(judged) + by_reader * read + constant
        return odds

    def probability(self, odds: float, rival: float, highest: float) -> float:
        """Return the probability, in [0, 1], that a part answers, by its log-odds, those of the best part elsewhere, and
        the highest that the network ``read`` of any.
        """
        own, against, of_any, constant = self.weights["rival"].tolist()
        return probability_of(own * odds + against * rival + of_any * highest + constant)

    def are_about(self, confidence: float, nearness: float) -> bool:
        """Whether passages are about a question, by the probability that the best part answers and that of the regression
        on all parts.
        """
        by_confidence, by_nearness, constant = self.weights["about"].tolist()
        odds = by_confidence * log_odds_of(confidence) + by_nearness * log_odds_of(nearness) + constant
        return bool(odds >= 0)


def packed(
    tokenizer: Any, question: str, above: str, text: str, most: int = ALL
) -> tuple[list[int], list[int]]:
    """Return the tokens of a question and a part, ``most`` altogether, and which of the two each belongs to (0 or 1)."""
    start, colon, end = tokenizer.encode(":").ids
    asked, headings, said = (
        one.ids for one in tokenizer.encode_batch([question, above, text], add_special_tokens=False)
    )
    asked, headings = asked[:QUESTION], headings[:ABOVE]
    said = said[: most - 4 - len(asked) - len(headings)]
    ids = [start, *asked, end, *headings, colon, *said, end]
    return ids, [0] * (len(asked) + 2) + [1] * (len(headings) + len(said) + 2)


@cache
def load_reader(embedder: EmbedderIdentity) -> Reader | None:
    """Return the reader on an embedder's network, None if that has none or is not on this machine."""
    name = embedder.name
    file = files(__package__).joinpath("readers", f"{name}.safetensors")
    if not (file.is_file() and installed(name) and manifest()[name].version == embedder.version):
        return None
    return opened(name, file.read_bytes())


def opened(name: str, changes: bytes, most: int = ALL) -> Reader:
    """Return the reader that is an installed embedder with ``changes`` (a safetensors file), for ``most`` tokens."""
    import onnxruntime  # takes 0.1 s, so only on demand
    from tokenizers import Tokenizer

    weights = {
        key: value.astype(np.float32) if value.dtype == np.float16 else value
        for key, value in load(changes).items()
    }
    found = locate(name)
    session = _session(onnxruntime, adapted(found.model.read_bytes(), weights), one_thread(onnxruntime))
    tokenizer = Tokenizer.from_file(str(found.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return Reader(session, tokenizer, weights, most)


def _session(onnxruntime: Any, model: bytes, options: Any) -> Any:
    """Return the session of a model, from a file if one can be written: one made of bytes keeps 46 MB more."""
    source: str | bytes = model
    with ExitStack() as kept:
        with suppress(OSError):
            file = Path(kept.enter_context(tempfile.TemporaryDirectory()), "model.onnx")
            file.write_bytes(model)
            source = str(file)
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def adapted(model: bytes, weights: dict[str, NDArray[Any]]) -> bytes:
    """Return a quantised ONNX model in which tensors of the same name as one of the ``weights`` are replaced, and each
    product with quantised weights, the n-th of which is x W, is x W + (x A) B for ``low.n.a`` and ``low.n.b``.

    The changes are not added to the weights: most are smaller than half a step of these, and would be rounded away.
    """
    loaded = parse_model(model)
    graph = loaded.graph
    for known in graph.initializer:
        if known.name in weights:
            known.CopyFrom(tensor(known.name, weights[known.name].reshape(tuple(known.dims))))
    made = {name: one for one in graph.node for name in one.output}
    users = {name: one for one in graph.node for name in one.input}
    products = [one for one in graph.node if one.op_type == "MatMulInteger"]
    behind: dict[str, list[Any]] = {}
    for number, product in enumerate(products):
        scaled = users[users[product.output[0]].output[0]]  # a cast, then the product with the scale
        result, given = scaled.output[0], made[product.input[0]].input[0]
        name = f"low.{number}"
        graph.initializer.extend(tensor(f"{name}.{side}", weights[f"{name}.{side}"]) for side in "ab")
        scaled.output[0] = f"{result}/whole"
        behind[f"{result}/whole"] = [
            node("MatMul", [given, f"{name}.a"], [f"{result}/narrow"]),
            node("MatMul", [f"{result}/narrow", f"{name}.b"], [f"{result}/low"]),
            node("Add", [f"{result}/whole", f"{result}/low"], [result]),
        ]
    nodes = [new for old in graph.node for new in (old, *behind.get(old.output[0], ()))]
    del graph.node[:]
    graph.node.extend(nodes)
    serialised: bytes = loaded.SerializeToString()
    return serialised
