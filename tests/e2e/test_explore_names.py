"""The queries of the guide about recognised names run as they stand, on files that name people and places."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

from tests.guide import STYLE, graph, guide_queries, rows
from tests.neo4j_servers import Server, log_in
from tests.neo4j_wipe import wipe
from tests.plans import operators, replan
from trivium.engine import Engine
from trivium.testing import HashEmbedder

FILES = {
    "Minutes.md": "# Minutes\n\nAfter lunch Dr Mary Somerville asked the Royal Society for telescopes from Paris.",
    "Letter.txt": "On Monday Mary Somerville met Charles Babbage. They spoke of the Royal Society.",
    "Report.md": "# Report\n\nIn June Charles Babbage met William Herschel.\n\n## Later\n\nMr Herschel saw Paris.",
}


@pytest.fixture(scope="module")
def driver(neo4j_2026: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    folder = tmp_path_factory.mktemp("named")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    wipe(neo4j_2026)
    with pytest.MonkeyPatch.context() as patch:
        log_in(patch, neo4j_2026)
        with Engine.create(neo4j_2026.bolt, HashEmbedder()) as engine:
            engine.build([folder], entities="rules")
    with GraphDatabase.driver(
        neo4j_2026.bolt, auth=neo4j_2026.auth, notifications_min_severity="OFF"
    ) as driver:
        replan(driver)
        yield driver


def test_who_is_named_most(driver: Driver) -> None:
    found = [(row["name"], row["type"], row["passages"], row["documents"]) for row in rows(driver, 16)]
    assert found == [
        ("Charles Babbage", "person", 2, 2),
        ("Mary Somerville", "person", 2, 2),
        ("Paris", "place", 2, 2),
        ("Royal Society", "organisation", 2, 2),
        ("William Herschel", "person", 2, 1),
    ]


def test_documents_are_drawn_with_what_they_name(driver: Driver) -> None:
    nodes, edges = graph(driver, 17)
    assert {"Minutes", "Letter", "Report", "Mary Somerville", "Paris"} <= nodes
    assert ("Mary Somerville", "cited_in", "Letter#chunk-1") in edges
    assert len([edge for edge in edges if edge[1] == "cited_in"]) == 9


def test_two_documents_share_what_both_name(driver: Driver) -> None:
    assert [(row["name"], row["here"], row["there"]) for row in rows(driver, 18)] == [
        ("Mary Somerville", ["Minutes#chunk-1"], ["Letter#chunk-1"]),
        ("Royal Society", ["Minutes#chunk-1"], ["Letter#chunk-1"]),
    ]


def test_what_is_said_of_one(driver: Driver) -> None:
    found = rows(driver, 19)
    assert [row["document"] for row in found] == ["Letter", "Minutes"]
    assert "met Charles Babbage" in found[0]["text"]


def test_two_people_are_connected_through_a_third(driver: Driver) -> None:
    nodes, edges = graph(driver, 20)
    assert {
        "Mary Somerville",
        "Letter#chunk-1",
        "Charles Babbage",
        "Report#chunk-1",
        "William Herschel",
    } <= nodes
    assert ("Letter#chunk-1", "cites", "Charles Babbage") in edges


@pytest.mark.parametrize("query", guide_queries()[15:], ids=lambda query: str(query.number))
def test_only_typed_things_are_looked_through(driver: Driver, query) -> None:  # type: ignore[no-untyped-def]
    """An index leads to them; nothing is scanned and nothing is written."""
    assert not [operator for operator in operators(driver, query.cypher) if "Scan" in operator]


def test_types_are_labels_with_colours(driver: Driver) -> None:
    """Of a list, with the prefix of Trivium, so that other programs' people stay apart."""
    found, _, _ = driver.execute_query(
        "MATCH (n:TriviumEntity) WHERE n.type = 'person' RETURN labels(n) AS labels"
    )
    assert all(set(row["labels"]) >= {"Entity", "TriviumPerson"} for row in found) and len(found) == 3
    assert "node.TriviumPerson {" in STYLE.read_text("utf-8")
