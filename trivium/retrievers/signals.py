"""Additional features of a question's candidates, for trained fusions.

They are computed from the question, the words of the chunks, their uris and the links between them, without a
language model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from trivium.common.arrays import Floats
from trivium.graph.schema import CHUNK_MARK, SEPARATOR, page_of
from trivium.retrievers.base import Query
from trivium.retrievers.bm25 import bm25, idf
from trivium.retrievers.signals_of_links import of_links
from trivium.retrievers.signals_of_words import WordSettings, of_question, of_words, shares
from trivium.retrievers.walk import WalkRetriever, WalkSettings

OWNERS: Mapping[str, str] = {
    "coverage": "lexical",
    "heading_coverage": "lexical",
    "text_coverage": "lexical",
    "distinct": "lexical",
    "rarest_term": "lexical",
    "second_rarest": "lexical",
    **{f"within_{width}": "lexical" for width in WordSettings().windows},
    "pairs_near": "lexical",
    "pairs_as_asked": "lexical",
    "phrase": "lexical",
    "first_match": "lexical",
    "bm25_text": "lexical",
    "length": "lexical",
    "walk_sharp": "walk",
    "walk_far": "walk",
    "walk_named": "walk",
    "page_named": "entity",
    "cites_named": "entity",
    "from_named": "walk",
    "in_degree": "walk",
    "out_degree": "walk",
    "linking": "walk",
    "linked": "walk",
    "linking_lexical": "walk",
    "linked_lexical": "walk",
    "linking_coverage": "walk",
    "linked_coverage": "walk",
    "linking_union": "walk",
    "linked_union": "walk",
    "union": "walk",
    "union_gain": "walk",
    "links": "walk",
    "page_best": "page",
    "page_candidates": "page",
    "before": "vector",
    "after": "vector",
    "position": "section",
    "depth": "section",
}
"""Maps each signal to the retriever whose contribution includes it."""


@dataclass(frozen=True, slots=True)
class SignalSettings:
    """Settings of the signals: of those of words, and of three more walks."""

    words: WordSettings = field(default_factory=WordSettings)
    walk_sharp: WalkSettings = field(default_factory=lambda: WalkSettings(temperature=0.01, damping=0.7))
    walk_far: WalkSettings = field(
        default_factory=lambda: WalkSettings(temperature=0.05, entity_share=0.5, damping=0.7)
    )
    walk_named: WalkSettings = field(default_factory=lambda: WalkSettings(entity_share=1.0))


WALKS = ("walk_sharp", "walk_far", "walk_named")
PARTIAL = ("before", "after", "linking", "linked", "union", "page_best")
"""Signals that may be NaN for some candidates, one of each group that is NaN for the same candidates."""

Signals = dict[str, Floats]


def prepare_words(query: Query, settings: SignalSettings) -> None:
    """Compute in advance what the signals need to know about the question's words."""
    query.term_statistics  # noqa: B018
    if query.named_entities:
        _walks(settings)["walk_named"].prepare(query)


def prepare(query: Query, settings: SignalSettings) -> None:
    """Compute in advance what else the signals need, independent of the candidates."""
    for walk in _walks(settings).values():
        walk.prepare(query)


@lru_cache(maxsize=8)
def _walks(settings: SignalSettings) -> Mapping[str, WalkRetriever]:
    return {name: WalkRetriever(getattr(settings, name)) for name in WALKS}


def signals(
    query: Query, chunks: Sequence[str], settings: SignalSettings
) -> tuple[Signals, dict[str, float]]:
    """Return columns (n,) of the candidates ``chunks``, NaN where undefined, and features of the question."""
    cosines = query.closeness(chunks)
    cosines = np.where(np.isnan(cosines), -1.0, cosines)
    counts = query.term_counts(chunks)
    statistics = query.term_statistics
    rarity = idf(statistics)
    mentioned = ((counts.text > 0) | (counts.headings > 0)) * shares(rarity)
    lexical = bm25(counts, statistics, settings.words.bm25)
    titles = [page_of(uri) for uri in chunks]
    return {
        **of_words(query, counts, statistics, rarity, settings.words),
        **{name: walk.score(query, chunks) for name, walk in _walks(settings).items()},
        **of_links(query, chunks, titles, cosines, lexical, mentioned),
        **_of_places(chunks, titles, cosines),
    }, of_question(query, statistics, rarity)


def _of_places(chunks: Sequence[str], titles: Sequence[str], cosines: Floats) -> Signals:
    """Features (n,) of the positions, pages and adjacent chunks of n chunks on the pages ``titles`` (n,)."""
    n = len(chunks)
    numbers = []
    at: dict[tuple[str, int], int] = {}
    before, after = np.full(n, np.nan), np.full(n, np.nan)
    for row, uri in enumerate(chunks):
        section, mark, digits = uri.rpartition(CHUNK_MARK)
        number = int(digits) if mark and digits.isdecimal() else -1
        numbers.append(number)
        at[section if number >= 0 else uri, number] = row
    for (section, number), row in at.items():
        following = at.get((section, number + 1), -1) if number >= 0 else -1
        if following >= 0:
            after[row], before[following] = cosines[following], cosines[row]
    place = np.array(numbers, dtype=np.float64)
    return {
        **_of_pages(titles, cosines),
        "before": before,
        "after": after,
        "position": np.where(place < 0, np.nan, np.log(np.maximum(place, 1.0))),
        "depth": np.array([uri.count(SEPARATOR) - 1 for uri in chunks], dtype=np.float64),
    }


def _of_pages(pages: Sequence[str], cosines: Floats) -> Signals:
    """The best cosine among the other candidates on the same page, and the number of candidates on it."""
    numbers: dict[str, int] = {}
    page = np.array([numbers.setdefault(title, len(numbers)) for title in pages], dtype=np.int64)
    order = np.lexsort((-cosines, page))
    starts = np.searchsorted(page[order], np.arange(len(numbers)))
    count = np.bincount(page, minlength=len(numbers))
    best = cosines[order[starts]]
    second = np.where(count > 1, cosines[order[np.minimum(starts + 1, len(order) - 1)]], np.nan)
    return {
        "page_best": np.where(cosines == best[page], second[page], best[page]),
        "page_candidates": np.log1p(count[page]),
    }
