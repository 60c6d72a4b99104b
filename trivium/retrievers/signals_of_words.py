"""Word-based signals: how much of the question a candidate mentions, and how close together."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

from trivium.common.dots import dots
from trivium.graph.records import Floats, TermCounts, TermStatistics
from trivium.retrievers.base import Query
from trivium.retrievers.bm25 import BM25Settings, bm25, idf

WINDOWS = (8, 16, 32, 64)
"""Window widths in words for finding the question's words together."""
NEAR = 4
"""Maximum distance in words at which two adjacent words of the question still count as close in a text."""
_ASKING = re.compile(
    r"\W*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|has|have|had)\b",
    re.IGNORECASE,
)
"""Matches the beginning of a question, as opposed to keywords."""


def of_words(query: Query, counts: TermCounts, statistics: TermStatistics) -> dict[str, Floats]:
    """Return how much of the question, weighted by rarity, a chunk and its headings mention, and how close together."""
    from trivium.retrievers.matches import phrases, windows  # loads numba, see trivium.common.compiled

    rarity = idf(statistics)
    share = shares(rarity)
    in_text, in_headings = counts.text > 0, counts.headings > 0
    anywhere = in_text | in_headings
    plain = replace(
        counts, headings=np.zeros_like(counts.headings), headings_length=np.zeros_like(counts.headings_length)
    )
    n = len(counts.text)
    together = phrases(counts.places, share, _steps(query), n, NEAR)
    order = np.argsort(-rarity, kind="stable")
    first = np.ones(n)
    rows, earliest = np.unique(counts.places[:, 0], return_index=True)
    first[rows] = counts.places[earliest, 2] / (counts.text_length[rows] + 1)
    return {
        "coverage": dots(anywhere, share),
        "heading_coverage": dots(in_headings, share),
        "text_coverage": dots(in_text, share),
        "distinct": in_text.sum(axis=1) / max(1, len(share)),
        "rarest_term": anywhere[:, order[0]].astype(np.float64) if len(order) else np.zeros(n),
        "second_rarest": anywhere[:, order[1]].astype(np.float64) if len(order) > 1 else np.zeros(n),
        **{f"within_{width}": windows(counts.places, share, n, width) for width in WINDOWS},
        "pairs_near": together[:, 0],
        "pairs_as_asked": together[:, 1],
        "phrase": together[:, 2],
        "first_match": first,
        "bm25_text": bm25(plain, statistics, BM25Settings()),
        "length": np.log1p(counts.text_length),
    }


def of_question(query: Query, statistics: TermStatistics) -> dict[str, float]:
    """Return features of the question: its form, its words, and the corpus."""
    rarity = idf(statistics)
    return {
        "terms": float(len(rarity)),
        "words": float(len(query.text.split())),
        "named": float(len(query.named_entities)),
        "asks": float(_ASKING.match(query.text) is not None),
        # How carefully it was written: search queries often have neither capitals nor a question mark.
        "capitals": float(query.text != query.text.lower()),
        "mark": float("?" in query.text),
        "rarest": float(rarity.max()) if len(rarity) else 0.0,
        "rarity": float(rarity.mean()) if len(rarity) else 0.0,
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
    return np.diff([places[term] for term in query.terms], prepend=0).astype(np.int64)
