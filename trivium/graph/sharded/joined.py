"""The nodes of several stores as those of one: where each is, and the graph of the walk over all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from trivium.common.cache import LruCache
from trivium.errors import StoreError
from trivium.graph.allowed import Allowed
from trivium.graph.arrays import Rows
from trivium.graph.filters import Condition
from trivium.graph.pictures import PictureVectors
from trivium.graph.records import Adjacency
from trivium.graph.schema import page_of
from trivium.graph.string_table import StringTable, table_of

T = TypeVar("T")
Places = NDArray[np.int32]

_PAGES = 100_000
"""Pages of which is remembered where they are; then all are dropped."""
_CONDITIONS = 16


class JoinedStrings(Sequence[str]):
    """The distinct strings of several sorted tables, sorted, without a copy of them.

    >>> joined = JoinedStrings([StringTable.of(["a", "c"]), StringTable.of(["b", "c"])])
    >>> list(joined), [places.tolist() for places in joined.places]
    (['a', 'b', 'c'], [[0, 2], [1, 2]])
    """

    def __init__(self, tables: Sequence[StringTable], before: JoinedStrings | None = None) -> None:
        """``before`` has the same number of tables. How those of them that are the same stand to one another is known."""
        from trivium.graph.sharded.string_order import places_between  # loads numba

        self.tables: Sequence[StringTable] = tables
        kept = (
            [] if before is None else [one is other for one, other in zip(before.tables, tables, strict=True)]
        )
        ranks = [np.arange(len(table)) for table in tables]
        self._between: dict[tuple[int, int], tuple[Places, Places]] = {}
        for one, other in combinations(range(len(tables)), 2):
            if before is not None and kept[one] and kept[other]:
                places = before._between[one, other]
            else:
                places = places_between(tables[one], tables[other])
            self._between[one, other] = places
            ranks[one] += places[0]
            ranks[other] += places[1]
        # Now equal strings have equal ranks, and there are gaps behind them.
        taken = np.zeros(sum(map(len, tables)), dtype=np.int64)
        for rank in ranks:
            taken[rank] = 1
        numbers = np.cumsum(taken) - 1
        self.places: list[Rows] = [numbers[rank] for rank in ranks]
        """The place of each string of each table among all."""
        self._table = np.empty(int(taken.sum()), dtype=np.uint16)
        self._row = np.empty(len(self._table), dtype=np.int32)
        for number in reversed(range(len(tables))):  # so that the first table has it
            self._table[self.places[number]] = number
            self._row[self.places[number]] = np.arange(len(tables[number]))

    def __len__(self) -> int:
        return len(self._row)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        table, row = int(self._table[index]), int(self._row[index])
        return self.tables[table][row]


class JoinedRows(Mapping[str, int]):
    """string -> its place among :class:`JoinedStrings`. ``likely`` returns the table to look into first, and -1 where
    nothing is known of that.
    """

    def __init__(self, strings: JoinedStrings, likely: Callable[[str], int]) -> None:
        self._strings = strings
        self._likely = likely

    def __getitem__(self, text: str) -> int:
        first = self._likely(text)
        tables = self._strings.tables
        if first >= 0:
            row = tables[first].find(text)
            if row >= 0:
                return int(self._strings.places[first][row])
        for table, places in zip(tables, self._strings.places, strict=True):
            row = table.find(text)
            if row >= 0:
                return int(places[row])
        raise KeyError(text)

    @overload
    def get(self, key: str, /) -> int | None: ...

    @overload
    def get(self, key: str, default: int | T, /) -> int | T: ...

    def get(self, key: str, default: T | None = None, /) -> int | T | None:
        try:
            return self[key]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[str]:
        return iter(self._strings)

    def __len__(self) -> int:
        return len(self._strings)


class JoinedState:
    """What several stores have together in one state, worked out when it is first needed. ``keys`` name the states of
    each, ``graphs`` are their graphs of the walk, ``names`` what they are called in messages. What has not changed since
    the state ``before`` is taken from there. Thread-safe.
    """

    def __init__(
        self,
        keys: Sequence[str],
        graphs: Sequence[Adjacency],
        names: Sequence[str],
        before: JoinedState | None = None,
    ) -> None:
        self.keys = keys
        self.graphs = graphs
        self._names = names
        self._lock = threading.RLock()
        self._shard_of: dict[str, int] = {}
        self._joined: Adjacency | None = None
        self._before: tuple[JoinedStrings, JoinedStrings] | None = None
        if before is not None and before._joined is not None:
            if before._has_graphs(graphs):
                self._joined = before._joined
            self._before = before._strings
        elif before is not None:
            self._before = before._before
        self.aliases: Mapping[str, str] | None = None
        self.pictures: tuple[Sequence[PictureVectors], PictureVectors] | None = None
        self.conditions: LruCache[Condition, Allowed] = LruCache(_CONDITIONS)

    def _has_graphs(self, graphs: Sequence[Adjacency]) -> bool:
        """Whether these are still the graphs. A change of them makes other arrays or other tables."""
        return all(
            one.indptr is other.indptr and one.chunks is other.chunks and one.entities is other.entities
            for one, other in zip(self.graphs, graphs, strict=True)
        )

    def shard_of(self, page: str) -> int:
        """Return the number of the store that has chunks of a page, -1 if none has."""
        found = self._shard_of.get(page)
        if found is None:
            found = next((number for number, graph in enumerate(self.graphs) if _has(graph, page)), -1)
            if found < 0:
                return found
            if len(self._shard_of) >= _PAGES:
                self._shard_of = {}
            self._shard_of[page] = found
        return found

    @property
    def adjacency(self) -> Adjacency:
        """The graph of the walk over all stores; an entity that several have is one. Raises StoreError if two stores
        have the same document.
        """
        with self._lock:
            if self._joined is None:
                self._joined = self._join()
            return self._joined

    def _join(self) -> Adjacency:
        from trivium.graph.sharded.join_links import joined_links  # loads numba

        old_chunks, old_entities = self._before or (None, None)
        self._before = None
        chunks = JoinedStrings([table_of(graph.chunks) for graph in self.graphs], old_chunks)
        entities = JoinedStrings([table_of(graph.entities) for graph in self.graphs], old_entities)
        self._check_apart(chunks)
        starts, counts = np.empty((2, len(chunks)), dtype=np.int64)
        cited: list[NDArray[np.int32]] = []
        own_chunks = np.zeros((len(chunks) + len(entities), 2), dtype=np.int64)
        for graph, of_chunks, of_entities in zip(self.graphs, chunks.places, entities.places, strict=True):
            count = len(graph.chunks)
            # Those of a chunk are ascending, as they were, and include its own page.
            starts[of_chunks] = graph.indptr[:count] + sum(map(len, cited))
            counts[of_chunks] = np.diff(graph.indptr[: count + 1])
            cited.append(of_entities[graph.indices[: graph.indptr[count]] - count].astype(np.int32))
            own = graph.own_chunks[count:]
            paged = np.flatnonzero(own[:, 1] > own[:, 0])
            # Rows are in uri order, and no other uri is between those of the chunks of a page.
            first = of_chunks[own[paged, 0]]
            own_chunks[len(chunks) + of_entities[paged]] = np.stack(
                [first, first + own[paged, 1] - own[paged, 0]], axis=1
            )
        links = joined_links(starts, counts, np.concatenate(cited), len(entities))
        return Adjacency(
            chunks=chunks,
            entities=entities,
            indptr=links.indptr,
            indices=links.indices,
            own_chunks=own_chunks,
            chunk_rows=JoinedRows(chunks, lambda uri: self.shard_of(page_of(uri))),
            entity_rows=JoinedRows(entities, lambda uri: self._shard_of.get(uri, -1)),
        )

    @property
    def _strings(self) -> tuple[JoinedStrings, JoinedStrings] | None:
        if self._joined is None:
            return None
        chunks, entities = self._joined.chunks, self._joined.entities
        assert isinstance(chunks, JoinedStrings) and isinstance(entities, JoinedStrings)
        return chunks, entities

    def _check_apart(self, chunks: JoinedStrings) -> None:
        if len(chunks) == sum(map(len, chunks.tables)):
            return
        count = np.zeros(len(chunks), dtype=np.int64)
        for places in chunks.places:
            count[places] += 1
        page = page_of(chunks[int(np.argmax(count > 1))])
        raise overlapping(
            [page], [name for name, g in zip(self._names, self.graphs, strict=True) if _has(g, page)]
        )


def overlapping(pages: Sequence[str], shards: Sequence[str]) -> StoreError:
    """Return the error for documents that two stores have."""
    shown = ", ".join(map(repr, pages[:3])) + (f" and {len(pages) - 3} more" if len(pages) > 3 else "")
    return StoreError(
        f"expected every document in one shard only, got {shown} in {' and '.join(shards)}:"
        f"  trivium remove {pages[0]!r} --store {shards[-1]}  removes it from one of them"
    )


def _has(graph: Adjacency, page: str) -> bool:
    row = graph.entity_rows.get(page, -1)
    return row >= 0 and bool(graph.own_chunks[len(graph.chunks) + row, 1])
