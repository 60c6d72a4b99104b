"""Reads of several stores as of one: what belongs to a page is asked of the store that has it, what may be in several
is merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from heapq import merge
from itertools import chain, islice
from typing import Protocol, Self, TypeVar

import numpy as np

from trivium.graph.filters import Condition
from trivium.graph.model import PageGraph, RelationEdge
from trivium.graph.pictures import PictureVectors
from trivium.graph.protocols import GraphStore
from trivium.graph.records import (
    Adjacency,
    ChunkRecord,
    Neighbour,
    PageRecord,
    Reached,
    SentenceVectors,
    Similarities,
    TermCounts,
    TermStatistics,
    Vectors,
)
from trivium.graph.schema import Hop, Label, page_of, page_uri, unescape
from trivium.graph.sharded import names, searches
from trivium.graph.sharded.joined import JoinedState
from trivium.graph.within import Within
from trivium.languages import StoreLanguages
from trivium.types import EmbedderIdentity

T = TypeVar("T")


class Shard(GraphStore, Protocol):
    """A store of which a fixed state can be opened."""

    @property
    def state(self) -> str: ...

    def frozen(self, readers: int) -> Self: ...

    def pinned(self) -> AbstractContextManager[Self]: ...

    def within(self, condition: Condition) -> Within: ...


class States:
    """The last state that several stores had together."""

    def __init__(self) -> None:
        self._last: JoinedState | None = None

    def of(self, shards: Sequence[Shard]) -> JoinedState:
        """Return the present state, with what is known of it already."""
        keys, last = tuple(shard.state for shard in shards), self._last
        if last is None or last.keys != keys:
            graphs = [shard.adjacency() for shard in shards]
            last = self._last = JoinedState(keys, graphs, [shard.location for shard in shards], last)
        return last


class ShardedReads:
    """The reading half of :class:`~trivium.graph.sharded.store.ShardedStore`. ``fixed`` says that the shards do not
    change.
    """

    def __init__(self, shards: Sequence[Shard], states: States, *, fixed: bool) -> None:
        self._shards = tuple(shards)
        self._states = states
        self._fixed = fixed
        self._own: JoinedState | None = None

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The stores."""
        return self._shards

    # -- where things are ------------------------------------------------------------------------------------------

    def _state(self) -> JoinedState:
        state = self._own if self._own is not None else self._states.of(self._shards)
        if self._fixed:
            self._own = state
        return state

    def _homes(self, uris: Sequence[str]) -> list[int]:
        """Return the number of the store in which the page of each uri is, 0 if it is unknown."""
        if len(self._shards) == 1:
            return [0] * len(uris)
        state, pages = self._state(), [page_of(uri) for uri in uris]
        known = {page: state.shard_of(page) for page in dict.fromkeys(pages)}
        lost = [page for page, number in known.items() if number < 0]
        if lost:  # they have no chunks
            for number, shard in enumerate(self._shards):
                known.update(dict.fromkeys(shard.find_pages(lost), number))
        return [max(0, known[page]) for page in pages]

    def _split(self, uris: Sequence[str]) -> Iterator[tuple[Shard, list[int], list[str]]]:
        """Yield each store that pages of the uris are in, with the places of these uris, and the uris."""
        homes = self._homes(uris)
        for number in sorted(set(homes)):
            places = [place for place, home in enumerate(homes) if home == number]
            yield self._shards[number], places, [uris[place] for place in places]

    # -- the graph -------------------------------------------------------------------------------------------------

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        return searches.outline(self._shards, pages)

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        return searches.expand(self._shards, uris, hop)

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        found = _united(shard.cited(some) for shard, _, some in self._split(chunks))
        return {chunk: found[chunk] for chunk in chunks}

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return names.cited_sections(self, chunks)

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        records = {
            record.uri: record for shard, _, some in self._split(chunks) for record in shard.fetch(some)
        }
        return [records[uri] for uri in chunks]

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        found = _united(shard.thumbnails(some) for shard, _, some in self._split(chunks))
        return {chunk: found[chunk] for chunk in chunks if chunk in found}

    def page_text(self, page: str) -> str:
        return self._shards[self._homes([page])[0]].page_text(page)

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        return names.resolve(self._shards, titles)

    def lookup_names(self, names_: Sequence[str]) -> dict[str, str]:
        return names.lookup_names(self._shards, names_)

    def names(self) -> Iterator[tuple[str, str]]:
        """See the protocol. By page: its title first, then its aliases sorted by uri."""
        held = self._held_aliases()
        every = merge(*(shard.names() for shard in self._shards), key=lambda name: name[1])
        return (
            (title, page)
            for title, page in every
            if page_uri(title) == page or held.get(page_uri(title)) == page
        )

    def _held_aliases(self) -> Mapping[str, str]:
        """Map aliases to the pages that hold them: none is the title of a page, whichever shard that is in."""
        state = self._state()
        if state.aliases is None:
            claimed = {page_uri(alias) for shard in self._shards for alias in shard.aliases()}
            stand_for = self.resolve(sorted(claimed))
            state.aliases = {alias: page for alias, page in stand_for.items() if alias != page}
        return state.aliases

    def names_like(self, forms: Sequence[str]) -> Iterable[tuple[str, str]]:
        return list(chain.from_iterable(shard.names_like(forms) for shard in self._shards))

    def aliases(self) -> list[str]:
        return [unescape(alias) for alias in sorted(self._held_aliases())]

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        found = {edge for shard in self._shards for edge in shard.relations(entities)}
        return sorted(found, key=lambda edge: (edge.source, edge.type, edge.target))

    def adjacency(self) -> Adjacency:
        """See the protocol. Raises StoreError if two shards have the same document."""
        return self._shards[0].adjacency() if len(self._shards) == 1 else self._state().adjacency

    def chunk_uris(self) -> list[str]:
        return searches.by_page([shard.chunk_uris() for shard in self._shards])

    # -- vectors ---------------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return _first(shard.embedder for shard in self._shards)

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        return searches.nearest(self._shards, labels, vector, k, exact=exact)

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
        return searches.expand_nearest(self._shards, labels, vector, nodes, hop, limit, exact=exact)

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        views = np.full((4, len(chunks)), np.nan)
        for shard, places, some in self._split(chunks):
            found = shard.similarities(vector, some)
            views[:, places] = found.chunk, found.section, found.page, found.entity
        return Similarities(*views)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        if label is Label.ENTITY:
            return _first_rows([shard.vectors(label, uris) for shard in self._shards])
        rows = self._empty(len(uris))
        for shard, places, some in self._split(uris):
            found = shard.vectors(label, some)
            if found.shape[1]:
                rows[places] = found
        return rows

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        return _first_rows([shard.relation_vectors(types) for shard in self._shards])

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        none = np.empty((0, self._dimension), dtype=np.int8)
        parts = [none] * len(chunks)
        for shard, places, some in self._split(chunks):
            found = shard.sentence_vectors(some)
            for place, first, last in zip(places, found.starts[:-1], found.starts[1:], strict=True):
                if last > first:
                    parts[place] = found.codes[first:last]
        starts = np.cumsum([0, *map(len, parts)]).astype(np.int64)
        return SentenceVectors(np.concatenate([none, *parts]), starts)

    @property
    def image_embedder(self) -> EmbedderIdentity | None:
        return _first(shard.image_embedder for shard in self._shards)

    def picture_vectors(self) -> PictureVectors:
        state, parts = self._state(), [shard.picture_vectors() for shard in self._shards]
        known = state.pictures
        if known is not None and all(one is other for one, other in zip(known[0], parts, strict=True)):
            return known[1]
        some = [part for part in parts if part.uris]
        if len(some) <= 1:
            return some[0] if some else parts[0]
        uris = [uri for part in some for uri in part.uris]
        order = sorted(range(len(uris)), key=uris.__getitem__)
        whole = PictureVectors(
            tuple(uris[row] for row in order), np.concatenate([part.vectors for part in some])[order]
        )
        state.pictures = parts, whole
        return whole

    @property
    def _dimension(self) -> int:
        embedder = self.embedder
        return 0 if embedder is None else embedder.dimension

    def _empty(self, count: int) -> Vectors:
        return np.full((count, self._dimension), np.nan, dtype=np.float32)

    # -- words -----------------------------------------------------------------------------------------------------

    @property
    def languages(self) -> str | None:
        """See the protocol. Those of all shards: words are looked up as each shard has stemmed them."""
        kept = list(dict.fromkeys(shard.languages for shard in self._shards))
        if len(kept) == 1:
            return kept[0]
        each = [StoreLanguages.read(one) for one in kept]
        codes = dict.fromkeys(code for one in each for code in one.codes)
        return str(
            StoreLanguages(
                tuple(codes), any(one.detect for one in each), any(one.any_embedder for one in each)
            )
        )

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        wanted = list(dict.fromkeys(terms))
        return searches.keyword_search(self._shards, wanted, k, self.term_statistics(wanted))

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        text, headings = np.zeros((2, len(chunks), len(terms)))
        text_length, headings_length = np.zeros((2, len(chunks)))
        occurrences = [np.empty((0, 3), dtype=np.int64)]
        for shard, places, some in self._split(chunks):
            found = shard.term_counts(some, terms)
            text[places], headings[places] = found.text, found.headings
            text_length[places], headings_length[places] = found.text_length, found.headings_length
            own = found.places.copy()
            own[:, 0] = np.array(places, dtype=np.int64)[own[:, 0]]
            occurrences.append(own)
        joined = np.concatenate(occurrences)
        order = np.argsort(joined[:, 0], kind="stable")
        return TermCounts(text, headings, text_length, headings_length, joined[order])

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        parts = [shard.term_statistics(terms) for shard in self._shards]
        chunks = sum(part.chunks for part in parts)
        # The sums are whole numbers of terms, so that the mean is that of one store to the last bit.
        total = sum(round(part.chunks * part.mean_length) for part in parts)
        frequency = np.sum([part.document_frequency for part in parts], axis=0)
        return TermStatistics(chunks, total / max(1, chunks), frequency)

    # -- pages -----------------------------------------------------------------------------------------------------

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        found = merge(*(shard.pages(after, limit) for shard in self._shards), key=lambda page: page.uri)
        return list(islice(found, None if limit is None else max(limit, 0)))

    def page_sources(self) -> list[tuple[str, str]]:
        return list(merge(*(shard.page_sources() for shard in self._shards)))

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]:
        found = _united(shard.find_pages(uris) for shard in self._shards)
        return {uri: found[uri] for uri in uris if uri in found}

    def pages_with_words(self, names: Sequence[str], *, source: str = "", mark: str = "") -> list[PageRecord]:
        return _by_uri(shard.pages_with_words(names, source=source, mark=mark) for shard in self._shards)

    def pages_at(self, paths: Sequence[str]) -> list[PageRecord]:
        return _by_uri(shard.pages_at(paths) for shard in self._shards)

    def pages_of_files(self, names: Sequence[str]) -> list[PageRecord]:
        return _by_uri(shard.pages_of_files(names) for shard in self._shards)

    def unlinked_pages(self) -> list[str]:
        return sorted(chain.from_iterable(shard.unlinked_pages() for shard in self._shards))

    @property
    def links_pending(self) -> bool:
        return any(shard.links_pending for shard in self._shards)

    def count_pages(self, after: str | None = None) -> int:
        return sum(shard.count_pages(after) for shard in self._shards)

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        if uris is None:
            return merge(*(shard.page_graphs() for shard in self._shards), key=lambda page: page.uri)
        return self._named_graphs(uris)

    def _named_graphs(self, uris: Sequence[str]) -> Iterator[PageGraph]:
        found = {page.uri: page for shard, _, some in self._split(uris) for page in shard.page_graphs(some)}
        yield from (found[uri] for uri in uris if uri in found)

    def types(self) -> dict[str, str]:
        return dict(sorted(_united(shard.types() for shard in reversed(self._shards)).items()))


def _united(parts: Iterable[Mapping[str, T]]) -> dict[str, T]:
    found: dict[str, T] = {}
    for part in parts:
        found.update(part)
    return found


def _by_uri(lists: Iterable[list[PageRecord]]) -> list[PageRecord]:
    return sorted(chain.from_iterable(lists), key=lambda page: page.uri)


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _first_rows(parts: Sequence[Vectors]) -> Vectors:
    """Return for each row the one of the first part that has one. Parts of stores without an embedder have no columns."""
    some = [part for part in parts if part.shape[1]]
    if not some:
        return parts[0]
    rows = some[0].copy()
    for part in some[1:]:
        missing = np.isnan(rows[:, 0])
        rows[missing] = part[missing]
    return rows
