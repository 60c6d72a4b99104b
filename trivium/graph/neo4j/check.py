"""Integrity checks of a store in Neo4j, and their repairs. They cover the graph; the server takes care of its own
files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, LiteralString

from neo4j import AsyncManagedTransaction

from trivium.graph.check_findings import (
    PAGES,
    VECTORS,
    Finding,
    damaged_pages,
    stale_derived,
    unmentioned,
    wrong_vectors,
)
from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.neo4j.cypher import checking as cypher
from trivium.graph.neo4j.cypher.schema import CONSTRAINTS, INDEXES, VECTOR_INDEXES
from trivium.graph.neo4j.prepare_database import (
    ensure_vector_indexes,
    make_schema,
    read_indexes,
    vector_config,
)
from trivium.graph.neo4j.typed_relations import type_relations
from trivium.graph.neo4j.vectors import ROWS_A_READ, embed_relations, read_embedder
from trivium.graph.neo4j.write_steps import in_batches, lock, next_version
from trivium.graph.node_properties import term_key
from trivium.graph.records import Progress
from trivium.graph.schema import Label, page_of
from trivium.graph.stored_vectors import UNIT_TOLERANCE, text_hash

_INDEXES = "index"
_RELATIONS = "relations"
_LEFTOVERS = "leftovers"
_TERMS = "term counts"


class Neo4jChecker:
    """The :class:`trivium.graph.protocols.StoreChecker` of a Neo4j store."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def check(self, progress: Progress | None = None) -> list[Finding]:
        steps = (self._indexes, self._leftovers, self._rules, self._terms, self._vectors, self._relations)
        found: list[Finding] = []
        for done, step in enumerate(steps, start=1):
            found += step()
            if progress is not None:
                progress(done, len(steps))
        return found

    def repair(self, findings: Sequence[Finding]) -> None:
        """See the protocol. Relationships that violate a rule are recreated with their pages."""
        by_kind = {finding.kind: finding for finding in findings if finding.kind != PAGES}

        def keys(kind: str) -> Sequence[Any]:
            return by_kind[kind].keys if kind in by_kind else ()

        damaged = [uri for finding in findings if finding.kind == PAGES for uri in finding.where]
        self._write(cypher.DROP_NODES, "ids", keys(_LEFTOVERS))
        self._write(cypher.DROP_VECTORS, "hashes", keys(VECTORS))
        self._write(cypher.GIVE_UP_PAGES, "uris", damaged)
        if _TERMS in by_kind or _LEFTOVERS in by_kind:
            self._recount_terms()
        if _RELATIONS in by_kind:
            self._write(cypher.UNMARK_TYPES, "types", by_kind[_RELATIONS].where)
            embed_relations(self._connection)
            type_relations(self._connection)
        if _INDEXES in by_kind:
            make_schema(self._connection, read_indexes(self._connection))
            ensure_vector_indexes(self._connection)

    def page_digests(self) -> dict[str, str]:
        return {uri: digest for digest, uri in self._scan(cypher.PAGE_DIGESTS)}

    def drop_vectors(self, texts: Sequence[str]) -> None:
        self._write(cypher.DROP_VECTORS, "hashes", sorted(set(map(text_hash, texts))))

    # -- checks ---------------------------------------------------------------------------------------------------

    def _indexes(self) -> Iterator[Finding]:
        there = read_indexes(self._connection)
        identity = read_embedder(self._connection)
        wrong = [
            name for name in chain(CONSTRAINTS, INDEXES) if name not in there or there[name].state != "ONLINE"
        ]
        if identity is not None:
            wanted = vector_config(identity.dimension)
            wrong += [
                name
                for name in VECTOR_INDEXES.values()
                if name not in there or there[name].state != "ONLINE" or not there[name].is_like(wanted)
            ]
        if wrong:
            yield stale_derived(
                _INDEXES,
                "indexes are missing, not filled, or of another dimension, or made otherwise",
                wrong,
            )

    def _leftovers(self) -> Iterator[Finding]:
        nodes = self._connection.read(cypher.LEFTOVERS, whole=True)[0][0]
        if nodes:
            names, keys = sorted(name for _, name in nodes), [key for key, _ in nodes]
            yield unmentioned(
                _LEFTOVERS, "nothing mentions these nodes, or they belong to no page", names, keys
            )

    def _rules(self) -> Iterator[Finding]:
        for problem, query in cypher.RULES.items():
            uris = self._connection.read(query, whole=True)[0][0]
            if uris:
                yield damaged_pages(problem, sorted(set(map(page_of, uris))))

    def _terms(self) -> Iterator[Finding]:
        """Compare numbers of chunks in which terms occur with the chunks. (Their terms are in the digests of pages.)"""
        counted, total = _count_terms(terms for terms, _ in self._scan(cypher.CHUNK_TERMS))
        stored = {term: df for df, term in self._scan(cypher.TERMS)}
        wrong = sorted(term for term in counted.keys() | stored.keys() if counted[term] != stored.get(term))
        if wrong or self._connection.read(cypher.TERM_TOTAL)[0][0] != total:
            yield stale_derived(_TERMS, "numbers of chunks in which terms occur are wrong", wrong)

    def _vectors(self) -> Iterator[Finding]:
        identity = read_embedder(self._connection)
        dimension = 0 if identity is None else identity.dimension
        wrong = {
            uri: key
            for label in (Label.CHUNK, Label.SUBCHAPTER, Label.ENTITY)
            for size, squares, key, uri in self._scan(cypher.vector_sizes(label))
            if size != dimension
            or squares is None
            or not abs(math.sqrt(abs(squares)) - 1.0) <= UNIT_TOLERANCE
        }
        if wrong:
            problem = "vectors are no unit vectors of the embedder's dimension"
            yield wrong_vectors(problem, wrong, list(dict.fromkeys(wrong.values())))

    def _relations(self) -> Iterator[Finding]:
        types = self._connection.read(cypher.OTHER_RELATIONS, whole=True)[0][0]
        if types:
            yield stale_derived(
                _RELATIONS,
                "relations do not have the embedding of their type, or its relationship",
                sorted(types),
            )

    # -- reading and writing --------------------------------------------------------------------------------------

    def _scan(self, query: LiteralString) -> Iterator[list[Any]]:
        return chain.from_iterable(self._connection.batches(query, ROWS_A_READ))

    def _write(self, query: LiteralString, name: str, items: Sequence[Any]) -> None:
        async def write(transaction: AsyncManagedTransaction) -> None:
            await lock(transaction)
            await in_batches(transaction, query, name, list(items))
            await next_version(transaction)

        if items:
            self._connection.write(write)

    def _recount_terms(self) -> None:
        """Recount the terms of all chunks while holding the store's lock."""

        async def write(transaction: AsyncManagedTransaction) -> None:
            await lock(transaction)
            found = await rows(transaction, cypher.ALL_TERMS)
            counted, total = _count_terms(terms for (terms,) in found)
            await rows(transaction, cypher.DROP_TERMS)
            await in_batches(transaction, cypher.SET_TERMS, "rows", [list(item) for item in counted.items()])
            await rows(transaction, cypher.SET_TERM_TOTAL, {"total": total})
            await next_version(transaction)

        self._connection.write(write)


def _count_terms(chunks: Iterable[str]) -> tuple[Counter[str], int]:
    """Return in how many chunks each term occurs, and the number of terms of all chunks, given as text."""
    counted: Counter[str] = Counter()
    total = 0
    for terms in chunks:
        own = terms.split()
        counted.update({term_key(term) for term in own})
        total += len(own)
    return counted, total
