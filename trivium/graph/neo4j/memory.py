"""A store that is held in memory, for one state of the database: the index (:mod:`trivium.graph.arrays`), and what else
the answers need. A question then asks the server only for its current state.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from trivium.errors import StoreChangedError, StoreError
from trivium.graph.arrays.chunk_details import ChunkDetails
from trivium.graph.arrays.filtered import ArrayWithin
from trivium.graph.arrays.reads import ArrayReads
from trivium.graph.arrays.rows_by_uri import KeyedNodes, KeyedRows, Touched, changes_of
from trivium.graph.arrays.snapshot import BuildCounter, IndexSnapshot, build, open_snapshot
from trivium.graph.filter_values import ChunkFacts
from trivium.graph.filters import Condition
from trivium.graph.model import RelationEdge
from trivium.graph.neo4j.cache import StoreCache, StoreState
from trivium.graph.neo4j.change_log import Touched as Names
from trivium.graph.neo4j.change_log import read_log, touched_since
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import reading
from trivium.graph.neo4j.memory_rows import A_VECTOR, OF_OBJECTS, Budget, Facts, RowReader
from trivium.graph.protocols import SearchStore
from trivium.graph.records import ChunkRecord, PageRecord, Vectors
from trivium.graph.schema import Label, page_of, section_of
from trivium.graph.store_view import StoreView
from trivium.settings.index_parameters import IndexParameters
from trivium.types import EmbedderIdentity

T = TypeVar("T")

MOST_PAGES = 200
"""Of a change to more pages than this, the whole store is read again: in batches."""
MOST_CHANGED = 20_000
"""Rows changed since the whole store was read up to which changes are followed, in any store."""
MOST_CHANGED_SHARE = 0.06
"""The same as a share of all nodes, in large stores."""
_COMPARED = IndexParameters(approximate_from=1 << 40)
"""All vectors are compared, so that the nearest are found for certain."""


@dataclass(frozen=True)
class HeldStore:
    """What a search reads of a store in one ``state``. Read-only and thread-safe."""

    state: StoreState
    index: IndexSnapshot
    facts: Facts

    @cached_property
    def relations(self) -> Mapping[str, Sequence[RelationEdge]]:
        """The relations that start or end at each entity."""
        found: dict[str, list[RelationEdge]] = {}
        for edges in self.facts.relations.values():
            for edge in edges:
                for end in dict.fromkeys((edge.source, edge.target)):
                    found.setdefault(end, []).append(edge)
        return found

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The entity that each normalised name most likely refers to: by exact title, alias, shortened title; page before
        bare entity; most cited; lowest uri.
        """
        topology, facts = self.index.topology, self.facts
        table = topology.nodes[Label.ENTITY].uris
        cited = dict(zip(table, np.diff(topology.cited_in.indptr).tolist(), strict=True))
        best: dict[str, tuple[int, bool, int, str]] = {}

        def means(name: str | None, kind: int, uri: str) -> None:
            if name:
                meaning = (kind, uri not in facts.pages, -cited[uri], uri)
                if name not in best or meaning < best[name]:
                    best[name] = meaning

        for uri, (name, short) in facts.names.items():
            means(name, 0, uri)
            means(short, 2, uri)
        for name, short, leads_to in facts.aliases.values():
            if leads_to is not None and leads_to in cited:
                means(name, 1, leads_to)
                means(short, 2, leads_to)
        return {name: meaning[-1] for name, meaning in best.items()}

    def chunk_facts(self, index: IndexSnapshot) -> ChunkFacts:
        """Return the values that conditions test."""
        if not index.facts:
            pages: list[PageRecord] = [self.facts.pages[uri] for uri in index.topology.nodes[Label.PAGE].uris]
            details = index.details[0]
            index.facts.append(
                ChunkFacts(
                    index.topology.nodes[Label.CHUNK].uris,
                    lambda: pages,
                    lambda: (details.kinds, details.pages),
                    index.topology.page,
                )
            )
        return index.facts[0]


# -- reading it from the database --------------------------------------------------------------------------------


def load(
    connection: Connection,
    cache: StoreCache,
    limit: int,
    going: Callable[[], bool],
    earlier: HeldStore | None = None,
) -> HeldStore | None:
    """Read the current store if it takes at most ``limit`` bytes; of a store that has been read ``earlier`` only what was
    touched since, if the database says what. Returns None if it was written to meanwhile, has no vectors, or ``going``
    returns false. Raises TooLargeError.
    """
    state = cache.state(connection, now=True)
    if not state.dimension:
        return None
    if earlier is not None and earlier.state.key == state.key:
        return earlier
    _check_size(connection, state.dimension, limit)
    reader = RowReader(connection, Budget(limit), state.dimension, going)
    touched = None if earlier is None else _touched(connection, earlier, state)
    nodes, facts = reader.all() if touched is None else reader.touched(touched)
    if not going() or cache.state(connection, now=True).key != state.key:
        return None
    if earlier is not None and touched is not None:
        return _updated(earlier, state, touched, nodes, facts)
    held = HeldStore(state, _built(nodes, state), facts)
    _ = held.names, held.relations  # before the first question needs them
    return held


def _check_size(connection: Connection, dimension: int, limit: int) -> None:
    """Raise TooLargeError if the vectors and objects of all nodes alone exceed the limit. The server knows the numbers
    of nodes, so nothing of a store that is too large is read, whenever it changes.
    """
    ((entities, _, sections, chunks, _),) = connection.read(reading.NODE_COUNTS)
    Budget(limit).take((entities + sections + chunks) * (A_VECTOR * dimension + OF_OBJECTS))


def _touched(connection: Connection, earlier: HeldStore, state: StoreState) -> Names | None:
    """Return what was touched since an earlier state; None if that is not known, or better read in batches."""
    base, index = earlier.state, earlier.index
    if base.uuid is None or base.embedder != state.embedder:
        return None
    if index.base.changes > max(MOST_CHANGED, MOST_CHANGED_SHARE * index.size):
        return None
    touched = touched_since(read_log(connection), base.uuid, state.version, base=base.version)
    return None if touched is None or len(touched.pages) > MOST_PAGES else touched


def _built(nodes: KeyedNodes, state: StoreState) -> IndexSnapshot:
    """Return the index of all nodes. It is made in a temporary folder: what is mapped into memory remains when its file
    is gone.
    """
    rows, key = KeyedRows(nodes, state.dimension, _COMPARED), str(state.version)
    with TemporaryDirectory(prefix="trivium-index-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "index")
        try:
            build(rows, path, None, BuildCounter(None, lambda: None))
            index = open_snapshot(path, key)
        except OSError as error:
            raise StoreError(f"the index of the store cannot be made in {folder} ({error})") from error
    if index is None:
        raise StoreError(f"the files below {path} were changed while they were made; try again")
    index.details.append(ChunkDetails.of(index.topology.nodes[Label.CHUNK], rows.details()))
    return index


def _updated(
    earlier: HeldStore, state: StoreState, touched: Names, nodes: KeyedNodes, facts: Facts
) -> HeldStore:
    """Return the store after a change that ``touched`` some nodes, of which these are there now."""
    old = earlier.index
    entities = touched.entities | touched.pages
    names = Touched(touched.pages, touched.chunks, entities, nodes)
    changes = changes_of(names, old.topology, old.matrix)
    count = sum(len(some) for kind in (changes.gone, changes.new, changes.given) for some in kind.values())
    index = old.patched(changes, str(state.version), count)
    chunks = old.topology.nodes[Label.CHUNK]
    gone = chunks.uris.take(chunks.rows_of(np.array(changes.gone[Label.CHUNK], dtype=np.int64)).tolist())
    known = earlier.facts
    held = HeldStore(
        state,
        index,
        Facts(
            chunks=_replaced(known.chunks, gone, facts.chunks),
            pages=_replaced(known.pages, (*entities, *facts.names), facts.pages),
            names=_replaced(known.names, entities, facts.names),
            relations=_replaced(known.relations, (*entities, *facts.names), facts.relations),
            aliases=_replaced(known.aliases, touched.aliases, facts.aliases),
            types=_replaced(known.types, touched.types, facts.types),
        ),
    )
    _ = held.names, held.relations
    return held


def _replaced(old: Mapping[str, T], gone: Iterable[str], new: Mapping[str, T]) -> dict[str, T]:
    """Return what is known by uri without some, and with others."""
    known = dict(old)
    for uri in gone:
        known.pop(uri, None)
    known.update(new)
    return known


# -- a question's view -------------------------------------------------------------------------------------------


class LateView(StoreView):
    """A store that turns out at the first read to be held in memory or not."""

    allowed = None
    remote = False
    """True in nearly all cases. Only a question right after a write finds what is held outdated; its reads are then
    sequential.
    """

    def __init__(self, find: Callable[[], SearchStore]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._found: SearchStore | None = None

    @property
    def _store(self) -> SearchStore:  # type: ignore[override]  # an attribute of other views
        with self._lock:
            if self._found is None:
                self._found = self._find()
            return self._found

    def within(self, condition: Condition) -> SearchStore:
        return self._store.within(condition)

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        yield self


class HeldView(ArrayReads, StoreView):
    """Reads from memory, and from the store what is not held there (pictures, whole pages)."""

    allowed = None
    remote = False

    def __init__(self, store: SearchStore, held: HeldStore) -> None:
        super().__init__(store)
        self._held = held

    def _current(self) -> IndexSnapshot:
        return self._held.index

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._held.state.embedder

    @property
    def languages(self) -> str | None:
        return self._held.state.languages

    def within(self, condition: Condition) -> SearchStore:
        return ArrayWithin(self, condition, self._current, self._held.chunk_facts)

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        yield self

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return self._store.cited(chunks)  # which knows their order of appearance

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        held, topology = self._held.facts, self._held.index.topology
        rows = topology.nodes[Label.CHUNK].uris.find_all(chunks).tolist()
        records = []
        for uri, row in zip(chunks, rows, strict=True):
            if row < 0:
                raise StoreChangedError(
                    f"there is no chunk {uri!r} in the store; it may have been replaced since it was found"
                )
            text, kind, start, end, tokens, first, last = held.chunks[uri]
            page = held.pages[page_of(uri)]
            records.append(
                ChunkRecord(
                    uri,
                    page.uri,
                    section_of(uri),
                    text,
                    kind,
                    int(topology.position[row]),
                    start,
                    end,
                    tokens,
                    None if first is None or last is None else (first, last),
                    page.path or page.source,
                    page.format,
                    page.metadata,
                )
            )
        return records

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        known = self._held.names
        return {name: known[name] for name in names if name in known}

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        known = self._held.relations
        found = {edge for uri in dict.fromkeys(entities) for edge in known.get(uri, ())}
        return sorted(found, key=lambda edge: (edge.source, edge.type, edge.target))

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        gathered = np.full((len(types), self._held.state.dimension), np.nan, dtype=np.float32)
        for row, name in enumerate(types):
            if name in self._held.facts.types:
                gathered[row] = self._held.facts.types[name]
        return gathered
