"""A view of a store extended by the chunks of live sources for one question, so that every retriever, signal and fusion
ranks both together.

A live chunk has vectors of itself, its sentences, its section and page, and its words are weighted with the statistics
of the collection. It has no links, so scores based on the graph are unknown (NaN): see :mod:`trivium.fusion.imputation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import dots
from trivium.embedding.embedder import Embedder
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import Allowed, ChunkFacts, Coded, matching
from trivium.graph.protocols import SearchStore
from trivium.graph.records import (
    ChunkRecord,
    Neighbour,
    Reached,
    SentenceVectors,
    Similarities,
    TermCounts,
    Vectors,
    rank_key,
)
from trivium.graph.schema import Hop, Label
from trivium.graph.store_view import StoreView
from trivium.graph.term_occurrences import count_terms
from trivium.graph.vector_search import of_nearest
from trivium.live.ask_sources import FoundDocument
from trivium.live.found_chunks import EmbeddedChunks, TextVectors, cut_chunks, embed_chunks
from trivium.retrievers.chunk_cache import joined, taken
from trivium.types import LiveOrigin


def live_view(
    store: SearchStore,
    documents: Sequence[FoundDocument],
    question: str,
    embedder: Embedder | None,
    known: TextVectors,
) -> SearchStore:
    """Return the store extended by the documents found, or the store itself if they contain nothing new. Without an
    embedder they can only be found by keyword search.
    """
    chunks = cut_chunks(documents, store)
    return LiveView(store, embed_chunks(chunks, question, embedder, known)) if chunks else store


def origins(store: SearchStore) -> Mapping[str, LiveOrigin]:
    """Return the origins of the live chunks in a view, by uri."""
    if not isinstance(store, LiveView):
        return {}
    return {chunk.record.uri: chunk.origin for chunk in store.live.chunks}


class LiveView(StoreView):
    """A :class:`~trivium.graph.protocols.SearchStore` with additional chunks of live sources."""

    def __init__(self, store: SearchStore, live: EmbeddedChunks) -> None:
        super().__init__(store)
        self.live = live

    @property
    def allowed(self) -> Allowed | None:
        """What the condition leaves of the store, and all live chunks, because non-matching ones have been removed."""
        limited = self._store.allowed if isinstance(self._store, StoreView) else None
        return None if limited is None else replace(limited, beside=frozenset(self.live.rows))

    def within(self, condition: Condition) -> SearchStore:
        """Apply a condition to both parts. For a live chunk the source is its address, and the modification date is its
        publication date.
        """
        order = sorted(self.live.rows)
        rows = np.array([self.live.rows[uri] for uri in order], dtype=np.int64)
        chunks = [self.live.chunks[row] for row in rows.tolist()]
        pages = list({chunk.page.uri: chunk.page for chunk in chunks}.values())
        facts = ChunkFacts(
            order,
            lambda: pages,
            lambda: (
                Coded.of([chunk.record.kind for chunk in chunks]),
                np.zeros((len(chunks), 2), dtype=np.int64),
            ),
        )
        kept = rows[matching(condition, facts)]
        limited = self._store.within(condition)
        return LiveView(limited, self.live.take(kept)) if len(kept) else limited

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        """Yield this view on one state of the store."""
        with self._store.pinned() as store:
            yield LiveView(store, self.live)

    # -- vectors -----------------------------------------------------------------------------------------------------

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        found = self._store.nearest(labels, vector, k, exact=exact)
        if Label.CHUNK not in labels:
            return found
        cosines = _cosines(self.live.vectors, vector)
        own = [Neighbour(uri, cosine) for uri, cosine in zip(self.live.rows, cosines.tolist(), strict=True)]
        return sorted([*found, *own], key=lambda near: rank_key(near.score, near.uri))[:k]

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]:
        found = self._store.expand_nearest(labels, vector, nodes, hop, limit, exact=exact)
        if hop is Hop.CITED_IN:
            return found
        own = self._reached(vector, hop)
        return of_nearest([*found, *own], nodes, limit)

    def _reached(self, vector: Vectors, hop: Hop) -> list[Reached]:
        live = self.live
        above = _cosines(live.pages if hop is Hop.BELOW else live.sections, vector).tolist()
        cosines = _cosines(live.vectors, vector).tolist()
        records = [chunk.record for chunk in live.chunks]
        return [
            Reached(
                record.uri,
                record.page if hop is Hop.BELOW else record.section,
                above[row],
                cosines[row],
                record.position,
            )
            for row, record in enumerate(records)
        ]

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        known, places, rows, others = self._split(chunks)
        found = self._store.similarities(vector, known)
        nothing = np.full(len(rows), np.nan)
        live = self.live
        own = (
            (found.chunk, _cosines(live.vectors[rows], vector)),
            (found.section, _cosines(live.sections[rows], vector)),
            (found.page, _cosines(live.pages[rows], vector)),
            (found.entity, nothing),
        )
        columns = []
        for of_store, of_live in own:
            column = np.full(len(chunks), np.nan)
            column[places], column[others] = of_store, of_live
            columns.append(column)
        return Similarities(*columns)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        if label is not Label.CHUNK:
            return self._store.vectors(label, uris)
        known, places, rows, others = self._split(uris)
        found = np.full((len(uris), self.live.vectors.shape[1]), np.nan, dtype=np.float32)
        if known:
            found[places] = self._store.vectors(label, known)
        found[others] = self.live.vectors[rows]
        return found

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        known, places, rows, others = self._split(chunks)
        found = self._store.sentence_vectors(known)
        none = found.codes[:0].reshape(0, self.live.vectors.shape[1]).astype(np.int8)
        parts = [none] * len(chunks)
        for number, place in enumerate(places.tolist()):
            parts[place] = found.codes[found.starts[number] : found.starts[number + 1]]
        # If the store has no sentence vectors, live chunks must not use theirs either; otherwise they would have an
        # advantage.
        if not known or len(found.codes):
            for row, place in zip(rows.tolist(), others.tolist(), strict=True):
                parts[place] = self.live.sentences[row]
        starts = np.cumsum([0, *map(len, parts)]).astype(np.int64)
        return SentenceVectors(np.concatenate([none, *parts]), starts)

    # -- keyword search -----------------------------------------------------------------------------------------------

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        asked = frozenset(terms)
        own = [
            chunk.record.uri
            for chunk in self.live.chunks
            if not asked.isdisjoint(chunk.terms.split()) or not asked.isdisjoint(chunk.heading_terms.split())
        ]
        return [*self._store.keyword_search(terms, k), *own]

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        known, places, rows, others = self._split(chunks)
        own = [self.live.chunks[row] for row in rows.tolist()]
        counts = joined(
            self._store.term_counts(known, terms),
            count_terms([chunk.terms for chunk in own], [chunk.heading_terms for chunk in own], terms),
        )
        return taken(counts, np.argsort(np.concatenate([places, others])).tolist())

    # -- the graph ---------------------------------------------------------------------------------------------------

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        known, places, rows, others = self._split(chunks)
        found = dict(zip(places.tolist(), self._store.fetch(known), strict=True))
        found |= {
            place: self.live.chunks[row].record
            for place, row in zip(others.tolist(), rows.tolist(), strict=True)
        }
        return [found[place] for place in range(len(chunks))]

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        found = self._store.cited(self._split(chunks)[0])
        return {uri: found.get(uri, []) for uri in chunks if uri in found or uri in self.live.rows}

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        found = self._store.cited_sections(self._split(chunks)[0])
        return {uri: found.get(uri, []) for uri in chunks if uri in found or uri in self.live.rows}

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        return self._store.thumbnails(self._split(chunks)[0])

    def _split(
        self, chunks: Sequence[str]
    ) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Split chunks: uris of the store's chunks and their places in the list, rows of the live chunks and their
        places.
        """
        rows = self.live.rows
        known = [(place, uri) for place, uri in enumerate(chunks) if uri not in rows]
        own = [(place, rows[uri]) for place, uri in enumerate(chunks) if uri in rows]
        return (
            [uri for _, uri in known],
            np.array([place for place, _ in known], dtype=np.int64),
            np.array([row for _, row in own], dtype=np.int64),
            np.array([place for place, _ in own], dtype=np.int64),
        )


def _cosines(vectors: Vectors, vector: Vectors) -> NDArray[np.float64]:
    return np.clip(dots(vectors, vector), -1.0, 1.0)
