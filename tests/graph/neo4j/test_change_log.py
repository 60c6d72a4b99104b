"""What writes touched is noted in the database, and readers bring the graph of the walk up to date with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, LiteralString

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.contract.graphs import graph
from tests.examples import examples
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j.database import connected, empty, sent_queries
from tests.graph.neo4j.histories import HISTORIES, Step, carry_out
from tests.graph.neo4j.stores import credentials, new_store
from tests.neo4j_servers import Server
from trivium.graph.neo4j import Neo4jStore, change_log, walk_graph, write_steps
from trivium.graph.neo4j.change_log import LoggedWrite, Touched, touched_since
from trivium.graph.neo4j.connection import rows
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.neo4j.cypher.searching import Dialect
from trivium.graph.records import Adjacency

WITHOUT_NOTE: LiteralString = """
MATCH (t:TriviumStore) SET t.generation = t.generation + 1, t.uuid = randomUUID()
WITH t MATCH (:Chunk {uri: 'B#chunk-1'})-[r:cites]->() DELETE r
"""
"""A write by a program that knows of no log."""
WHOLE = {cypher.NUMBERED_ENTITIES, cypher.CITATIONS}
KEPT = 8
"""Changes that the log keeps in ``short_log``."""


@pytest.fixture
def whole_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by each query that reads the whole graph."""
    return sent_queries(monkeypatch, WHOLE)


@pytest.fixture
def short_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log forgets sooner, so that fewer writes reach its end: each costs a good part of a second."""
    for module in (write_steps, walk_graph):
        monkeypatch.setattr(module, "KEPT_CHANGES", KEPT)


@pytest.fixture
def filled(neo4j_2026: Server) -> Iterator[Neo4jStore]:
    """A store with two pages, whose graph has been read."""
    with new_store(neo4j_2026) as store:
        store.write([graph("A", [("red", ["B", "X"])]), graph("B", [("blue", ["X"])])])
        store.adjacency()
        yield store


def same(one: Adjacency, other: Adjacency) -> bool:
    """Whether all parts are equal."""
    return (
        (one.chunks[:], one.entities[:], one.chunk_rows, one.entity_rows)
        == (other.chunks[:], other.entities[:], other.chunk_rows, other.entity_rows)
        and np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.indices, other.indices)
        and np.array_equal(one.own_chunks, other.own_chunks)
    )


def pages_to(store: Neo4jStore, number: int) -> None:
    """Change a page in a way of its own."""
    store.write([graph("A", [(f"red {number}", ["B", f"Y{number}"])])])


@pytest.mark.more
@settings(
    max_examples=examples(5),
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # each example is a database: shrinking would take an hour
    suppress_health_check=list(HealthCheck),
)
@given(steps=HISTORIES)
def test_after_any_history_the_graph_is_that_of_the_obvious_store_and_was_read_once(
    neo4j_2026: Server, whole_reads: list[str], steps: list[Step]
) -> None:
    """Every other state is looked at, so that what several writes touched comes together."""
    with connected(neo4j_2026) as connection:
        empty(connection)
        store, oracle = Neo4jStore(connection, Dialect.PROCEDURE), MemoryStore()
        whole_reads.clear()
        for place, step in enumerate(steps):
            carry_out(store, step)
            carry_out(oracle, step)
            if place % 2 == 0 or place == len(steps) - 1:
                assert same(store.adjacency(), oracle.adjacency())
        assert len(whole_reads) == len(WHOLE)


def test_another_process_takes_over_what_a_write_touched(
    filled: Neo4jStore, neo4j_2026: Server, whole_reads: list[str]
) -> None:
    """It has read the graph before, the writer has not."""
    with credentials(neo4j_2026), Neo4jStore.open(neo4j_2026.bolt) as writer:
        pages_to(writer, 1)
    assert {"Y1"} == set(filled.adjacency().entities) - {"A", "B", "X"}
    assert whole_reads == []


@pytest.mark.usefixtures("short_log")
def test_a_process_goes_on_from_the_file_of_an_earlier_one(
    filled: Neo4jStore,
    neo4j_2026: Server,
    whole_reads: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    """And writes a new one before the log has forgotten that state."""
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    monkeypatch.setattr(walk_graph, "WORTH_KEEPING", 1)
    filled._cache.clear()
    filled.adjacency()
    whole_reads.clear()
    for number in range(KEPT + 1):
        pages_to(filled, number)
        with credentials(neo4j_2026), Neo4jStore.open(neo4j_2026.bolt) as later:
            assert f"Y{number}" in later.adjacency().entities
    assert whole_reads == []
    assert len(list((tmp_path / walk_graph.FOLDER).iterdir())) == 2


@pytest.mark.usefixtures("short_log")
@pytest.mark.parametrize("why", ["too much", "too long ago", "an earlier version", "another database"])
def test_without_a_note_everything_is_read_again(
    filled: Neo4jStore, whole_reads: list[str], monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """Nothing may be missed."""
    if why == "too much":
        monkeypatch.setattr(change_log, "MOST_NAMES", 0)
    for number in range(KEPT + 1 if why == "too long ago" else 1):
        pages_to(filled, number)
    if why == "an earlier version":
        filled._connection.write(lambda transaction: rows(transaction, WITHOUT_NOTE))
    if why == "another database":
        filled._cache.projected = ("of another one", filled._cache.projected[1])
    filled._cache.forget_state()
    links = filled.adjacency()
    assert len(whole_reads) == len(WHOLE)
    page = links.entity_rows["B"] + len(links.chunks)
    cited = links.indices[links.indptr[1] : links.indptr[2]].tolist()  # by B#chunk-1
    assert (cited == [page]) == (why == "an earlier version")


def test_a_line_says_what_it_was_made_of() -> None:
    """Names with spaces, quotes and line breaks too; of a line that a later version wrote, everything is touched."""
    touched = Touched.by(pages=['A "b"', "é\n c"], texts=["0f"])
    assert LoggedWrite.parse(f"7 a b {touched.to_text()}") == LoggedWrite(7, "a", "b", touched)
    assert LoggedWrite.parse("7  b ") == LoggedWrite(7, "", "b", None)
    assert LoggedWrite.parse('7 a b {"moons": ["Io"]}').touched is None


def test_the_log_is_followed_without_gaps_only() -> None:
    """By number and by uuid; a write that came later than the state asked for is no part of it."""
    moved, given = Touched.by(pages=["A"]), Touched.by(texts=["0f"])
    log = [LoggedWrite(3, "a", "b", moved), LoggedWrite(4, "b", "b", given), LoggedWrite(5, "b", "c", moved)]
    assert touched_since(log, "a", 4) == moved | given
    assert touched_since(log, "b", 4) == given
    assert touched_since(log, "b", 5, base=4) == moved
    assert touched_since(log, "b", 5, base=2) is touched_since(log, "b", 6) is None
    assert touched_since([log[0], log[2]], "a", 5) is None
    assert touched_since([*log[:2], LoggedWrite(5, "x", "c", moved)], "a", 5) is None
    assert touched_since([log[0], LoggedWrite(4, "b", "b", None)], "a", 4) is None
    assert touched_since([], "a", 4) is None
