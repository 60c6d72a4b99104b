"""Every sentence of an answer, with what bears it out."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.answering import support
from trivium.answering.judge import Judge
from trivium.answering.marks import cited, without_marks
from trivium.answering.passages import Passage
from trivium.answering.rarity import Rarity
from trivium.embedding.base import Embedder
from trivium.graph.store import GraphStore
from trivium.text import sentences, words
from trivium.types import Statement


def check(
    question: str,
    text: str,
    offered: Sequence[Passage],
    judge: Judge,
    store: GraphStore,
    embedder: Embedder,
) -> tuple[Statement, ...]:
    """The statements of a filtered answer. One that cites no passage that bears it out is also attributed to the one that
    does best, if that is enough; one that states nothing needs nobody. Numbers of passages that were not ``offered`` do
    not occur in it."""
    spans = [span for span in sentences(text) if words(without_marks(text[slice(*span)]))]
    claims = [without_marks(text[slice(*span)]) for span in spans]
    rarity = Rarity.of(store, [question, *claims])
    rows = support.features(question, claims, offered, rarity, embedder if judge.needs_cosine else None)
    return tuple(
        _statement(span, cited(text[slice(*span)]), _probabilities(row, offered, judge), judge.enough)
        if support.claimed(claim)
        else Statement(*span, cited(text[slice(*span)]), 1.0, True)
        for span, claim, row in zip(spans, claims, rows, strict=True)
    )


def _probabilities(
    row: Sequence[support.Features], offered: Sequence[Passage], judge: Judge
) -> dict[int, float]:
    return {
        passage.number: round(judge.probability(features), 6)
        for passage, features in zip(offered, row, strict=True)
    }


def _statement(
    span: tuple[int, int], named: tuple[int, ...], probabilities: dict[int, float], enough: float
) -> Statement:
    best = max((probabilities[number] for number in named), default=0.0)
    if best < enough and probabilities:
        # The first of the best: passages are in their order.
        other = max(probabilities, key=lambda number: probabilities[number])
        best = probabilities[other]
        if best >= enough:
            named = (*named, other)
    return Statement(*span, named, best, best >= enough)
