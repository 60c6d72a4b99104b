"""A copy in memory that is brought up to date with what writes touched is the one that is read anew."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.contract.graphs import embed_pending, graph
from tests.examples import examples
from tests.graph.arrays.contents import index_contents
from tests.graph.neo4j.database import connected, empty, sent_queries
from tests.graph.neo4j.histories import HISTORIES, Step, carry_out
from tests.graph.neo4j.stores import new_store
from tests.neo4j_servers import Server
from trivium.graph.neo4j import Neo4jStore, in_memory
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.neo4j.cypher.searching import Dialect
from trivium.graph.neo4j.in_memory import Held, load

LARGE = 1 << 30


@pytest.fixture
def whole_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by each query that reads all chunks."""
    return sent_queries(monkeypatch, {cypher.HELD_CHUNKS})


def contents(held: Held) -> dict[str, Any]:
    """Everything in it as plain values."""
    found = index_contents(held.index) | {
        "state": held.state,
        "meanings": held.names,
        "ends": {uri: sorted(edges, key=repr) for uri, edges in held.relations.items()},
        "types": {name: values.tolist() for name, values in held.facts.types.items()},
    }
    return found | {name: getattr(held.facts, name) for name in ("chunks", "pages", "names", "aliases")}


def read_anew(store: Neo4jStore) -> Held:
    """The copy as another process would read it."""
    held = load(store._connection, store._cache, LARGE, lambda: True)
    assert held is not None
    return held


@pytest.mark.more
@settings(
    max_examples=examples(5),
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # each example is a database: shrinking would take an hour
    suppress_health_check=list(HealthCheck),
)
@given(steps=HISTORIES)
def test_after_any_history_it_is_the_one_that_is_read_anew(
    neo4j_2026: Server, whole_reads: list[str], steps: list[Step]
) -> None:
    """Every other state is looked at, so that what several writes touched comes together. The store is read whole once,
    and once more for each comparison."""
    with connected(neo4j_2026) as connection:
        empty(connection)
        store = Neo4jStore(connection, Dialect.PROCEDURE)
        carry_out(store, ("write", [graph("A", [("red moon", ["B"])], {"S": [("blue", ["X"])]})]))
        carry_out(store, ("embed", 1))
        assert store.replicate()
        whole_reads.clear()
        compared = 0
        for place, step in enumerate(steps):
            carry_out(store, step)
            if place % 2 == 0 or place == len(steps) - 1:
                assert store.replicate()
                current = store._memory._held
                assert current is not None
                assert contents(current) == contents(read_anew(store))
                compared += 1
        assert len(whole_reads) == compared


def test_of_too_many_pages_everything_is_read_again(
    neo4j_2026: Server, whole_reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In batches; so it is after a write that says nothing of what it touched, as a repair does."""
    with new_store(neo4j_2026) as store:
        store.write([graph("A", [("red", [])])])
        embed_pending(store)
        assert store.replicate() and store.replicate()
        assert len(whole_reads) == 1
        store.write([graph("B", [("blue", [])])])
        assert store.replicate()
        assert len(whole_reads) == 1
        monkeypatch.setattr(in_memory, "MOST_PAGES", 1)
        store.write([graph("C", [("green", [])]), graph("D", [("grey", [])])])
        assert store.replicate()
        assert len(whole_reads) == 2


def test_a_question_under_way_keeps_the_copy_it_began_with(neo4j_2026: Server) -> None:
    """Bringing it up to date makes another one."""
    with new_store(neo4j_2026) as store:
        store.write([graph("A", [("red moon", ["B"])])])
        embed_pending(store)
        assert store.replicate()
        with store.pinned() as begun:
            assert begun.keyword_search(["red"], 5) == ["A#chunk-1"]
            store.write([graph("A", [("green new", ["C"])])])
            embed_pending(store)
            assert store.replicate()
            assert begun.keyword_search(["red", "new"], 5) == ["A#chunk-1"]
            assert begun.term_statistics(["green", "new"]).document_frequency.tolist() == [0, 0]
            with store.pinned() as now:
                assert now.keyword_search(["green"], 5) == ["A#chunk-1"]
                assert now.keyword_search(["red"], 5) == []
