"""The copy of a store in memory: what it answers, when it is read, and when it is dropped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.contract.graphs import codes, embed_pending, graph, unit
from tests.contract.graphs import pages as drawn_pages
from tests.contract.state import QUESTIONS, state_of
from tests.examples import examples
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j.stores import OLDER_SLOW, credentials, new_store
from tests.neo4j_servers import Server
from tests.sample_graph import fill_with_sample
from trivium.engine import Engine
from trivium.graph.filter_language import parse
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j import in_memory as keeper
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.neo4j.in_memory import HeldView, LateView
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Passage
from trivium.graph.schema import Hop, Label

VECTOR = unit("question")
FROM_THE_SERVER = 32
"""Round trips that a search takes at most that has no replica: of the eight views, their scores and the texts. How the
store stands is asked besides, the more often the longer it takes."""


class Seen:
    """A store as a question sees it: what a pinned view can be asked it is asked, all else the store."""

    def __init__(self, store: Neo4jStore, view: SearchStore) -> None:
        self._store = store
        self._view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view if hasattr(LateView, name) else self._store, name)


def is_held(view: SearchStore) -> bool:
    """Whether a pinned view is answered from memory."""
    return isinstance(view, LateView) and isinstance(view._store, HeldView)


@pytest.fixture
def filled(neo4j_2026: Server) -> Iterator[Neo4jStore]:
    """A store with two pages, its replica read."""
    with new_store(neo4j_2026) as store:
        store.write(
            [
                graph("A", [("red moon", ["B", "X"])], {"S": [("blue", ["X"])]}),
                graph("B", [("red", [])], source="other"),
            ]
        )
        embed_pending(store)
        assert store.replicate()
        yield store


@pytest.mark.more
@pytest.mark.parametrize("fixture", OLDER_SLOW)
@settings(
    max_examples=examples(2),
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],  # each example is a database: shrinking would take an hour
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(batches=st.lists(st.lists(drawn_pages, min_size=1, max_size=4), min_size=1, max_size=2))
def test_any_graph_reads_from_the_replica_as_from_the_store_that_is_obviously_right(
    request: pytest.FixtureRequest, fixture: str, batches: list[list[PageGraph]]
) -> None:
    """Every kind of read after each batch, to six digits, and the approximate searches are exact."""
    oracle = MemoryStore()
    with new_store(request.getfixturevalue(fixture)) as store:
        for batch in batches:
            for each in (oracle, store):
                each.write(batch)
                embed_pending(each)
            assert store.replicate()
            with store.pinned() as view:
                assert is_held(view)
                assert state_of(Seen(store, view)) == state_of(oracle)  # type: ignore[arg-type]
                for question in QUESTIONS:
                    for label in Label:
                        near = [
                            view.nearest([label], unit(question), 4),
                            oracle.nearest([label], unit(question), 4),
                        ]
                        found, expected = ([(n.uri, f"{n.score:.6g}") for n in each] for each in near)
                        assert found == expected


def test_sentences_come_from_the_replica(filled: Neo4jStore) -> None:
    """In the order asked, none for a chunk that has none and for an unknown one."""
    filled.put_sentences([Passage(("A",), "red moon")], [codes("one and two")])
    assert filled.replicate()
    asked = ["B#chunk-1", "A#chunk-1", "none", "A#chunk-1"]
    with filled.pinned() as view:
        found, expected = view.sentence_vectors(asked), filled.sentence_vectors(asked)
    assert found.starts.tolist() == expected.starts.tolist() == [0, 0, 3, 3, 6]
    np.testing.assert_array_equal(found.codes, expected.codes)


def test_a_search_asks_the_server_for_its_state_alone(neo4j_2026: Server, trips: list[str]) -> None:
    """With every view, signals and the texts of the hits; before there is a replica for at most so much."""
    fill_with_sample(neo4j_2026)
    with credentials(neo4j_2026), Engine.open(neo4j_2026.bolt) as engine:
        store = engine.store
        assert isinstance(store, Neo4jStore)
        engine.search("what is a lighthouse")  # reads the graph of the walk
        trips.clear()
        before = engine.search("who keeps the light", 10, fusion="convex")
        assert 1 < len([query for query in trips if "TriviumStore" not in query]) <= FROM_THE_SERVER
        assert store.replicate()
        trips.clear()
        after = engine.search("who keeps the light", 10, fusion="convex")
        assert [query for query in trips if "TriviumStore" not in query] == []
        assert len(trips) == 1
        assert [hit.uri for hit in after] == [hit.uri for hit in before]
        np.testing.assert_allclose([hit.score for hit in after], [hit.score for hit in before], atol=1e-4)
        assert [(hit.text, hit.document, hit.metadata) for hit in after] == [
            (hit.text, hit.document, hit.metadata) for hit in before
        ]
        trips.clear()
        engine.search("who built the harbour", 10, ["vector"])
        assert len(trips) == 1


def test_keyword_search_finds_what_the_server_finds(neo4j_2026: Server) -> None:
    """By the same formula: the same chunks in the same order."""
    fill_with_sample(neo4j_2026)
    with credentials(neo4j_2026), Neo4jStore.open(neo4j_2026.bolt) as store:
        assert store.replicate()
        with store.pinned() as view:
            for terms in (["light", "keeper"], ["ship", "harbour", "storm"], ["island"], ["none"], []):
                assert view.keyword_search(terms, 10) == store.keyword_search(terms, 10)


def test_a_write_by_another_is_seen_by_the_next_question(filled: Neo4jStore, neo4j_2026: Server) -> None:
    """At once, whatever was read into memory; a question under way goes on seeing the state that it began with."""
    with credentials(neo4j_2026), Neo4jStore.open(neo4j_2026.bolt) as other, filled.pinned() as begun:
        assert [record.text for record in begun.fetch(["B#chunk-1"])] == ["red"]
        other.write([graph("B", [("green", ["W"])])])
        with filled.pinned() as next_question:
            assert not is_held(next_question)
            assert [record.text for record in next_question.fetch(["B#chunk-1"])] == ["green"]
            assert "W" in next_question.adjacency().entities
        assert [record.text for record in begun.fetch(["B#chunk-1"])] == ["red"]
        assert "W" not in begun.adjacency().entities
        embed_pending(other)
        assert filled.replicate()
        with filled.pinned() as view:
            assert [record.text for record in view.fetch(["B#chunk-1"])] == ["green"]
        other.put_vectors(["W"], unit("another")[None])
        with filled.pinned() as view:
            assert not is_held(view), "vectors have changed"


def test_conditions_are_answered_from_memory(filled: Neo4jStore, trips: list[str]) -> None:
    """As the store answers them, asking the server for its state alone."""
    condition = parse("source = 'test'")
    with filled.pinned() as view:
        trips.clear()
        limited = view.within(condition)
        limited.nearest([Label.CHUNK], VECTOR, 3)
        limited.expand_nearest([Label.PAGE], VECTOR, 3, Hop.BELOW, 9)
        limited.keyword_search(["red"], 9)
        limited.adjacency()
        assert [query for query in trips if "TriviumStore" not in query] == []
    with filled.pinned() as view:
        limited, expected = view.within(condition), filled.within(condition)
        for labels, hop in (([Label.PAGE], Hop.BELOW), ([Label.ENTITY], Hop.CITED_IN)):
            found = limited.expand_nearest(labels, VECTOR, 3, hop, 9)
            assert [each.uri for each in found] == [
                each.uri for each in expected.expand_nearest(labels, VECTOR, 3, hop, 9)
            ]
        assert limited.keyword_search(["red"], 9) == expected.keyword_search(["red"], 9) == ["A#chunk-1"]


def _ask(store: Neo4jStore, times: int = keeper.QUESTIONS) -> bool:
    """Whether the last of some questions was of the replica."""
    for _ in range(times):
        with store.pinned() as view:
            there = is_held(view)
    store._memory.join()
    return there


def test_a_store_is_read_after_some_questions_of_a_state_that_lasts(
    neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for one question, and not while somebody writes."""
    monkeypatch.setattr(keeper, "SETTLED_SECONDS", 600.0)
    with new_store(neo4j_2026) as store:
        store.write([graph("A", [("red", [])])])
        embed_pending(store)
        assert not _ask(store, 10)
        assert not _ask(store, 1), "the state is too young"
        monkeypatch.setattr(keeper, "SETTLED_SECONDS", 0.0)
        store.write([graph("B", [("blue", [])])])
        embed_pending(store)
        assert not _ask(store, keeper.QUESTIONS - 1)
        assert not _ask(store, 1)
        assert _ask(store, 1), "the third question had it read"


def test_a_store_that_is_too_large_is_left_to_the_server(
    neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch, trips: list[str]
) -> None:
    """Nothing of it is read: its nodes are counted once a state, and not at all where no memory is granted."""
    monkeypatch.setattr(keeper, "SETTLED_SECONDS", 0.0)
    for limit in (0, 100):
        with new_store(neo4j_2026) as store:
            store._memory._limit = limit
            store.write([graph("A", [("red", [])])])
            embed_pending(store)
            trips.clear()
            assert not store.replicate()
            assert not {cypher.NUMBERED_ENTITIES, cypher.CITATIONS, cypher.HELD_ENTITIES} & set(trips)
            trips.clear()
            assert not _ask(store, 2 * keeper.QUESTIONS)
            assert [query for query in trips if "TriviumStore" not in query] == []


def test_closing_a_store_ends_the_reading(neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a moment, and without a word."""
    monkeypatch.setattr(keeper, "SETTLED_SECONDS", 0.0)

    def load_for_ever(connection: Connection, *_: object) -> None:
        while True:
            connection.read("RETURN 1")

    monkeypatch.setattr(keeper, "load", load_for_ever)
    with new_store(neo4j_2026) as store:
        store.write([graph("A", [("red", [])])])
        embed_pending(store)
        for _ in range(keeper.QUESTIONS):
            with store.pinned():
                pass
        assert store._memory._thread is not None
        begun = time.monotonic()
    assert time.monotonic() - begun < 10
    assert store._memory._thread is None
