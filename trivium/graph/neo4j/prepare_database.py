"""The schema of the database: created once and checked when the store is opened. Also detects the server's dialect."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neo4j import AsyncManagedTransaction
from neo4j.exceptions import ClientError

from trivium.errors import StoreError, StoreFormatError, StoreNotFoundError
from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.neo4j.cypher import schema as cypher
from trivium.graph.neo4j.cypher.schema import VECTOR_INDEXES
from trivium.graph.neo4j.cypher.searching import Dialect
from trivium.graph.neo4j.cypher.writing import NOTE
from trivium.graph.neo4j.vectors import read_embedder
from trivium.graph.neo4j.write_steps import lock
from trivium.graph.node_properties import STORE_VERSION, title_of
from trivium.graph.records import Progress

CONNECTIVITY = 16
"""Edges per node of a vector index; the server's default."""
EXPANSION_ADD = 100
"""Size of the candidate list while adding a node, likewise."""
_USUAL = {
    "vector.hnsw.m": CONNECTIVITY,
    "vector.hnsw.ef_construction": EXPANSION_ADD,
    # Quantised scores are off by up to 0.015, so rankings would differ from those of the embedded store.
    "vector.quantization.enabled": False,
}
_COMPARED = ("vector.dimensions", *_USUAL)
_FILLED = 100
_VERSION_BEFORE = 9
_NODES_A_WRITE = 5_000
_FIRST_WAIT = 0.05
_LONGEST_WAIT = 1.0


@dataclass(frozen=True, slots=True)
class Index:
    """An index as described by the server. ``filled`` is a percentage; ``failure`` is empty unless it failed."""

    state: str
    filled: float
    options: Mapping[str, Any]
    failure: str

    @property
    def dimension(self) -> int | None:
        """Dimension of a vector index."""
        config: Mapping[str, Any] = (self.options or {}).get("indexConfig", {})
        return config.get("vector.dimensions")

    def is_like(self, config: Mapping[str, Any]) -> bool:
        """Whether a vector index matches ``config``. Options that the server does not report are ignored."""
        made: Mapping[str, Any] = {**_USUAL, **(self.options or {}).get("indexConfig", {})}
        return all(made.get(key) == value for key, value in config.items() if key in _COMPARED)


def prepare(connection: Connection) -> None:
    """Make an empty store in a database. Nodes of other programs do not matter. Raises StoreError if there is a store.
    Can be repeated after an interruption.
    """
    if exists(connection) or connection.read(cypher.ANY_CONTENT)[0][0]:
        raise StoreError(
            f"the database at {connection.address} holds a store, or nodes of one, already: open it, name another"
            " database, or delete these nodes"
        )
    make_schema(connection, read_indexes(connection))
    connection.write(_create_store)


async def _create_store(transaction: AsyncManagedTransaction) -> None:
    await rows(transaction, cypher.CREATE_STORE, {"version": STORE_VERSION})


def discard_empty(connection: Connection) -> bool:
    """Remove a store without content, with its constraints and indexes. Returns whether it did. Nothing is changed if
    the store has any content.
    """
    if not connection.write(_discard_store):
        return False
    _drop_schema(connection)
    return True


async def _discard_store(transaction: AsyncManagedTransaction) -> bool:
    return bool((await rows(transaction, cypher.DISCARD_STORE))[0][0])


def exists(connection: Connection) -> bool:
    """Whether there is a store in the database."""
    return _version(connection) is not None


def recognise(connection: Connection) -> None:
    """Check that the database holds a readable store, change one of the version before into one of this, and create
    missing constraints and indexes, as after a bulk import. Nothing is written if nothing is missing.

    Raises StoreNotFoundError if there is no store, StoreFormatError for one of another version.
    """
    version = _version(connection)
    if version is None:
        raise StoreNotFoundError(
            f"the database at {connection.address} holds no store; make one with"
            f"  trivium build SOURCE --store {connection.address}"
        )
    if version not in (_VERSION_BEFORE, STORE_VERSION):
        raise StoreFormatError(
            f"the store at {connection.address} has schema version {version}, this program reads version"
            f" {STORE_VERSION}: build it again in another database"
        )
    make_schema(connection, read_indexes(connection))
    if version == _VERSION_BEFORE:
        _migrate(connection)


def _migrate(connection: Connection) -> None:
    """Move what only the program reads off the chunks, and give nodes titles. An interrupted change goes on later."""
    for step in (_move_data, _give_titles):
        while connection.write(step):
            pass
    connection.write(_note_version)
    connection.change_schema(cypher.DROP_OLD_INDEX)


async def _move_data(transaction: AsyncManagedTransaction) -> int:
    await lock(transaction)
    return int((await rows(transaction, cypher.MOVE_DATA, {"limit": _NODES_A_WRITE}))[0][0])


async def _give_titles(transaction: AsyncManagedTransaction) -> int:
    await lock(transaction)
    found = (await rows(transaction, cypher.UNTITLED, {"limit": _NODES_A_WRITE}))[0][0]
    await rows(transaction, cypher.SET_TITLES, {"rows": [[node, title_of(uri)] for node, uri in found]})
    return len(found)


async def _note_version(transaction: AsyncManagedTransaction) -> None:
    await rows(transaction, NOTE, {"values": {"schema_version": STORE_VERSION}})


def detect(connection: Connection) -> Dialect:
    """Return the dialect of the server."""
    return connection.run(_detect(connection))


async def _detect(connection: Connection) -> Dialect:
    try:
        await connection.fetch(cypher.EXPLAIN_SEARCH, {"vector": [1.0], "k": 1})
    except ClientError as error:
        # A server that supports the clause may lack the index, which is created with the first vectors.
        return Dialect.SEARCH if (error.code or "").endswith("IndexNotFound") else Dialect.PROCEDURE
    return Dialect.SEARCH


def read_indexes(connection: Connection) -> dict[str, Index]:
    """Return the store's indexes by their usual name. The index behind a constraint has the constraint's name."""
    usual = {connection.named(name): name for name in cypher.NAMES}
    found = connection.read(cypher.SHOW_INDEXES, {"names": list(usual)})
    return {usual[name]: Index(*rest) for name, *rest in found}


def ensure_vector_indexes(connection: Connection, progress: Progress | None = None) -> None:
    """If the store has an embedder, create vector indexes that are missing or have another dimension or were
    made otherwise, and wait until all indexes are populated. ``progress`` counts to 100.
    """
    identity = read_embedder(connection)
    if identity is not None:
        existing = read_indexes(connection)
        wanted = vector_config(identity.dimension)
        for label, name in VECTOR_INDEXES.items():
            index = existing.get(name)
            if index is not None and index.is_like(wanted):
                continue
            if index is not None:
                connection.change_schema(cypher.DROP_VECTOR_INDEX[label])
            connection.change_schema(cypher.CREATE_VECTOR_INDEX[label], {"options": {"indexConfig": wanted}})
    await_indexes(connection, progress)


def vector_config(dimension: int) -> dict[str, Any]:
    """Return the configuration of a vector index."""
    return {"vector.dimensions": dimension, "vector.similarity_function": "cosine", **_USUAL}


def await_indexes(connection: Connection, progress: Progress | None = None) -> None:
    """Wait until every index is populated. Raises StoreError if one failed. There is no time limit: a large index may
    take an hour, with visible progress.
    """
    wait, filling = _FIRST_WAIT, set[str]()
    while True:
        indexes = read_indexes(connection)
        for name, index in indexes.items():
            if index.state == "FAILED":
                raise StoreError(
                    f"index {name!r} of the store at {connection.address} failed: {index.failure}; drop it and"
                    " repeat the command"
                )
        waiting = {name for name, index in indexes.items() if index.state != "ONLINE"}
        if not waiting:
            break
        filling |= waiting
        if progress is not None:
            filled = [indexes[name].filled for name in filling if name in indexes]
            progress(min(int(sum(filled) / len(filled)), _FILLED - 1), _FILLED)
        time.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)
    if progress is not None:
        progress(_FILLED, _FILLED)


def make_schema(connection: Connection, existing: Mapping[str, Index]) -> None:
    """Create missing constraints and indexes, and wait until they are populated."""
    wanted = cypher.CONSTRAINTS | cypher.INDEXES
    missing = [statement for name, statement in wanted.items() if name not in existing]
    for statement in missing:
        connection.change_schema(statement)
    if missing or any(existing[name].state != "ONLINE" for name in wanted):
        await_indexes(connection)


def _version(connection: Connection) -> int | None:
    found = connection.read(cypher.READ_VERSION)
    return found[0][0] if found else None


def _drop_schema(connection: Connection) -> None:
    """Drop constraints and indexes."""
    for name in cypher.NAMES:
        statement = cypher.DROP_CONSTRAINT if name in cypher.CONSTRAINTS else cypher.DROP_INDEX
        connection.change_schema(statement, {"name": connection.named(name)})
