"""Signals of words: how much of the question a candidate mentions, and how closely."""

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
"""Widths, in words, within which the question's words are looked for together."""
NEAR = 4
"""So many words apart two words that are neighbours in the question still belong together."""
_ASKING = re.compile(
    r"\W*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|has|have|had)\b",
    re.IGNORECASE,
)
"""How a question begins that asks, where keywords do not."""


def of_words(query: Query, counts: TermCounts, statistics: TermStatistics) -> dict[str, Floats]:
    """How much of what the question asks for, by rarity, a chunk and its headings mention, and how close together."""
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
    """Numbers of the question: its form, its words, and the corpus it is asked of."""
    rarity = idf(statistics)
    return {
        "terms": float(len(rarity)),
        "words": float(len(query.text.split())),
        "named": float(len(query.named_entities)),
        "asks": float(_ASKING.match(query.text) is not None),
        # How carefully it was written: people who look for something type neither capitals nor a question mark.
        "capitals": float(query.text != query.text.lower()),
        "mark": float("?" in query.text),
        "rarest": float(rarity.max()) if len(rarity) else 0.0,
        "rarity": float(rarity.mean()) if len(rarity) else 0.0,
        "corpus": math.log1p(statistics.chunks),
        "mean_length": math.log1p(statistics.mean_length),
    }


def shares(rarity: Floats) -> Floats:
    """Each term's share (t,) of the rarity of all."""
    total = float(rarity.sum())
    return rarity / total if total else rarity


def _steps(query: Query) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many words after the term before it each of the question's terms stands in the question."""
    places = query.analyzer.places(query.text)
    return np.diff([places[term] for term in query.terms], prepend=0).astype(np.int64)
