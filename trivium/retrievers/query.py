"""The query under way and the retriever protocol."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.common.cache import Memo
from trivium.errors import ConfigurationError, InputError
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import Allowed
from trivium.graph.protocols import SearchStore
from trivium.graph.records import (
    Adjacency,
    Floats,
    Neighbour,
    Similarities,
    TermCounts,
    TermStatistics,
    Vectors,
    rank_key,
    round_scores,
)
from trivium.graph.schema import Hop, Label
from trivium.graph.store_view import StoreView
from trivium.graph.string_table import rows_of
from trivium.graph.vector_search import leading
from trivium.parser.gazetteer import find_names
from trivium.retrievers.chunk_cache import KnownCounts, KnownSentences, closeness
from trivium.text.languages import Analyzer, StoreLanguages, Word
from trivium.types import SourceNode

PREFETCHED = {Label.CHUNK: 50}
"""Minimum number of neighbours fetched per label, because some retriever will need them."""
PREFETCHED_OTHERS = 10

Method = Literal["solve", "power"]
"""How PageRank is computed on a dense graph: in closed form or by power iteration."""

T = TypeVar("T")


class Candidate(NamedTuple):
    """A chunk proposed by a retriever; higher scores are better. ``source_node`` is what led to the chunk: the uri of
    a page, section or entity, a path through the graph, or empty when the chunk was found directly.
    """

    uri: str
    score: float
    source_node: SourceNode = ""


class Query:
    """One question on one store. The question is embedded once, and data shared by several retrievers is fetched
    once.

    - ``vector``: a unit vector (d,), or a function that returns it, called on first use so that retrievers without
      vectors need not wait for it.
    - ``embed_picture``: returns a unit vector of the store's image embedder, which the retriever ``image`` compares
      with pictures.
    - ``exact``: use exact instead of approximate vector search.

    Thread-safe. A query belongs to one snapshot of the store: create a new one for the next question. Raises
    InputError for a vector that is not 1-D.
    """

    def __init__(
        self,
        text: str,
        vector: Vectors | Callable[[], Vectors],
        store: SearchStore,
        exact: bool = False,
        embed_picture: Callable[[], Vectors] | None = None,
    ) -> None:
        self.text = text
        self.store = store
        self.exact = exact
        self.embed_picture = embed_picture
        self._embed = vector if callable(vector) else partial(np.asarray, _checked(vector))
        self._memo = Memo()

    @property
    def vector(self) -> Vectors:
        """The question as a unit vector (d,)."""
        return self.memoize("vector", lambda: _checked(self._embed()))

    def memoize(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return ``make()``, computed once per key; see :class:`~trivium.common.cache.Memo`. A key must determine the
        result: retrievers, which are frozen, use themselves or a tuple of themselves and the arguments.
        """
        return self._memo.of(key, make)

    @property
    def allowed(self) -> Allowed | None:
        """The chunks that match the question's condition; None without a condition."""
        if not isinstance(self.store, StoreView):
            return None
        limited = self.store
        return self.memoize("allowed", lambda: limited.allowed)

    def within(self, condition: Condition) -> Query:
        """Return the same question on what matches a condition, too."""
        return Query(
            self.text, lambda: self.vector, self.store.within(condition), self.exact, self.embed_picture
        )

    @cached_property
    def terms(self) -> list[str]:
        """Distinct search terms of the question, in order, without function words, and those of further spellings that
        other passages have.
        """
        words, asked = self._words, self._spellings
        if not asked:
            return [term for word in words for term in word.main]
        several = len(self.analyzer.languages) > 1
        found = dict(zip(asked, self._spelling_statistics.document_frequency.tolist(), strict=True))
        kept: dict[str, None] = {}
        for word in words:
            # A stem of another language, or a form that the store has not, would look like a rare word.
            own = [term for term in word.main if found[term] > 0] if several or word.joined else word.main
            kept.update(dict.fromkeys(own or (() if word.joined else word.main[:1])))
            *others, exact = word.further or ("",)
            written = found.get(exact, 0)
            kept.update(dict.fromkeys(term for term in others if found[term] > written))
            if 0 < written < max(found[term] for term in word.main):
                kept[exact] = None
        return list(kept)

    @cached_property
    def _words(self) -> list[Word]:
        return self.analyzer.question_words(self.text)

    @cached_property
    def _spellings(self) -> list[str]:
        """All terms by which the question's words may be found; empty if each word has one."""
        several = len(self.analyzer.languages) > 1
        if not several and not any(word.joined or word.further for word in self._words):
            return []
        return list(dict.fromkeys(term for word in self._words for term in (*word.main, *word.further)))

    @cached_property
    def _spelling_statistics(self) -> TermStatistics:
        return self.store.term_statistics(self._spellings)

    @property
    def analyzer(self) -> Analyzer:
        """Converts words to search terms in the languages of the store."""
        return self.memoize("analyzer", lambda: StoreLanguages.read(self.store.languages).analyzer)

    def term_counts(self, chunks: Sequence[str]) -> TermCounts:
        """Return how often and where the question's terms occur in chunks. The store is asked at most once per chunk."""
        return self.memoize("term_counts", lambda: KnownCounts(self.store, self.terms)).of(chunks)

    def chunk_rows(self, chunks: Sequence[str]) -> NDArray[np.int64]:
        """Return the rows of chunks (n,) in the graph of the walk, -1 for chunks that are not in it. Cached per
        sequence of chunks.
        """
        asked = tuple(chunks)
        return self.memoize(("chunk_rows", asked), lambda: rows_of(self.adjacency.chunk_rows, asked))

    @property
    def term_statistics(self) -> TermStatistics:
        """Corpus statistics of the question's terms."""
        return self.memoize("term_statistics", self._read_term_statistics)

    def _read_term_statistics(self) -> TermStatistics:
        if not self._spellings:
            return self.store.term_statistics(self.terms)
        places = {term: place for place, term in enumerate(self._spellings)}
        known = self._spelling_statistics
        return replace(known, document_frequency=known.document_frequency[[places[t] for t in self.terms]])

    @property
    def adjacency(self) -> Adjacency:
        """The graph of the walk, as of its first use. Row numbers are valid for one graph only, and the store may be
        written to meanwhile.
        """
        return self.memoize("adjacency", self.store.adjacency)

    @property
    def named_entities(self) -> list[str]:
        """Uris of the entities named in the question, distinct, in order of appearance."""
        return self.memoize("named_entities", self._find_named_entities)

    @property
    def named_rows(self) -> NDArray[np.int64]:
        """The numbers (n,) of the named entities among the entities of the graph of the walk, in order of appearance.
        Entities that are not in it are left out.
        """

        def find() -> NDArray[np.int64]:
            found = rows_of(self.adjacency.entity_rows, self.named_entities)
            return found[found >= 0]

        return self.memoize("named_rows", find)

    def _find_named_entities(self) -> list[str]:
        mentions = find_names(self.text, self.store.lookup_names)
        if self.adjacency.names and self.text[1:] != self.text[1:].lower():
            # Who writes names with capitals does not mean the name "County" of a text by "county".
            mentions = [m for m in mentions if not self.text[m.start].islower() or self._has_page(m.target)]
        return list(dict.fromkeys(mention.target for mention in mentions))

    def _has_page(self, entity: str) -> bool:
        row = self.adjacency.entity_rows.get(entity, -1)
        return row < 0 or not self.adjacency.are_names(np.array([row]))[0]

    def nearest(self, label: Label, k: int) -> list[Neighbour]:
        """Return the k nearest nodes of a label. The store is asked once per label unless k exceeds the number
        prefetched (:data:`PREFETCHED`).
        """
        asked = max(k, PREFETCHED.get(label, PREFETCHED_OTHERS))
        found = self.memoize(
            ("nearest", label, asked),
            lambda: self.store.nearest([label], self.vector, asked, exact=self.exact),
        )
        return found[:k]

    def closest_chunks(self, k: int) -> list[Neighbour]:
        """Return the k chunks of highest closeness among the nearest ones (:data:`PREFETCHED`, or k if larger)."""
        asked = max(k, PREFETCHED[Label.CHUNK])
        return self.memoize(("closest", asked), lambda: self._find_closest(asked))[:k]

    def _find_closest(self, asked: int) -> list[Neighbour]:
        near = self.nearest(Label.CHUNK, asked)
        uris = [neighbour.uri for neighbour in near]
        cosines = np.array([neighbour.score for neighbour in near])
        close = closeness(cosines, self._sentences.best(uris))
        return [Neighbour(uris[row], float(close[row])) for row in best_rows(close, uris, len(uris))]

    def closeness(self, chunks: Sequence[str]) -> Floats:
        """Return the closeness of chunks (n,); see :func:`~trivium.retrievers.chunk_cache.closeness`."""
        return closeness(self.similarities(chunks).chunk, self._sentences.best(chunks))

    @property
    def _sentences(self) -> KnownSentences:
        return self.memoize("sentences", lambda: KnownSentences(self.store, self.vector))

    def similarities(self, chunks: Sequence[str]) -> Similarities:
        """Return the cosines of chunks, of their sections, pages and entities. Cached per sequence of chunks."""
        asked = tuple(chunks)
        return self.memoize(("similarities", asked), lambda: self.store.similarities(self.vector, asked))


def _checked(vector: Vectors) -> Vectors:
    if vector.ndim != 1:
        raise InputError(f"a query vector must be 1-D, got shape {vector.shape}")
    return vector


class Retriever(Protocol):
    """One measure of relevance, used to find chunks and to score them."""

    @property
    def name(self) -> str: ...

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        """Return chunks, best first, at most ``depth`` of them (None: the retriever's own default). Chunks that do
        not match the question's condition are removed by the caller.
        """
        ...

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        """Return the retriever's true score of any chunks (n,), NaN where it has none (*complete scoring*)."""
        ...


def ranked(candidates: Sequence[Candidate], depth: int | None) -> list[Candidate]:
    """Sort candidates best first, ties by uri, and keep the first ``depth``."""
    ordered = sorted(candidates, key=lambda c: rank_key(c.score, c.uri))
    return ordered if depth is None else ordered[:depth]


def best_rows(scores: Floats, uris: Sequence[str], k: int) -> list[int]:
    """Return the rows of the k highest scores, ordered by :func:`~trivium.graph.records.rank_key`. Scores must not be
    NaN.
    """
    rows = leading(scores, k)
    rounded = round_scores(scores[rows]).tolist()
    ranked = sorted(zip(rounded, rows.tolist(), strict=True), key=lambda pair: (-pair[0], uris[pair[1]]))
    return [row for _, row in ranked[:k]]


def best_in_order(scores: Floats, k: int) -> list[int]:
    """Like :func:`best_rows`, for rows that are already sorted by uri."""
    rows = leading(scores, k)
    order = np.argsort(-round_scores(scores[rows]), kind="stable")[:k]
    return [int(row) for row in rows[order]]


def check_counts(settings: str, **counts: int) -> None:
    """Raise ConfigurationError unless every count is at least 1."""
    for field_name, count in counts.items():
        if count < 1:
            raise ConfigurationError(f"{settings}.{field_name} must be at least 1, got {count}")


def check_depth(depth: int | None) -> None:
    """Raise InputError unless depth is None or at least 1."""
    if depth is not None and depth < 1:
        raise InputError(f"depth must be at least 1 (or None for the retriever's own), got {depth}")


def check_damping(name: str, damping: float) -> None:
    """Raise ConfigurationError unless 0 <= damping < 1."""
    if not 0 <= damping < 1:
        raise ConfigurationError(f"{name} must be in [0, 1), got {damping}")


def reached(
    query: Query, labels: Sequence[Label], nodes: int, hop: Hop, depth: int | None
) -> list[Candidate]:
    """Return the chunks along ``hop`` from the ``nodes`` nearest nodes, in one round trip. Used by the retrievers
    ``page``, ``section`` and ``entity``.

    A chunk has the score of its best node. Ties are common, since all chunks of a page share its score; they are
    ordered by the chunk's own cosine, then position, then uri.
    """
    check_depth(depth)
    found = query.store.expand_nearest(labels, query.vector, nodes, hop, depth, exact=query.exact)
    return [Candidate(chunk.uri, chunk.score, chunk.source_node) for chunk in found]
