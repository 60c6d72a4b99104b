"""A store that is held in memory, in one state: the index, and what else a search reads. It is made of nodes that are
known by uri (:mod:`trivium.graph.arrays.rows_by_uri`), whatever database they come from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

import numpy as np

from trivium.errors import StoreError
from trivium.graph.arrays.chunk_details import ChunkDetails
from trivium.graph.arrays.rows_by_uri import KeyedRows, Touched, changes_of
from trivium.graph.arrays.search import ArrayReads
from trivium.graph.arrays.snapshot import BuildCounter, IndexSnapshot, build, open_snapshot
from trivium.graph.filter_matching import ChunkFacts
from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import ChunkRecord, PageRecord, Vectors, unknown_chunk
from trivium.graph.schema import Label, page_of, section_of

S = TypeVar("S")
T = TypeVar("T")

ChunkText = tuple[str, str, int, int, int, int | None, int | None]
"""Text, kind, start, end, number of tokens, first and last page."""
EntityNames = tuple[str | None, str | None]
"""Normalised name and shortened name."""
AliasNames = tuple[str | None, str | None, str | None]
"""Name, shortened name, and the entity it leads to."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the index does not have, by uri: texts of chunks, pages, names of entities, stated relations by their source,
    aliases, and the vectors of relation types.
    """

    chunks: dict[str, ChunkText]
    pages: dict[str, PageRecord]
    names: dict[str, EntityNames]
    relations: dict[str, list[RelationEdge]]
    aliases: dict[str, AliasNames]
    types: dict[str, Vectors]


@dataclass(frozen=True)
class HeldStore(Generic[S]):
    """What a search reads of a store in one ``state``, which is whatever the store tells its states apart by. Read-only
    and thread-safe.
    """

    state: S
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


class HeldReads(ArrayReads):
    """A part of a :class:`~trivium.graph.protocols.SearchStore`: what needs nothing but what is held."""

    @abstractmethod
    def _held(self) -> HeldStore[Any]:
        """Return what is held of the committed state."""

    def _current(self) -> IndexSnapshot:
        return self._held().index

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        held = self._held()
        facts, topology = held.facts, held.index.topology
        rows = topology.nodes[Label.CHUNK].uris.find_all(chunks).tolist()
        records = []
        for uri, row in zip(chunks, rows, strict=True):
            if row < 0:
                raise unknown_chunk(uri)
            text, kind, start, end, tokens, first, last = facts.chunks[uri]
            page = facts.pages[page_of(uri)]
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
        known = self._held().names
        return {name: known[name] for name in names if name in known}

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        known = self._held().relations
        found = {edge for uri in dict.fromkeys(entities) for edge in known.get(uri, ())}
        return sorted(found, key=lambda edge: (edge.source, edge.type, edge.target))

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        held = self._held()
        gathered = np.full((len(types), held.index.dimension), np.nan, dtype=np.float32)
        for row, name in enumerate(types):
            if name in held.facts.types:
                gathered[row] = held.facts.types[name]
        return gathered


def made_index(rows: KeyedRows, key: str, approximate_from: int) -> IndexSnapshot:
    """Return the index of all rows, for the state with the name ``key``; see :func:`trivium.graph.arrays.snapshot.build`.
    It is made in a temporary folder: what is mapped into memory remains when its file is gone.
    """
    with TemporaryDirectory(prefix="trivium-index-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "index")
        try:
            build(rows, path, None, BuildCounter(None, lambda: None), approximate_from)
            index = open_snapshot(path, key)
        except OSError as error:
            raise StoreError(f"the index of the store cannot be made in {folder} ({error})") from error
    if index is None:
        raise StoreError(f"the files below {path} were changed while they were made; try again")
    index.details.append(ChunkDetails.of(index.topology.nodes[Label.CHUNK], rows.details()))
    return index


def updated(
    earlier: HeldStore[S],
    state: S,
    key: str,
    touched: Touched,
    facts: Facts,
    aliases: Iterable[str],
    types: Iterable[str],
) -> HeldStore[S]:
    """Return the store in the later ``state``, whose index has the name ``key``, after a change that ``touched`` some
    nodes, some ``aliases`` and relation ``types``. ``facts`` are those that there are of these now.
    """
    old, known = earlier.index, earlier.facts
    changes = changes_of(touched, old.topology, old.matrix)
    count = sum(len(some) for kind in (changes.gone, changes.new, changes.given) for some in kind.values())
    chunks = old.topology.nodes[Label.CHUNK]
    gone = chunks.uris.take(chunks.rows_of(np.array(changes.gone[Label.CHUNK], dtype=np.int64)).tolist())
    entities = (*touched.entities, *facts.names)
    return HeldStore(
        state,
        old.patched(changes, key, count),
        Facts(
            chunks=_replaced(known.chunks, gone, facts.chunks),
            pages=_replaced(known.pages, entities, facts.pages),
            names=_replaced(known.names, entities, facts.names),
            relations=_replaced(known.relations, entities, facts.relations),
            aliases=_replaced(known.aliases, aliases, facts.aliases),
            types=_replaced(known.types, types, facts.types),
        ),
    )


def _replaced(old: Mapping[str, T], gone: Iterable[str], new: Mapping[str, T]) -> dict[str, T]:
    """Return what is known by uri without some, and with others."""
    known = dict(old)
    for uri in gone:
        known.pop(uri, None)
    known.update(new)
    return known
