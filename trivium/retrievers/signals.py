"""Additional features of a question's candidates, for trained fusions.

They are computed from the question, the words of the chunks, their uris and the links between them, without a
language model: how much of the question a candidate mentions, and how close together; which entities are named, what
they link to, and what linked candidates mention together; where the candidate stands on its page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from trivium.common.arrays import Floats, Integers, dots
from trivium.graph.records import TermCounts, TermStatistics
from trivium.graph.schema import CHUNK_MARK, SEPARATOR, page_of
from trivium.native.loops import loops
from trivium.retrievers.lexical import BM25Settings, bm25, idf
from trivium.retrievers.link_signals import of_links
from trivium.retrievers.query import Query
from trivium.retrievers.title_signals import numbered, of_titles
from trivium.retrievers.walk import WalkRetriever, WalkSettings


def windows(places: Integers, shares: Floats, chunks: int, widths: Integers) -> Floats:
    """Return, for each width (w,) and chunk (w, chunks), the largest sum of shares of distinct terms within a window of
    so many words, which is at least 1.

    ``shares`` (t,) are the terms' shares; ``places`` (o, 3) holds chunk, term and position of every occurrence,
    sorted.
    """
    best = np.zeros((len(widths), chunks))
    loops.windows(places, shares, widths, best)
    return best


def phrases(places: Integers, shares: Floats, steps: Integers, chunks: int, near: int) -> Floats:
    """Return four numbers per chunk (chunks, 4): the share of adjacent pairs of question terms that occur within
    ``near`` words of each other, the share that occurs exactly as in the question, the largest sum of shares in one
    phrase, and the position of the first occurrence, -1 if there is none.

    ``shares`` (t,) are those of the question's terms in its order; ``steps`` (t,) is the distance in words of each
    term from the previous one in the question. A pair weighs as much as its two terms. ``places`` as in
    :func:`windows`.
    """
    found = np.zeros((chunks, 4))
    loops.phrases(places, shares, steps, near, np.empty(len(places)), found)
    return found


@dataclass(frozen=True, slots=True)
class WordSettings:
    """``near``: maximum distance in words at which two adjacent words of the question still count as close in a text.
    ``windows``: widths in words within which the question's words are looked for together. ``bm25``: of the score of
    the text alone.
    """

    near: int = 4
    windows: tuple[int, ...] = (8, 16, 32, 64)
    bm25: BM25Settings = field(default_factory=BM25Settings)


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
    "sharing": "walk",
    "sharing_lexical": "walk",
    "sharing_coverage": "walk",
    "sharing_union": "walk",
    "sharing_gain": "walk",
    "sharing_rarity": "walk",
    "page_best": "page",
    "page_candidates": "page",
    "title_named": "page",
    "title_time": "page",
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


LINKED = "linked_candidates"
"""The feature of the question that says how far candidates link to each other, in [0, 1]: 1 where another one links to a
tenth of them or more.
"""

WALKS = ("walk_sharp", "walk_far", "walk_named")
PARTIAL = ("before", "after", "linking", "linked", "union", "sharing", "page_best")
"""Signals that may be NaN for some candidates, one of each group that is NaN for the same candidates."""

Signals = dict[str, Floats]

_ASKING = re.compile(
    r"\W*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|has|have|had)\b",
    re.IGNORECASE,
)
"""Matches the beginning of a question, as opposed to keywords."""


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
    mentioned = ((counts.text > 0) | (counts.headings > 0)) * _shares(rarity)
    lexical = bm25(counts, statistics, settings.words.bm25)
    titles = [page_of(uri) for uri in chunks]
    links = of_links(query, chunks, titles, cosines, lexical, mentioned)
    return {
        **_of_words(query, counts, statistics, rarity, settings.words),
        **{name: walk.score(query, chunks) for name, walk in _walks(settings).items()},
        **links,
        **_of_places(chunks, titles, cosines),
        **of_titles(query.text, titles),
    }, {**_of_question(query, statistics, rarity), LINKED: linked_candidates(links["linking"])}


def linked_candidates(linking: Floats) -> float:
    """Return :data:`LINKED` of candidates from that of their signals (n,) which is NaN where no other links to one.

    >>> linked_candidates(np.array([0.4, *[np.nan] * 31])), linked_candidates(np.array([0.4, 0.3, np.nan]))
    (0.3125, 1.0)
    """
    return min(1.0, 10 * (1 - float(np.isnan(linking).mean())))


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
    distinct, page = numbered(pages)
    order = np.lexsort((-cosines, page))
    starts = np.searchsorted(page[order], np.arange(len(distinct)))
    count = np.bincount(page, minlength=len(distinct))
    best = cosines[order[starts]]
    second = np.where(count > 1, cosines[order[np.minimum(starts + 1, len(order) - 1)]], np.nan)
    return {
        "page_best": np.where(cosines == best[page], second[page], best[page]),
        "page_candidates": np.log1p(count[page]),
    }


def _of_words(
    query: Query, counts: TermCounts, statistics: TermStatistics, rarity: Floats, settings: WordSettings
) -> dict[str, Floats]:
    """Return how much of the question, weighted by the ``rarity`` of its terms (t,), a chunk and its headings mention,
    and how close together.
    """
    share = _shares(rarity)
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


def _of_question(query: Query, statistics: TermStatistics, rarity: Floats) -> dict[str, float]:
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


def _shares(rarity: Floats) -> Floats:
    """Return each term's share (t,) of the total rarity."""
    total = float(rarity.sum())
    return rarity / total if total else rarity


def _steps(query: Query) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the distance in words of each question term from the previous one in the question."""
    places = query.analyzer.places(query.text)
    own = np.array([0, *(places[term] for term in query.terms)], dtype=np.int64)
    return own[1:] - own[:-1]
