"""A question under way, and what a retriever is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.common.memo import Memo
from trivium.errors import ConfigurationError, InputError
from trivium.graph.allowed import Allowed
from trivium.graph.nearness import leading
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
from trivium.graph.view import StoreView
from trivium.languages import Analyzer, StoreLanguages
from trivium.parser.gazetteer import find_names
from trivium.retrievers.closeness import KnownSentences, closeness
from trivium.retrievers.counts import KnownCounts
from trivium.types import SourceNode

PREFETCHED = {Label.CHUNK: 50}
"""How many neighbours of a label are asked for at least, because some retriever will want them."""
PREFETCHED_OTHERS = 10

Method = Literal["solve", "power"]
"""How PageRank is worked out on a dense graph: in closed form or by iteration."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk some retriever proposes; higher scores are better. ``source_node`` is what led there: the
    uri of a page, a section or an entity, a path through the graph, empty when the chunk was found by itself."""

    uri: str
    score: float
    source_node: SourceNode = ""


class Query:
    """One question on one store: embedded once, and what several retrievers need is asked for once.

    ``vector`` is a unit vector (d,), or what makes it when somebody first asks for it: what needs no vector does not wait
    for it. ``embed_picture`` gives what the retriever ``image`` compares pictures with: a unit vector of the store's
    image embedder. ``exact`` asks for exact instead of approximate vector search.
    Several threads may work on one query. It belongs to one state of the store: make a new one for the next
    question. Raises InputError for a vector of another shape.
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
        """What ``make`` answers, made once per key; see :class:`~trivium.common.memo.Memo`. A key must determine its
        answer: retrievers use themselves (they are frozen) or themselves and the arguments."""
        return self._memo.of(key, make)

    @property
    def allowed(self) -> Allowed | None:
        """Which chunks may be found; None where no condition limits the question."""
        if not isinstance(self.store, StoreView):
            return None
        limited = self.store
        return self.memoize("allowed", lambda: limited.allowed)

    @cached_property
    def terms(self) -> list[str]:
        """Distinct search terms of the question, in order, without function words."""
        analyzer = self.analyzer
        if len(analyzer.languages) == 1:
            return analyzer.question_terms(self.text)
        groups = analyzer.question_groups(self.text)
        asked = [term for group in groups for term in group]
        if not asked:
            return []
        found = self.store.term_statistics(asked).document_frequency.tolist()
        occurring = {term for term, count in zip(asked, found, strict=True) if count > 0}
        # Of a word's stems in several languages those that occur; one that does not would pass for a rare word.
        kept = ([term for term in group if term in occurring] or group[:1] for group in groups)
        return [term for group in kept for term in group]

    @property
    def analyzer(self) -> Analyzer:
        """How words become search terms in the languages of the store."""
        return self.memoize("analyzer", lambda: StoreLanguages.read(self.store.languages).analyzer)

    def term_counts(self, chunks: Sequence[str]) -> TermCounts:
        """How often and where the question's terms occur in chunks; the store is asked once a chunk."""
        return self.memoize("term_counts", lambda: KnownCounts(self.store, self.terms)).of(chunks)

    def chunk_rows(self, chunks: Sequence[str]) -> NDArray[np.int64]:
        """Rows of chunks in the graph that the walk runs on (n,), -1 where they are not in it; found once for the same
        chunks."""
        asked = tuple(chunks)
        rows = self.adjacency.chunk_rows
        return self.memoize(
            ("chunk_rows", asked), lambda: np.array([rows.get(uri, -1) for uri in asked], dtype=np.int64)
        )

    @property
    def term_statistics(self) -> TermStatistics:
        """What the corpus knows of the question's terms."""
        return self.memoize("term_statistics", lambda: self.store.term_statistics(self.terms))

    @property
    def adjacency(self) -> Adjacency:
        """The graph that the walk runs on, as it was when first asked for: rows of one graph mean nothing in another, and
        somebody may write to the store meanwhile."""
        return self.memoize("adjacency", self.store.adjacency)

    @property
    def named_entities(self) -> list[str]:
        """Uris of the entities the question names, distinct, in order of appearance."""
        return self.memoize("named_entities", self._find_named_entities)

    def _find_named_entities(self) -> list[str]:
        mentions = find_names(self.text, self.store.lookup_names)
        return list(dict.fromkeys(mention.target for mention in mentions))

    def nearest(self, label: Label, k: int) -> list[Neighbour]:
        """The k nearest nodes of a label. The store is asked once a label unless more than foreseen
        (:data:`PREFETCHED`) are wanted."""
        asked = max(k, PREFETCHED.get(label, PREFETCHED_OTHERS))
        found = self.memoize(
            ("nearest", label, asked),
            lambda: self.store.nearest([label], self.vector, asked, exact=self.exact),
        )
        return found[:k]

    def closest_chunks(self, k: int) -> list[Neighbour]:
        """The k chunks of the highest closeness among the nearest (:data:`PREFETCHED`, or k if that is more)."""
        asked = max(k, PREFETCHED[Label.CHUNK])
        return self.memoize(("closest", asked), lambda: self._find_closest(asked))[:k]

    def _find_closest(self, asked: int) -> list[Neighbour]:
        near = self.nearest(Label.CHUNK, asked)
        uris = [neighbour.uri for neighbour in near]
        cosines = np.array([neighbour.score for neighbour in near])
        close = closeness(cosines, self._sentences.best(uris))
        return [Neighbour(uris[row], float(close[row])) for row in best_rows(close, uris, len(uris))]

    def closeness(self, chunks: Sequence[str]) -> Floats:
        """How close chunks (n,) are: :func:`~trivium.retrievers.closeness.closeness`."""
        return closeness(self.similarities(chunks).chunk, self._sentences.best(chunks))

    @property
    def _sentences(self) -> KnownSentences:
        return self.memoize("sentences", lambda: KnownSentences(self.store, self.vector))

    def similarities(self, chunks: Sequence[str]) -> Similarities:
        """Cosines of chunks in every view; asked once for the same chunks."""
        asked = tuple(chunks)
        return self.memoize(("similarities", asked), lambda: self.store.similarities(self.vector, asked))


def _checked(vector: Vectors) -> Vectors:
    if vector.ndim != 1:
        raise InputError(f"a query vector must be 1-D, got shape {vector.shape}")
    return vector


class Retriever(Protocol):
    """One view of relevance."""

    @property
    def name(self) -> str: ...

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        """Ranked chunks. ``depth`` is how many at most; None means the retriever's own default. What does not fulfil the
        condition of a question is left out afterwards."""
        ...

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        """This view's true score of any chunks (n,), NaN where it has none (*complete scoring*)."""
        ...


def ranked(candidates: Sequence[Candidate], depth: int | None) -> list[Candidate]:
    """Best first, ties by uri, cut to depth."""
    ordered = sorted(candidates, key=lambda c: rank_key(c.score, c.uri))
    return ordered if depth is None else ordered[:depth]


def best_rows(scores: Floats, uris: Sequence[str], k: int) -> list[int]:
    """Rows of the k highest scores, in the order of :func:`~trivium.graph.records.rank_key`. Scores are not NaN."""
    rows = leading(scores, k)
    rounded = round_scores(scores[rows]).tolist()
    ranked = sorted(zip(rounded, rows.tolist(), strict=True), key=lambda pair: (-pair[0], uris[pair[1]]))
    return [row for _, row in ranked[:k]]


def best_in_order(scores: Floats, k: int) -> list[int]:
    """:func:`best_rows` where the rows are in the order of their uris."""
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
    """What page, section and entity do: chunks along ``hop`` from the ``nodes`` nearest nodes, in one round trip. A chunk
    has the score of its best node; ties (all chunks of one page share a score) go by its own cosine, then position,
    then uri."""
    check_depth(depth)
    found = query.store.expand_nearest(labels, query.vector, nodes, hop, depth, exact=query.exact)
    return [Candidate(chunk.uri, chunk.score, chunk.source_node) for chunk in found]
