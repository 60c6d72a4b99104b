"""What the database cannot hold is refused, and what changes nothing leaves no trace."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.contract.graphs import IDENTITY, graph
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j.database import expected, found, generation
from trivium.errors import StoreError, StoreFormatError
from trivium.graph.neo4j import Neo4jStore, apply_change
from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.page_graph import PageGraph, RelationEdge, SectionNode

MARS = graph(
    "Mars", [("red planet", ["Moon", "Sun"])], {"Moons": [("two moons", ["Phobos"])]}, aliases=["Ares"]
)
LONG = "é" * 4_001


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (graph(LONG), "at most 8,000 bytes, got one of 8,002"),
        (graph("P", [("x", [LONG])]), "at most 8,000 bytes"),
        (graph("P", aliases=[LONG]), "at most 8,000 bytes"),
        (graph("P", relations=[(LONG, "Q")]), "at most 8,000 bytes"),
        (graph("P", relations=[("r", LONG)]), "at most 8,000 bytes"),
        (dataclasses.replace(graph("P"), text="\ud800"), "half of a surrogate pair at character 0"),
        (graph("P", [("x", ["\udfff"])]), "half of a surrogate pair in '.udfff'"),
        (graph("P", revision=1 << 63), "at most 64 bits"),
        (dataclasses.replace(graph("P"), sections=(SectionNode("P#S", "P#S", 1, 0),)), "stands under itself"),
        (dataclasses.replace(graph("P"), sections=(SectionNode("P#S", "P#T", 1, 0),)), "stands under 'P#T'"),
    ],
    ids=["title", "citation", "alias", "type", "target", "text", "cited", "revision", "circle", "orphan"],
)
def test_a_page_that_cannot_be_stored_changes_nothing(
    connection: Connection, store: Neo4jStore, page: PageGraph, message: str
) -> None:
    """The whole batch is refused before anything is written, and the place is named."""
    before = found(connection), generation(connection)
    with pytest.raises(StoreError, match=message):
        store.write([MARS, page])
    assert (found(connection), generation(connection)) == before


def test_the_longest_titles_fit(connection: Connection, store: Neo4jStore) -> None:
    """8,000 bytes exactly, in every place where a title stands; names that grow in lower case are left out."""
    title = "Ⱥ" * 4_000
    page = graph(title, [("x", ["é" * 4_000])], aliases=["a" * 8_000], relations=[("r", "b" * 8_000)])
    page = dataclasses.replace(page, chunks=(dataclasses.replace(page.chunks[0], uri="c" * 8_000),))
    store.write([page])
    assert connection.read("MATCH (p:Page) RETURN p.uri, p.name") == [[title, None]]
    assert store.delete(["a" * 8_000]) == [title]


def test_a_word_longer_than_any_index_takes_is_counted_too(connection: Connection, store: Neo4jStore) -> None:
    """Under its hash; it goes with its chunk."""
    store.write([graph("P", [(f"{'x' * 9_000} short", [])])])
    terms = connection.read("MATCH (t:Term) RETURN size(t.term), t.df ORDER BY t.term")
    assert sorted(terms) == [[1, 1], [5, 1], [32, 1]]
    assert connection.read("MATCH (t:TriviumStore) RETURN t.term_total") == [[3]]
    store.delete(["P"])
    assert connection.read("MATCH (t:Term) RETURN count(t)") == [[0]]


def test_calls_that_change_nothing_begin_no_generation(connection: Connection, store: Neo4jStore) -> None:
    """Whatever readers keep stays valid; each call that changes something begins one."""
    edge = RelationEdge("Mars", "orbits", "Sun")
    calls: list[Callable[[], object]] = [
        lambda: store.write([MARS]),
        lambda: store.add_aliases({"Mars": ["Red Planet"], "Nix": ["Nothing"]}),
        lambda: store.add_relations({"Mars": [edge, edge], "Nix": [edge]}),
        lambda: store.set_types({"Ares": "planet", "Nix": "moon"}),
        lambda: store.set_embedder(IDENTITY),
        lambda: store.delete(["Ares"]),
    ]
    for number, call in enumerate(calls, 1):
        call()
        assert generation(connection) == number
        call()
        assert generation(connection) == number
    assert store.write([]).added == 0
    assert generation(connection) == len(calls)


def test_a_change_that_breaks_off_leaves_the_store_as_before(
    connection: Connection, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though everything but the last step was done."""
    store.write([MARS])
    before = found(connection), generation(connection)

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("pulled the plug")

    monkeypatch.setattr(apply_change, "next_version", broken)
    with pytest.raises(RuntimeError, match="plug"):
        store.write([graph("Mars", [("new", ["Deimos"])]), graph("Ares")])
    with pytest.raises(RuntimeError, match="plug"):
        store.delete(["Mars"])
    assert (found(connection), generation(connection)) == before


def test_writers_at_the_same_time_wait_for_one_another(connection: Connection, store: Neo4jStore) -> None:
    """Pages that cite, alias and state about one another, written by four threads, end like written in turn."""
    pages = [
        graph(
            f"P{n}",
            [("same words", ["Shared", f"P{n + 1}", "Name"])],
            aliases=["Name"],
            relations=[("r", "Shared"), ("r", "Name")],
        )
        for n in range(12)
    ]
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda page: store.write([page]), pages))
    assert [report.added for report in reports] == [1] * len(pages)
    oracle = MemoryStore()
    oracle.write(pages)
    assert found(connection) == expected(oracle)
    assert generation(connection) == len(pages)


def test_a_store_whose_own_node_is_gone_takes_no_changes(connection: Connection, store: Neo4jStore) -> None:
    """The database has been emptied meanwhile."""

    async def work(transaction: Any) -> None:
        await rows(transaction, "MATCH (n) DETACH DELETE n")

    connection.write(work)
    with pytest.raises(StoreFormatError, match="no store of Trivium any more"):
        store.write([MARS])
