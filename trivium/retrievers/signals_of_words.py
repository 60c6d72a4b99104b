"""Word-based signals: how much of the question a candidate mentions, and how close together."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

from trivium.common.dots import dots
from trivium.graph.records import Floats, TermCounts, TermStatistics
from trivium.retrievers.base import Query
from trivium.retrievers.bm25 import BM25Settings, bm25


@dataclass(frozen=True, slots=True)
class WordSettings:
    """``near``: maximum distance in words at which two adjacent words of the question still count as close in a text.
    ``windows``: widths in words within which the question's words are looked for together. ``bm25``: of the score of
    the text alone.
    """

    near: int = 4
    windows: tuple[int, ...] = (8, 16, 32, 64)
    bm25: BM25Settings = field(default_factory=BM25Settings)


_ASKING = re.compile(
    r"\W*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|has|have|had)\b",
    re.IGNORECASE,
)
"""Matches the beginning of a question, as opposed to keywords."""


def of_words(
    query: Query, counts: TermCounts, statistics: TermStatistics, rarity: Floats, settings: WordSettings
) -> dict[str, Floats]:
    """Return how much of the question, weighted by the ``rarity`` of its terms (t,), a chunk and its headings mention,
    and how close together.
    """
    from trivium.retrievers.matches import phrases, windows  # loads numba, see trivium.common.compiled

    share = shares(rarity)
    in_text, in_headings = counts.text > 0, counts.headings > 0
    anywhere = in_text | in_headings
    n = len(counts.text)
    together = phrases(counts.places, share, _steps(query), n, settings.near)
    close = windows(counts.places, share, n, np.array(settings.windows))
    order = (-rarity).argsort(kind="stable")
    first = together[:, 3]
    coverage = dots(np.concatenate([anywhere, in_headings, in_text]), share)
    return {
        "coverage": coverage[:n],
        "heading_coverage": coverage[n : 2 * n],
        "text_coverage": coverage[2 * n :],
        "distinct": in_text.sum(axis=1) / max(1, len(share)),
        "rarest_term": anywhere[:, order[0]].astype(np.float64) if len(order) else np.zeros(n),
        "second_rarest": anywhere[:, order[1]].astype(np.float64) if len(order) > 1 else np.zeros(n),
        **{f"within_{width}": best for width, best in zip(settings.windows, close, strict=True)},
        "pairs_near": together[:, 0],
        "pairs_as_asked": together[:, 1],
        "phrase": together[:, 2],
        "first_match": np.where(first < 0, 1.0, first / (counts.text_length + 1)),
        "bm25_text": bm25(counts, statistics, settings.bm25, headings=False),
        "length": np.log1p(counts.text_length),
    }


def of_question(query: Query, statistics: TermStatistics, rarity: Floats) -> dict[str, float]:
    """Return features of the question: its form, the ``rarity`` of its words (t,), and the corpus."""
    return {
        "terms": float(len(rarity)),
        "words": float(len(query.text.split())),
        "named": float(len(query.named_entities)),
        "asks": float(_ASKING.match(query.text) is not None),
        # How carefully it was written: search queries often have neither capitals nor a question mark.
        "capitals": float(query.text != query.text.lower()),
        "mark": float("?" in query.text),
        "rarest": float(rarity.max()) if len(rarity) else 0.0,
        "rarity": float(rarity.sum()) / len(rarity) if len(rarity) else 0.0,
        "corpus": math.log1p(statistics.chunks),
        "mean_length": math.log1p(statistics.mean_length),
    }


def shares(rarity: Floats) -> Floats:
    """Return each term's share (t,) of the total rarity."""
    total = float(rarity.sum())
    return rarity / total if total else rarity


def _steps(query: Query) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the distance in words of each question term from the previous one in the question."""
    places = query.analyzer.places(query.text)
    own = np.array([0, *(places[term] for term in query.terms)], dtype=np.int64)
    return own[1:] - own[:-1]
