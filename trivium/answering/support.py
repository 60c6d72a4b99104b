"""Does a passage bear out a statement? Found out afterwards, whatever the statement cites."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trivium.answering.passages import Passage
from trivium.answering.rarity import Rarity, content, names_and_numbers
from trivium.common.dots import dots
from trivium.embedding.base import Embedder
from trivium.text import terms

LOOKED_AT = 3
"""Sentences of a passage that are compared with a statement: those that share most with it."""

Features = dict[str, float]

_OF_THE_ANSWER = frozenset(terms("answer answers question questions passage passages according"))
"""Words with which a model speaks of what it does; no passage has to say them."""


def features(
    question: str,
    statements: Sequence[str],
    offered: Sequence[Passage],
    rarity: Rarity,
    embedder: Embedder | None,
) -> list[list[Features]]:
    """What a judge sees of each statement (rows) and passage (columns): how much of it the passage says (``covered``),
    how much one of its sentences (``together``), and how much of what was not in the question (``new``); whether its
    ``names`` and ``numbers`` are all there, since one that is wrong makes it wrong; and the ``cosine`` with the closest
    sentence, with an embedder."""
    asked = frozenset(terms(question)) | _OF_THE_ANSWER
    rows: list[list[Features]] = []
    pairs: list[list[list[str]]] = []
    for statement in statements:
        claim = claimed(statement)
        named = names_and_numbers(statement)
        numbers = [word for word in named if any(c.isdigit() for c in word)]
        names = [word for word in named if word not in numbers]
        new = [term for term in claim if term not in asked]
        rows.append([])
        pairs.append([])
        for passage in offered:
            shares = [(rarity.covered(claim, passage.said_by(s)), s) for s in passage.sentences]
            best = sorted(shares, key=lambda share: -share[0])[:LOOKED_AT]
            pairs[-1].append([text for _, text in best])
            rows[-1].append(
                {
                    "covered": rarity.covered(claim, passage.said),
                    "together": best[0][0] if best else 0.0,
                    "new": rarity.covered(new, passage.said),
                    "names": _none_missing(names, passage.words),
                    "numbers": _none_missing(numbers, passage.words),
                }
            )
    if embedder is not None:
        _add_cosines(statements, rows, pairs, embedder)
    return rows


def claimed(statement: str) -> list[str]:
    """The terms of what a statement states; none where it only speaks of itself ("The answer is:")."""
    return [term for term in content(statement) if term not in _OF_THE_ANSWER]


def _none_missing(wanted: Sequence[str], there: frozenset[str]) -> float:
    """1 where all are there, 1/2 where one is missing, 1/3 where two are ..."""
    return 1 / (1 + sum(word not in there for word in wanted))


def _add_cosines(
    statements: Sequence[str], rows: list[list[Features]], pairs: list[list[list[str]]], embedder: Embedder
) -> None:
    texts = list(dict.fromkeys([*statements, *(text for row in pairs for best in row for text in best)]))
    if not texts:
        return
    places = {text: place for place, text in enumerate(texts)}
    vectors = embedder.embed(texts)
    for statement, row, compared in zip(statements, rows, pairs, strict=True):
        own = vectors[places[statement]]
        for found, best in zip(row, compared, strict=True):
            cosines = dots(vectors[[places[text] for text in best]], own) if best else np.zeros(1)
            found["cosine"] = float(cosines.max())
