"""Reads a store into memory: all of it in batches, or what changed since it was read last."""

from __future__ import annotations

from collections.abc import Callable

from trivium.graph.neo4j.cache import StoreCache, StoreState
from trivium.graph.neo4j.change_log import Touched, read_log, touched_since
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import reading
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.neo4j.projection import project
from trivium.graph.neo4j.replica.assembly import assemble, citations
from trivium.graph.neo4j.replica.parts import (
    A_VECTOR,
    OF_OBJECTS,
    Budget,
    PartReader,
    TooLargeError,
    aliases_of,
    types_of,
)
from trivium.graph.neo4j.replica.replica import Replica
from trivium.graph.neo4j.replica.updating import MOST_PAGES, update
from trivium.graph.neo4j.replica.words import Vocabulary
from trivium.graph.records import Adjacency

__all__ = ["TooLargeError", "load"]

NODES_A_READ = 1_000
"""Nodes with their vectors per response: a few megabytes."""
ALIASES_A_READ = 20_000


def load(
    connection: Connection,
    cache: StoreCache,
    limit: int,
    going: Callable[[], bool],
    earlier: Replica | None = None,
) -> Replica | None:
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
    reader = PartReader(connection, Budget(limit), state.dimension, going)
    touched = None if earlier is None else _touched(connection, earlier, state)
    adjacency = project(connection, cache)
    if earlier is not None and touched is not None:
        replica = update(earlier, touched, state, adjacency, reader)
    else:
        replica = _read(state, adjacency, reader)
    if not going() or cache.state(connection, now=True).key != state.key:
        return None
    return replica


def _touched(connection: Connection, earlier: Replica, state: StoreState) -> Touched | None:
    """Return what was touched since an earlier replica; None if that is not known, or better read in batches."""
    base = earlier.state
    if base.uuid is None or base.embedder != state.embedder:
        return None
    touched = touched_since(read_log(connection), base.uuid, state.version, base=base.version)
    return None if touched is None or len(touched.pages) > MOST_PAGES else touched


def _read(state: StoreState, adjacency: Adjacency, reader: PartReader) -> Replica | None:
    """Read everything. Returns None if it does not fit the adjacency, because something was written meanwhile."""
    vocabulary = Vocabulary()
    entities = reader.entities(reader.all(cypher.REPLICA_ENTITIES, NODES_A_READ))
    sections = reader.sections(reader.all(cypher.REPLICA_SECTIONS, NODES_A_READ))
    chunks, cites = reader.chunks(reader.all(cypher.REPLICA_CHUNKS, NODES_A_READ), vocabulary)
    aliases = aliases_of(reader.all(cypher.REPLICA_ALIASES, ALIASES_A_READ))
    types = types_of(reader.all(cypher.REPLICA_TYPES, NODES_A_READ))
    if (chunks.uris, entities.uris) != (adjacency.chunks[:], adjacency.entities[:]):
        return None
    # For millions of citations a dictionary is worth making.
    cited = citations(cites, dict(zip(entities.uris, range(len(entities.uris)), strict=True)))
    return assemble(state, adjacency, chunks, vocabulary, cited, sections, entities, aliases, types)


def _check_size(connection: Connection, dimension: int, limit: int) -> None:
    """Raise TooLargeError if the vectors and objects of all nodes alone exceed the limit. The server knows the numbers
    of nodes, so nothing of a store that is too large is read, whenever it changes.
    """
    ((entities, _, sections, chunks, _),) = connection.read(reading.NODE_COUNTS)
    Budget(limit).take((entities + sections + chunks) * (A_VECTOR * dimension + OF_OBJECTS))
