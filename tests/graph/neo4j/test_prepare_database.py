"""Making a database a store, recognising one, and its indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.graphs import IDENTITY, codes, graph, unit
from tests.graph.neo4j.database import connected, empty, found
from tests.graph.neo4j.stores import credentials
from tests.neo4j_servers import Server
from tests.neo4j_wipe import wipe
from trivium.errors import (
    NothingReadError,
    StoreError,
    StoreFormatError,
    StoreNotFoundError,
)
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.neo4j.cypher import schema as cypher
from trivium.graph.neo4j.cypher.schema import CREATE_VECTOR_INDEX, DROP_VECTOR_INDEX, VECTOR_INDEXES
from trivium.graph.neo4j.prepare_database import (
    Dialect,
    detect,
    ensure_vector_indexes,
    exists,
    prepare,
    read_indexes,
    recognise,
    vector_config,
)
from trivium.graph.node_properties import STORE_VERSION
from trivium.graph.open_store import never_left_empty
from trivium.graph.schema import Label
from trivium.index.load_report import IngestReport
from trivium.types import EmbedderIdentity


@pytest.fixture
def connection(neo4j_2026: Server) -> Iterator[Connection]:
    """An empty database, with the schema of a store and no vector index."""
    with connected(neo4j_2026) as connection:
        wipe(neo4j_2026)
        for statement in DROP_VECTOR_INDEX.values():
            connection.change_schema(statement)
        yield connection


@pytest.fixture
def store(connection: Connection) -> Neo4jStore:
    """The store in it."""
    return Neo4jStore(connection, Dialect.PROCEDURE)


def _run(connection: Connection, query: Any) -> None:
    async def work(transaction: Any) -> None:
        await rows(transaction, query)

    connection.write(work)


def test_a_database_holds_one_store(connection: Connection) -> None:
    """And what is left of one whose own node was deleted is not taken over."""
    prepare(connection)
    recognise(connection)
    with pytest.raises(StoreError, match="holds a store, or nodes of one, already"):
        prepare(connection)
    _run(connection, "MATCH (t:TriviumStore) DELETE t CREATE (:Term:TriviumTerm {term: 'a', df: 1})")
    with pytest.raises(StoreError, match="holds a store, or nodes of one, already"):
        prepare(connection)


def test_an_empty_database_is_no_store(connection: Connection) -> None:
    """The message says how to make one."""
    with pytest.raises(StoreNotFoundError, match="trivium build SOURCE --store bolt://"):
        recognise(connection)


def test_a_database_of_something_else_is_no_store_either(connection: Connection) -> None:
    """Even if it has nodes of the same labels. A store can be made beside."""
    _run(connection, "CREATE (:Person {uri: 'me'}), (:Page {uri: 'mine'}), (:Trivium {id: 1, uri: 'quiz'})")
    with pytest.raises(StoreNotFoundError, match="trivium build SOURCE --store bolt://"):
        recognise(connection)
    prepare(connection)
    recognise(connection)
    assert sorted(connection.read("MATCH (n) WHERE n.uri IS NOT NULL RETURN n.uri")) == [
        ["me"],
        ["mine"],
        ["quiz"],
    ]


def test_a_store_of_another_version_is_refused(connection: Connection) -> None:
    """Both versions are named."""
    prepare(connection)
    _run(connection, "MATCH (t:TriviumStore) SET t.schema_version = 99")
    with pytest.raises(
        StoreFormatError, match=f"schema version 99, this program reads version {STORE_VERSION}:"
    ):
        recognise(connection)


def test_a_store_of_the_version_before_is_changed_when_it_is_opened(connection: Connection) -> None:
    """Into what it would be if it were made now: node by node, with its index of words."""
    prepare(connection)
    store = Neo4jStore(connection, Dialect.PROCEDURE)
    store.set_embedder(IDENTITY)
    store.write([graph("C%23", [("red", ["Sun"])], {"Moons": [("two of them", ["Sun"])]})])
    passages = list(store.pending_sentences())[:1]
    store.put_sentences(passages, [codes(passage.text) for passage in passages])
    now = found(connection)
    _run(connection, "MATCH (n:TriviumEntity|TriviumSubChapter|TriviumChunk) REMOVE n.title")
    _run(
        connection,
        "MATCH (c:TriviumChunk) MATCH (d:TriviumChunkData {uri: c.uri}) SET c += properties(d) DELETE d",
    )
    _run(connection, "MATCH (t:TriviumStore) SET t.schema_version = 9")
    connection.change_schema("DROP INDEX trivium_search_terms")
    connection.change_schema(
        "CREATE FULLTEXT INDEX trivium_chunk_search_terms FOR (n:TriviumChunk) ON EACH [n.search_terms]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}"
    )
    assert found(connection) != now
    recognise(connection)
    assert found(connection) == now
    assert store.keyword_search(["red"], 3) == ["C%23#chunk-1"]
    assert not connection.read("SHOW INDEXES YIELD name WHERE name = 'trivium_chunk_search_terms'")


def test_opening_makes_what_is_missing_and_writes_nothing_else(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a bulk import, which brings nodes but no indexes; a database in read-only mode can be opened."""
    prepare(connection)
    connection.change_schema("DROP INDEX trivium_entity_name")
    connection.change_schema("DROP CONSTRAINT trivium_term_term")
    assert {"trivium_entity_name", "trivium_term_term"}.isdisjoint(read_indexes(connection))
    recognise(connection)
    indexes = read_indexes(connection)
    assert indexes.keys() >= {
        "trivium_entity_name",
        "trivium_term_term",
        *cypher.CONSTRAINTS,
        *cypher.INDEXES,
    }
    assert {index.state for index in indexes.values()} == {"ONLINE"}
    made: list[object] = []
    monkeypatch.setattr(connection, "change_schema", made.append)
    recognise(connection)
    assert made == []


def quantised(config: dict[str, Any]) -> bool:
    """As servers of either version say it."""
    return bool(config.get("vector.quantization.enabled", config.get("vector.quantization.type") != "NONE"))


def test_every_index_is_named_as_its_statement_says() -> None:
    """What is looked for is what is made."""
    statements = cypher.CONSTRAINTS | cypher.INDEXES
    assert all(f" {name} IF NOT EXISTS FOR " in statement for name, statement in statements.items())
    for label, name in VECTOR_INDEXES.items():
        assert f" {name} IF NOT EXISTS FOR (n:Trivium{label}) " in cypher.CREATE_VECTOR_INDEX[label]
        assert f" {name} " in cypher.DROP_VECTOR_INDEX[label]


def test_a_newer_server_is_asked_with_the_search_clause(connection: Connection) -> None:
    """Whether or not the index is there already."""
    empty(connection)
    assert detect(connection) is Dialect.SEARCH
    Neo4jStore(connection, Dialect.SEARCH).set_embedder(IDENTITY)
    ensure_vector_indexes(connection)
    assert detect(connection) is Dialect.SEARCH


def test_vector_indexes_come_with_the_embedder_and_follow_its_dimension(
    connection: Connection, store: Neo4jStore
) -> None:
    """Exact, not quantised; made again for another dimension; progress ends at 100."""
    prepare(connection)
    seen: list[tuple[int, int]] = []
    ensure_vector_indexes(connection, lambda done, total: seen.append((done, total)))
    assert VECTOR_INDEXES["Chunk"] not in read_indexes(connection)
    assert seen[-1] == (100, 100)

    for identity in (EmbedderIdentity("other", "1", 3), IDENTITY):
        store.set_embedder(identity)
        ensure_vector_indexes(connection)
        indexes = read_indexes(connection)
        for name in VECTOR_INDEXES.values():
            config = indexes[name].options["indexConfig"]
            assert indexes[name].state == "ONLINE"
            assert config["vector.dimensions"] == identity.dimension
            assert not quantised(config)
            assert config["vector.similarity_function"] == "COSINE"

    store.write([graph("A", [("one", [])])])
    store.put_vectors(["A: one"], unit("A: one")[None])
    found = connection.read(
        "CALL db.index.vector.queryNodes('trivium_chunk_embedding', 3, $vector) YIELD node RETURN node.uri",
        {"vector": unit("A: one").tolist()},
    )
    assert found == [["A#chunk-1"]]


def test_a_store_for_documents_that_never_came_leaves_an_empty_database(neo4j_2026: Server) -> None:
    """Without node, constraint or index of it; one that has a page stays, and so does one that was there before."""
    wipe(neo4j_2026)
    with credentials(neo4j_2026), connected(neo4j_2026) as connection:
        with pytest.raises(NothingReadError), never_left_empty(neo4j_2026.bolt):
            Neo4jStore.create(neo4j_2026.bolt).close()
            raise NothingReadError("nothing could be read", IngestReport())
        assert not exists(connection)
        assert not (cypher.CONSTRAINTS | cypher.INDEXES).keys() & read_indexes(connection).keys()
        with pytest.raises(KeyboardInterrupt), never_left_empty(neo4j_2026.bolt):
            with Neo4jStore.create(neo4j_2026.bolt) as store:
                store.write([graph("Mars")])
            raise KeyboardInterrupt
        with pytest.raises(KeyboardInterrupt), never_left_empty(neo4j_2026.bolt):
            with Neo4jStore.open(neo4j_2026.bolt) as store:
                store.delete(["Mars"])
            raise KeyboardInterrupt
        recognise(connection)


def _configs(connection: Connection) -> dict[str, dict[str, Any]]:
    there = read_indexes(connection)
    return {name: dict(there[name].options["indexConfig"]) for name in VECTOR_INDEXES.values()}


def test_vector_indexes_that_were_made_otherwise_are_made_anew(
    connection: Connection, store: Neo4jStore
) -> None:
    """By an earlier version, say. What an index was made with is read from the server."""

    def ids() -> Any:
        return connection.read("SHOW INDEXES YIELD id, type WHERE type = 'VECTOR' RETURN collect(id)")[0][0]

    prepare(connection)
    store.set_embedder(IDENTITY)
    ensure_vector_indexes(connection)
    usual = _configs(connection)
    for config in usual.values():
        assert (config["vector.hnsw.m"], config["vector.hnsw.ef_construction"]) == (16, 100)
        assert not quantised(config)
    made = ids()
    ensure_vector_indexes(connection)
    assert ids() == made
    connection.change_schema(DROP_VECTOR_INDEX[Label.CHUNK])
    wide = {**vector_config(IDENTITY.dimension), "vector.hnsw.m": 32, "vector.quantization.enabled": True}
    connection.change_schema(CREATE_VECTOR_INDEX[Label.CHUNK], {"options": {"indexConfig": wide}})
    assert _configs(connection) != usual
    ensure_vector_indexes(connection)
    assert _configs(connection) == usual
