"""Searches in real databases, beside the store that is obviously right."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.contract.graphs import IDENTITY, codes, embed_pending, graph, unit
from tests.contract.graphs import pages as drawn_pages
from tests.contract.state import QUESTIONS, state_of
from tests.examples import examples
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j.stores import SERVERS, credentials, new_store
from tests.neo4j_servers import Server
from trivium.errors import StoreError
from trivium.graph.neo4j import Neo4jStore, walk_graph
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher.schema import DROP_VECTOR_INDEX
from trivium.graph.neo4j.store_cache import STATE_SECONDS
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Adjacency, Floats, Passage, Reached
from trivium.graph.schema import Hop, Label

POPULAR = 120
PRECISION = 3e-7
"""Of cosines the server works out."""
VECTOR = unit("question")
WAYS = (
    ([Label.PAGE], 3, Hop.BELOW),
    ([Label.ENTITY], 4, Hop.CITED_IN),
    ([Label.SUBCHAPTER, Label.PAGE], 3, Hop.CHILD),
)


def fill(store: GraphStore) -> None:
    """An entity that more chunks cite than a list is long, some of them another one as well; chunks of equal texts."""
    blocks = [(f"text {n % 100}", ["X", "Y"] if n % 3 == 0 else ["X"]) for n in range(POPULAR)]
    store.write(
        [
            graph("A", blocks[:60], {"S": blocks[60:]}, aliases=["Aa"], relations=[("r", "X"), ("q", "B")]),
            graph("B", [("b", ["Y", "Z"])], {"S": [("c", ["Aa"])], "T": []}),
        ]
    )
    embed_pending(store)


def _filled() -> MemoryStore:
    oracle = MemoryStore()
    fill(oracle)
    return oracle


@pytest.fixture(scope="module", params=SERVERS)
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Neo4jStore, MemoryStore]]:
    """The same pages in a database and in memory; only read."""
    server: Server = request.getfixturevalue(request.param)
    with new_store(server) as store:
        fill(store)
        yield store, _filled()


def check_reached(found: list[Reached], expected: list[Reached]) -> None:
    """The same chunks in the same order, cosines as far as the server's single precision reaches."""
    assert [(r.uri, r.source_node, r.position) for r in found] == [
        (r.uri, r.source_node, r.position) for r in expected
    ]
    np.testing.assert_allclose(_cosines(found), _cosines(expected), rtol=0, atol=PRECISION)


def _cosines(reached: list[Reached]) -> Floats:
    return np.array([(r.score, r.cosine) for r in reached], dtype=np.float64)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("limit", [5, 30, POPULAR, None])
def test_lists_are_cut_on_the_server_as_if_they_came_whole(
    both: tuple[Neo4jStore, MemoryStore], exact: bool, limit: int | None
) -> None:
    """Also where an entity leads to more chunks than are asked for, and a chunk is reached from several."""
    store, oracle = both
    for vector in map(unit, (*QUESTIONS, "third", "fourth")):
        for labels, nodes, hop in WAYS:
            found = store.expand_nearest(labels, vector, nodes, hop, limit, exact=exact)
            check_reached(found, oracle.expand_nearest(labels, vector, nodes, hop, limit))


def test_reads_are_one_round_trip_each(both: tuple[Neo4jStore, MemoryStore], trips: list[str]) -> None:
    """How the store stands aside, which is asked once for all that a question needs."""
    store, _ = both
    vector = unit("another question")
    store.nearest([Label.CHUNK], vector, 1)
    asked: dict[str, Callable[[], object]] = {
        "nearest": lambda: store.nearest([Label.SUBCHAPTER, Label.PAGE], vector, 5),
        "reach": lambda: store.expand_nearest([Label.ENTITY], vector, 5, Hop.CITED_IN, 5),
        "words": lambda: store.keyword_search(["text", "b"], 5),
        "similarities": lambda: store.similarities(vector, store.chunk_uris()[:9]),
        "vectors": lambda: store.vectors(Label.ENTITY, ["X", "Y"]),
        "sentence vectors": lambda: store.sentence_vectors(["A#chunk-1", "B#chunk-1", "none"]),
        "relation vectors": lambda: store.relation_vectors(["r"]),
        "relations": lambda: store.relations(["A", "B"]),
        "outline": lambda: store.outline(["A", "B"]),
        "expand": lambda: store.expand(["A", "A#S"], Hop.CHILD),
        "cited": lambda: store.cited(["A#chunk-1"]),
        "fetch": lambda: store.fetch(["A#chunk-1", "B#chunk-1"]),
        "resolve": lambda: store.resolve(["Aa", "B"]),
        "lookup": lambda: store.lookup_names(["a", "aa"]),
    }
    counts = {}
    for name, ask in asked.items():
        store.embedder  # noqa: B018 - sees how the store stands
        trips.clear()
        ask()
        counts[name] = len([query for query in trips if "TriviumStore" not in query])
    expected = dict.fromkeys(asked, 1) | {"similarities": 2}  # one of them for the chunks
    assert counts == expected


def test_what_was_asked_before_is_not_asked_again(
    both: tuple[Neo4jStore, MemoryStore], trips: list[str]
) -> None:
    """Vectors, also of sentences, neighbours, the walk's graph, and the terms that came along with the words."""
    store, oracle = both
    found = store.keyword_search(["text", "b"], 50)
    store.nearest([Label.PAGE], VECTOR, 2)
    store.vectors(Label.PAGE, ["A", "none"])
    store.sentence_vectors(["A#chunk-2", "none"])
    store.relation_vectors(["r"])
    store.adjacency()
    trips.clear()
    counts = store.term_counts(found[:9], ["text", "b"])
    assert counts.text.tolist() == oracle.term_counts(found[:9], ["text", "b"]).text.tolist()
    frequency = store.term_statistics(["text", "b"]).document_frequency
    assert frequency.tolist() == oracle.term_statistics(["text", "b"]).document_frequency.tolist()
    assert np.isnan(store.vectors(Label.PAGE, ["none", "A", "A"])[:, 0]).tolist() == [True, False, False]
    assert store.sentence_vectors(["none", "A#chunk-2", "A#chunk-2"]).starts.tolist() == [0, 0, 2, 4]
    store.nearest([Label.PAGE], VECTOR, 1)
    store.relation_vectors(["r"])
    assert store.adjacency() is store.adjacency()
    assert [query for query in trips if "TriviumStore" not in query] == []


def test_views_that_ask_at_once_share_the_answers_of_the_indexes(
    both: tuple[Neo4jStore, MemoryStore], trips: list[str]
) -> None:
    """Whoever comes first; each index is searched once a question, and all get the same."""
    store, oracle = both
    vector = unit("a third question")
    store.nearest([Label.CHUNK], vector, 1)
    trips.clear()
    with ThreadPoolExecutor(8) as threads:
        pending = [threads.submit(store.expand_nearest, labels, vector, n, hop, 9) for labels, n, hop in WAYS]
        near = [threads.submit(store.nearest, [label], vector, 3) for label in (Label.PAGE, Label.ENTITY)]
    for each, (labels, nodes, hop) in zip(pending, WAYS, strict=True):
        check_reached(each.result(), oracle.expand_nearest(labels, vector, nodes, hop, 9))
    assert [[n.uri for n in each.result()] for each in near] == [
        [n.uri for n in oracle.nearest([label], vector, 3)] for label in (Label.PAGE, Label.ENTITY)
    ]
    searched = [query for query in trips if "$count" in query]
    assert len(searched) <= 3


def test_a_vector_of_another_length_is_refused(both: tuple[Neo4jStore, MemoryStore]) -> None:
    """By every search."""
    store, _ = both
    wrong = np.ones(IDENTITY.dimension + 1, dtype=np.float32)
    for ask in (
        lambda: store.nearest([Label.CHUNK], wrong, 1),
        lambda: store.expand_nearest([Label.PAGE], wrong, 1, Hop.BELOW, 1),
        lambda: store.similarities(wrong, ["A#chunk-1"]),
    ):
        with pytest.raises(StoreError, match=r"\(8,\)"):
            ask()


def test_terms_of_any_kind_are_words_to_the_index(both: tuple[Neo4jStore, MemoryStore]) -> None:
    """None is an operator, and none an error."""
    store, _ = both
    marks = [
        *'+-&|!(){}[]^"~*?:\\/<>=@#$%;,.',
        "AND",
        "OR",
        "NOT",
        "TO",
        "\\u0041",
        "text*",
        "te?t",
        "text~1",
    ]
    marks += [
        "search_terms:text",
        '"text"',
        "/text/",
        "[a TO z]",
        "text^2",
        "_exists_",
        "\x00",
        "\u202e",
        "x" * 40_000,
    ]
    for mark in marks:
        assert store.keyword_search([mark], 5) == []
    assert len(store.keyword_search([*marks, "text"], 5)) == 5
    assert store.keyword_search([f"t{n}" for n in range(3000)] + ["text"], 5) == []


def test_a_change_by_another_is_noticed(neo4j_2026: Server) -> None:
    """In everything that is kept, a moment later at most."""
    with new_store(neo4j_2026) as store, credentials(neo4j_2026), Neo4jStore.open(neo4j_2026.bolt) as other:
        fill(store)

        def seen() -> tuple[object, ...]:
            return (
                other.adjacency().entities,
                other.term_statistics(["new"]).document_frequency.tolist(),
                other.term_counts(["B#chunk-1"], ["b", "new"]).text.tolist(),
                np.isnan(other.vectors(Label.CHUNK, ["B#chunk-1"])).any(),
                other.sentence_vectors(["A#chunk-1"]).starts.tolist(),
                [near.uri for near in other.nearest([Label.PAGE], VECTOR, 9)],
            )

        before = seen()
        store.write([graph("B", [("new", ["W"])]), graph("C", [("b", [])])])
        time.sleep(STATE_SECONDS)
        after = seen()
        assert [one == two for one, two in zip(before, after, strict=True)] == [*[False] * 4, True, True]
        store.put_vectors(["C"], unit("C")[None])
        store.put_sentences([Passage(("A",), "text 0")], [codes("one and two")])
        time.sleep(STATE_SECONDS)
        assert seen()[-2] == [0, 3] != before[-2]
        assert seen()[-1] != before[-1]


@pytest.mark.parametrize("fixture", SERVERS)
def test_the_first_questions_after_an_import_make_the_vector_indexes(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    """However many ask at once, in however many processes: a bulk import brings none."""
    server: Server = request.getfixturevalue(fixture)
    with new_store(server) as store, credentials(server), Neo4jStore.open(server.bolt) as other:
        fill(store)
        expected = [near.uri for near in _filled().nearest([Label.CHUNK], VECTOR, 9)]
        for statement in DROP_VECTOR_INDEX.values():
            store._connection.change_schema(statement)
        for each in (store, other):
            each._cache.clear()
        with ThreadPoolExecutor(8) as pool:
            found = pool.map(lambda each: each.nearest([Label.CHUNK], VECTOR, 9), [store, other] * 4)
            assert [[near.uri for near in one] for one in found] == [expected] * 8


def test_the_walk_graph_is_read_by_one_process_for_all(
    neo4j_2026: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next finds it in a file, and after a change goes on from there."""
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    monkeypatch.setattr(walk_graph, "WORTH_KEEPING", 1)
    read: list[Connection] = []
    from_database = walk_graph._read

    def counted(connection: Connection) -> Adjacency:
        read.append(connection)
        return from_database(connection)

    monkeypatch.setattr(walk_graph, "_read", counted)
    with new_store(neo4j_2026) as store, credentials(neo4j_2026):
        fill(store)
        first = store.adjacency()
        for _ in range(2):
            with Neo4jStore.open(neo4j_2026.bolt) as other:
                found = other.adjacency()
                assert (found.chunks[:], found.entities[:]) == (first.chunks[:], first.entities[:])
                np.testing.assert_array_equal(found.indices, first.indices)
        assert len(read) == 1
        store.write([graph("C", [("c", ["X"])])])
        with Neo4jStore.open(neo4j_2026.bolt) as other:
            assert len(other.adjacency().chunks) == len(first.chunks) + 1
        assert len(read) == 1


def test_the_walk_graph_is_read_in_answers_of_bounded_size(
    neo4j_2026: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None grows with the graph, and together they are all of it."""
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    monkeypatch.setattr(walk_graph, "NODES_A_READ", 7)
    sizes: list[int] = []
    fetch = Connection.fetch

    async def measured(self: Connection, query: str, *given: Any, **options: Any) -> Any:
        rows = await fetch(self, query, *given, **options)  # type: ignore[arg-type]
        sizes.extend(len(value) for row in rows for value in row if isinstance(value, list))
        return rows

    with new_store(neo4j_2026) as store:
        fill(store)
        monkeypatch.setattr(Connection, "fetch", measured)
        found, expected = store.adjacency(), _filled().adjacency()
    assert len(sizes) > len(expected.chunks) // 8
    assert max(sizes) <= 8  # one node comes twice, to go on from
    assert (found.chunks[:], found.entities[:]) == (expected.chunks[:], expected.entities[:])
    for name in ("indptr", "indices", "own_chunks"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.more
@pytest.mark.parametrize("fixture", SERVERS)
@settings(
    max_examples=examples(2),
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],  # each example is a database: shrinking would take an hour
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    batches=st.lists(st.lists(drawn_pages, min_size=1, max_size=4), min_size=1, max_size=2),
    embed=st.booleans(),
)
def test_any_graph_reads_as_from_the_store_that_is_obviously_right(
    request: pytest.FixtureRequest, fixture: str, batches: list[list[PageGraph]], embed: bool
) -> None:
    """Every kind of read after each batch, exact and by the indexes."""
    oracle = MemoryStore()
    with new_store(request.getfixturevalue(fixture)) as store:
        for batch in batches:
            for each in (oracle, store):
                each.write(batch)
                if embed:
                    embed_pending(each)
            found, expected = state_of(store), state_of(oracle)
            _check_similarities(found, expected)
            assert found == expected
            for question in QUESTIONS:
                _check_by_index(store, oracle, question)


def _check_similarities(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """The server reckons them in single precision, and the state has six digits: compared, and taken out, apart."""
    for one, two in zip(found["searches"], expected["searches"], strict=True):
        mine, theirs = (np.array(each.pop("similarities"), dtype=np.float64) for each in (one, two))
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-6)


def _check_by_index(store: GraphStore, oracle: GraphStore, question: str) -> None:
    vector = unit(question)
    for labels, nodes, hop in WAYS:
        near, expected = store.nearest(labels, vector, 4), oracle.nearest(labels, vector, 4)
        assert [node.uri for node in near] == [node.uri for node in expected]
        for one, two in zip(near, expected, strict=True):
            assert math.isclose(one.score, two.score, abs_tol=PRECISION)
        check_reached(
            store.expand_nearest(labels, vector, nodes, hop, 4),
            oracle.expand_nearest(labels, vector, nodes, hop, 4),
        )
