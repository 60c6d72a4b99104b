"""Classifies the intent of a question: the collection, sources outside it, small talk, or the conversation itself.

A softmax regression on the question's vector and words, fitted by ``experiments/intent`` for each built-in embedder
and stored in ``intents.json``; for other embedders on the words only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Self

import numpy as np

from trivium.answering.judge_parts import NO_EMBEDDER
from trivium.answering.small_talk import talk_of
from trivium.common.arrays import dots
from trivium.common.cache import LruCache
from trivium.embedding.embedder import Embedder, Vectors
from trivium.text.normalise import words
from trivium.types import Intent, Turn

TALK: tuple[Intent, ...] = ("small_talk", "conversation")
"""Intents that are answered without a search."""
_SURE = 0.97
"""The probability from which a question is about the conversation without a search."""
_MAX_LOOKED_AT = 8
"""Number of turns of a conversation that are examined."""
_recognised: LruCache[str, Intent] = LruCache(1024)
"""Cache by question, since the turns of a conversation recur with each of its questions."""


@dataclass(frozen=True, slots=True)
class IntentClassifier:
    """``weights`` (intents, dimension), ``intercepts`` (intents,) and the weights of ``expressions`` (words, word
    pairs). Intents other than ``collection`` need a probability of at least their threshold, since a question that is
    not searched for is not answered.
    """

    intents: tuple[Intent, ...]
    weights: Vectors
    intercepts: Vectors
    expressions: Mapping[str, Vectors]
    thresholds: Mapping[str, float]

    def probabilities(self, text: str, vector: Vectors | None = None) -> dict[Intent, float]:
        """Return the probability of each intent for a question and its vector. They sum to 1."""
        logits = self.intercepts.astype(np.float64)
        for expression in expressions(text):
            logits = logits + self.expressions.get(expression, 0.0)
        if vector is not None:
            logits = logits + dots(self.weights, vector)
        powers = np.exp(logits - logits.max())
        return dict(zip(self.intents, (powers / powers.sum()).tolist(), strict=True))

    def intent(self, text: str, vector: Vectors | None = None, least: float = 0.0) -> Intent:
        """Return the most probable intent if it reaches its threshold and the probability ``least``, else
        ``collection``.
        """
        probabilities = self.probabilities(text, vector)
        best = max(probabilities, key=lambda intent: probabilities[intent])
        return best if probabilities[best] >= max(least, self.thresholds.get(best, 0.0)) else "collection"

    @classmethod
    def from_json(cls, fitted: Mapping[str, Any]) -> Self:
        """Create a classifier from what ``experiments/intent`` has fitted."""
        return cls(
            tuple(fitted["intents"]),
            np.array(fitted["weights"], dtype=np.float32),
            np.array(fitted["intercepts"], dtype=np.float32),
            {name: np.array(own, dtype=np.float32) for name, own in fitted["expressions"].items()},
            fitted["thresholds"],
        )


def expressions(text: str) -> list[str]:
    """Return the distinct words of a text and pairs of adjacent words.

    >>> expressions("Thank you, thank you")
    ['thank', 'you', 'thank you', 'you thank']
    """
    said = words(text)
    return list(dict.fromkeys([*said, *(f"{first} {second}" for first, second in pairwise(said))]))


def is_surely_talk(question: str, embedder: Embedder) -> bool:
    """Whether nothing has to be searched for to know that a text is talk: its words are, or it surely is about the
    conversation. Other small talk may be a title ("great auk").
    """
    name = embedder.identity.name
    fitted = load_intents(name if name in _shipped() else NO_EMBEDDER)
    vector = embedder.embed_query(question) if name in _shipped() else None
    return talk_of(question) is not None or fitted.intent(question, vector, _SURE) == "conversation"


def recognise(question: str, embedder: Embedder) -> Intent:
    """Return the intent of a question."""
    name = embedder.identity.name
    if name not in _shipped():
        return load_intents(NO_EMBEDDER).intent(question)
    known = _recognised.find(name, [question])
    if question not in known:
        known = {question: load_intents(name).intent(question, embedder.embed_query(question))}
        _recognised.put(name, known)
    return known[question]


def searched_turns(history: Sequence[Turn], embedder: Embedder) -> list[Turn]:
    """Return the last turns of a conversation without small talk and questions about the conversation: a follow-up
    does not refer to "thanks".
    """
    recent = history[-_MAX_LOOKED_AT:]
    return [
        turn
        for turn in recent
        if talk_of(turn.question) is None and recognise(turn.question, embedder) not in TALK
    ]


@cache
def load_intents(embedder: str) -> IntentClassifier:
    """Return the classifier fitted for an embedder. Raises KeyError if there is none."""
    return IntentClassifier.from_json(_shipped()[embedder])


@cache
def _shipped() -> dict[str, Any]:
    fitted: dict[str, Any] = json.loads(files(__package__).joinpath("intents.json").read_text("utf-8"))
    return fitted
