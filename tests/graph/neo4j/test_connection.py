"""The connection to a server: when it is closed, when the server is away, when the database is replaced."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from neo4j import AsyncResult, AsyncSession, Query
from neo4j.exceptions import TransientError

from tests.contract.graphs import embed_pending, graph, unit
from tests.graph.neo4j.stores import credentials, new_store
from tests.neo4j_servers import Server
from tests.neo4j_wipe import wipe
from trivium.errors import StoreBusyError, StoreError
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.address import Address
from trivium.graph.neo4j.connection import Connection, translated
from trivium.graph.schema import Label

SLOW = "UNWIND range(1, 100000000) AS a UNWIND range(1, 1000) AS b RETURN count(sin(a * b))"


@pytest.fixture
def connection(neo4j_2026: Server) -> Iterator[Connection]:
    """A connection of this test's own."""
    connection = _connect(neo4j_2026, 60)
    yield connection
    connection.close()


def _connect(server: Server, timeout: float) -> Connection:
    return Connection(Address(server.bolt, None, server.user, server.password), timeout=timeout)


def test_closing_gives_up_what_is_under_way(connection: Connection) -> None:
    """Calls end with an error that says why instead of waiting for ever."""
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            connection.read(SLOW)
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    connection.close()
    for thread in threads:
        thread.join(timeout=10)
    assert [str(error).endswith("is closed") for error in errors] == [True] * 3
    with pytest.raises(StoreError, match="is closed"):
        connection.read("RETURN 1")
    connection.close()


def test_a_server_that_is_away_is_not_waited_for() -> None:
    """The message comes at once, not after all attempts that a lost server is worth."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = Address(f"bolt://127.0.0.1:{unused.getsockname()[1]}", None, "neo4j", "neo4j")
    connection = Connection(address, timeout=30)
    began = time.monotonic()
    with pytest.raises(StoreError, match="no Neo4j server answers"):
        connection.read("RETURN 1")
    assert time.monotonic() - began < 5
    connection.close()


def test_a_read_of_the_whole_graph_may_take_longer(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty times as long as a question, of which the server is told."""
    limits: list[float | None] = []
    run = AsyncSession.run

    async def watched(self: AsyncSession, query: Query, *given: Any, **options: Any) -> AsyncResult:
        limits.append(query.timeout)
        return await run(self, query, *given, **options)

    monkeypatch.setattr(AsyncSession, "run", watched)
    connection.read("RETURN 1")
    connection.read_at_once(["RETURN 1", "RETURN 2"], whole=True)
    assert limits == [60, 1200, 1200]


def test_too_little_memory_is_told_from_a_busy_server() -> None:
    """Trying again would not help."""
    error = TransientError._hydrate_neo4j(
        code="Neo.TransientError.General.MemoryPoolOutOfMemoryError", message="too much"
    )
    with (
        pytest.raises(StoreError, match="too little memory") as caught,
        translated(Address("bolt://h", None, "u", "p")),
    ):
        raise error
    assert not isinstance(caught.value, StoreBusyError)


def test_a_database_that_is_replaced_is_noticed(neo4j_2026: Server) -> None:
    """By an import of another graph, whose generation is the same: nothing of the old one is believed."""
    with new_store(neo4j_2026) as old, credentials(neo4j_2026):
        old.write([graph("A", [("a", ["B"])])])
        embed_pending(old)
        assert [near.uri for near in old.nearest([Label.CHUNK], unit("q"), 9)] == ["A#chunk-1"]
        assert list(old.adjacency().chunks) == ["A#chunk-1"]
        assert old.term_statistics(["a", "c"]).document_frequency.tolist() == [1, 0]
        wipe(neo4j_2026)
        with Neo4jStore.create(neo4j_2026.bolt) as new:
            new.write([graph("C", [("c", ["D"])])])
            embed_pending(new)
        old._cache.forget_state()
        assert [near.uri for near in old.nearest([Label.CHUNK], unit("q"), 9)] == ["C#chunk-1"]
        assert list(old.adjacency().chunks) == ["C#chunk-1"]
        assert old.term_statistics(["a", "c"]).document_frequency.tolist() == [0, 1]


def test_new_vectors_leave_links_and_words_as_they_were(neo4j_2026: Server) -> None:
    """The walk's graph is not read again for each part of an embedding run."""
    with new_store(neo4j_2026) as store:
        store.write([graph("A", [("a", ["B"])])])
        before = store._cache.state(store._connection, now=True)
        embed_pending(store)
        embedded = store._cache.state(store._connection, now=True)
        assert (embedded.content_key, embedded.key != before.key) == (before.content_key, True)
        store.write([graph("C", [("c", [])])])
        assert store._cache.state(store._connection, now=True).content_key != embedded.content_key
