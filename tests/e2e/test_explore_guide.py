"""The guide of docs/explore.md: each of its first fifteen queries runs as it stands on the sample, on both servers: on
the newer one with the slow tests, since the older one holds the sample for Neo4j Browser anyway. The others are of files
with names: :mod:`tests.e2e.test_explore_names`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from neo4j import Driver, GraphDatabase

from tests.e2e.conftest import Run
from tests.graph.neo4j.stores import OLDER_SLOW
from tests.guide import GUIDE, STYLE, GuideQuery, graph, guide_queries, rows
from tests.neo4j_servers import Server, log_in
from tests.plans import operators, replan
from tests.sample_graph import fill_with_sample
from trivium.graph.neo4j.cypher.schema import VECTOR_INDEXES, WORD_INDEX

ALL = guide_queries()
QUERIES = ALL[:15]
WHOLE_CORPUS = {4, 5, 6}
"""Questions about everything there is of a kind."""
LARGEST_PICTURE = 300_000
"""Bytes."""


@pytest.fixture(scope="module", params=OLDER_SLOW)
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """A server that holds the sample."""
    server: Server = request.getfixturevalue(request.param)
    fill_with_sample(server)
    with GraphDatabase.driver(server.bolt, auth=server.auth, notifications_min_severity="OFF") as driver:
        replan(driver)
        yield driver


def test_there_are_twenty_queries_numbered_in_order() -> None:
    """The headings count from 1 to 20 and each is a question."""
    assert [query.number for query in ALL] == list(range(1, 21))
    assert all(query.question.endswith("?") for query in ALL)


def test_the_guide_names_the_indexes_that_exist() -> None:
    """The names in the queries are those the store gives its indexes."""
    named = set(re.findall(r"queryNodes\('(\w+)'", GUIDE.read_text("utf-8")))
    assert named <= {WORD_INDEX, *VECTOR_INDEXES.values()}
    assert len(named) == 3


def test_what_the_guide_shows_is_there_and_small() -> None:
    """Every linked file exists; pictures are small enough for a repository."""
    for target in re.findall(r"\]\(([^)]+)\)", GUIDE.read_text("utf-8")):
        path = GUIDE.parent / target.partition("#")[0]
        assert path.is_file(), target
        assert path.suffix != ".png" or path.stat().st_size < LARGEST_PICTURE
    assert STYLE.is_file()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: str(query.number))
def test_every_query_returns_rows(driver: Driver, query: GuideQuery) -> None:
    """As it stands, without parameters, and only reading."""
    records, summary, _ = driver.execute_query(query.cypher)
    assert records, query.question
    assert summary.query_type in ("r", "s")
    assert not summary.counters.contains_updates


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: str(query.number))
def test_a_query_about_one_thing_starts_from_an_index(driver: Driver, query: GuideQuery) -> None:
    """Only what ranks the whole corpus scans it; counts come from those the server keeps."""
    found = [operator for operator in operators(driver, query.cypher) if "Scan" in operator]
    assert bool(found) == (query.number in WHOLE_CORPUS), found


def test_the_counts_are_those_of_the_sample(driver: Driver) -> None:
    """51 pages; every chunk and section has one parent."""
    counts = {row["what"]: row["count"] for row in rows(driver, 1)}
    assert counts["Page"] == 51
    assert counts["has_chunk"] == counts["Chunk"] > 600
    assert counts["has_subchapter"] == counts["SubChapter"]
    assert counts["Entity, pages included"] > counts["Page"]


def test_relations_of_mars_are_drawn_without_their_mirrors(driver: Driver) -> None:
    """Both directions, as the infoboxes state them."""
    nodes, edges = graph(driver, 2)
    assert {("Mars", "moons", "Phobos (moon)"), ("Phobos (moon)", "satellite of", "Mars")} <= edges
    assert all("Mars" in (source, target) for source, _, target in edges)
    assert not any(kind.startswith("is_") for _, kind, _ in edges)
    assert "Olympus Mons" in nodes


def test_the_outline_of_mars_is_a_tree(driver: Driver) -> None:
    """One edge less than nodes, two levels deep."""
    nodes, edges = graph(driver, 3)
    assert len(edges) == len(nodes) - 1
    assert ("Mars", "has_subchapter", "Mars#Surface") in edges
    assert ("Mars#Surface", "has_subchapter", "Mars#Surface#Water and ice") in edges


def test_pages_are_compared_by_size_and_links(driver: Driver) -> None:
    """Every page has a row; the one the fewest pages link to comes first."""
    found = rows(driver, 4)
    assert len(found) == 51
    assert [row["linked_from"] for row in found] == sorted(row["linked_from"] for row in found)
    assert found[0]["page"] == "Venera 7"
    assert all(row["tokens"] > 100 and row["tables"] >= 1 for row in found)


def test_the_earth_is_cited_most(driver: Driver) -> None:
    """In more passages than pages, as some link to it twice."""
    first = rows(driver, 5)[0]
    assert (first["thing"], first["has_page"]) == ("Earth", True)
    assert first["passages"] > first["pages"] > 30


def test_wanted_pages_have_no_page(driver: Driver) -> None:
    """Cape Canaveral, where most of the sample's probes started, leads."""
    found = rows(driver, 6)
    assert found[0]["thing"] == "Cape Canaveral"
    pages = {row["page"] for row in rows(driver, 4)}
    assert not pages & {row["thing"] for row in found}


def test_sections_on_titan_lie_on_other_pages(driver: Driver) -> None:
    """Its discoverer's page and the page of the probe that landed on it are among them."""
    sections = {row["section"] for row in rows(driver, 7)}
    assert {"Christiaan Huygens", "Cassini–Huygens#Discoveries of the orbiter#Titan"} <= sections


def test_the_moons_of_mars_are_named_with_it(driver: Driver) -> None:
    """Strength lies between 0 and 1 and puts Phobos above the Earth, which is named with everything."""
    found = rows(driver, 8)
    assert found[0]["other"] == "Phobos (moon)"
    assert all(0 < row["strength"] <= 1 for row in found)
    earth = next(row for row in found if row["other"] == "Earth")
    assert earth["together"] > found[0]["together"]


def test_a_name_may_stand_for_two_things(driver: Driver) -> None:
    """The scientist by redirect, the probe by its title."""
    assert {(row["thing"], row["known_as"]) for row in rows(driver, 9)} == {
        ("Galileo (spacecraft)", "title without its parenthesis"),
        ("Galileo Galilei", "redirect Galileo"),
    }


def test_neighbours_come_in_the_order_of_the_page(driver: Driver) -> None:
    """The section has five passages, of which the query starts from the third."""
    positions = [row["position"] for row in rows(driver, 10)]
    assert len(positions) == 5
    assert positions == list(range(positions[0], positions[0] + 5))


def test_words_are_found_by_their_beginning(driver: Driver) -> None:
    """Every passage has both words; Io comes first."""
    found = rows(driver, 11)
    assert found[0]["passage"].startswith("Io (moon)#")
    for row in found:
        said = f"{row['passage']} {row['text']}".lower()
        assert "volcan" in said and "lava" in said


def test_the_passage_most_like_one_on_the_air_of_venus_is_about_it(driver: Driver) -> None:
    """The first probe to land there; the page itself is left out."""
    found = rows(driver, 12)
    assert found[0]["passage"].startswith("Venera 7#")
    assert not any(row["passage"].startswith("Venus#") for row in found)
    assert all(-1 <= row["cosine"] <= 1 for row in found)


def test_sections_on_the_atmosphere_are_found_on_other_pages(driver: Driver) -> None:
    """That of Venus first."""
    sections = [row["section"] for row in rows(driver, 13)]
    assert sections[0] == "Venus#Atmosphere"
    assert not any(section.startswith("Mars#") for section in sections)


def test_a_reader_gets_to_enceladus_by_way_of_saturn(driver: Driver) -> None:
    """Two links, through a passage each."""
    nodes, edges = graph(driver, 14)
    assert {"Asaph Hall", "Saturn", "Enceladus"} <= nodes
    assert ("Saturn#chunk-3", "cites", "Enceladus") in edges


def test_two_steps_lead_from_galilei_to_probes(driver: Driver) -> None:
    """With a passage that says so."""
    _, edges = graph(driver, 15)
    assert ("Europa (moon)", "discovered by", "Galileo Galilei") in edges
    assert ("Europa (moon)", "explored by", "Voyager 2") in edges
    assert ("Europa (moon)#Exploration#chunk-1", "cites", "Voyager 2") in edges


def test_who_clicks_a_passage_sees_what_it_says(driver: Driver) -> None:
    """No property of any node people click holds what only the program reads, but the vector that indexes need; nodes
    with what it does read are connected with nothing."""
    found = driver.execute_query("MATCH (c:Chunk) UNWIND keys(c) AS key RETURN DISTINCT key").records
    assert {record["key"] for record in found} <= {
        *("uri", "title", "text", "kind", "position", "start", "end", "token_count", "citations", "anchors"),
        *("text_hash", "embedding"),
    }
    titles = driver.execute_query("MATCH (c:Chunk {uri: 'Moon#Exploration#chunk-3'}) RETURN c.title").records
    assert titles[0].value() == "Moon > Exploration"
    others = "MATCH (d:ChunkData) RETURN count(d) AS there, count { (:ChunkData)--() } AS tied"
    there, tied = driver.execute_query(others).records[0].values()
    assert there > 600 and tied == 0


def test_explore_says_where_to_go_and_keeps_the_password(
    neo4j_2026: Server, trivium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address belongs to that server's Browser; the files it names are there."""
    fill_with_sample(neo4j_2026)
    log_in(monkeypatch, neo4j_2026)
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    found = trivium("explore", "--store", neo4j_2026.bolt, "--json")
    assert found.code == 0, found.err
    assert found.json["browser"].startswith(
        f"{neo4j_2026.http}/browser/?connectURL=bolt://{neo4j_2026.user}@"
    )
    assert requests.get(found.json["browser"], timeout=30).status_code == 200
    assert Path(found.json["guide"]).is_file()
    assert Path(found.json["style"]) == STYLE

    said = trivium("explore", "--store", neo4j_2026.bolt)
    assert said.code == 0
    assert found.json["browser"] in said.out
    assert neo4j_2026.password not in said.out + said.err + found.out


def test_a_question_of_ones_own_finds_passages_by_its_vector(
    neo4j_2026: Server, trivium: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the command prints is a parameter of Neo4j Browser, and the vector that --json gives."""
    fill_with_sample(neo4j_2026)
    log_in(monkeypatch, neo4j_2026)
    asked = ("embed-question", "Which moons may have an ocean?", "--store", neo4j_2026.bolt)
    said = trivium(*asked)
    assert said.code == 0, said.err
    name, vector = re.fullmatch(r":param (\w+) => (\[.+\])\n", said.out).groups()  # type: ignore[union-attr]
    assert (name, json.loads(vector)) == ("vector", trivium(*asked, "--json").json["vector"])
    call = "CALL db.index.vector.queryNodes('trivium_chunk_embedding', 10, $vector) YIELD node, score RETURN node.text"
    assert call.replace(".text", ".uri, node.text") in GUIDE.read_text("utf-8")
    with GraphDatabase.driver(neo4j_2026.bolt, auth=neo4j_2026.auth) as driver:
        found, _, _ = driver.execute_query(call, vector=json.loads(vector))
    assert any("ocean" in row["node.text"] for row in found[:3])
