"""A database shared with other programs: what is theirs stays as it is, whatever its labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, LiteralString, cast

import pytest
from neo4j import Driver, GraphDatabase

from tests.contract.graphs import graph
from tests.fakes.openai_server import OpenAIServer
from tests.graph.dbpedia.world import fact, ntriples
from tests.graph.neo4j.stores import OLDER_SLOW, credentials
from tests.neo4j_servers import Server
from tests.neo4j_wipe import wipe
from tests.server.world import HEADERS, as_file, serving
from tests.waiting import until
from trivium.cli.app import main
from trivium.engine import Engine
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.cypher.schema import NAMES
from trivium.graph.neo4j_import import export
from trivium.graph.open_store import never_left_empty
from trivium.graph.page_graph import PageGraph, QuestionNode, RelationEdge
from trivium.testing.toys import HashEmbedder

# Nodes of every label of a store, with and without its keys, some with the very keys of the pages below, and
# relationships of its types among them.
THEIRS: LiteralString = """
CREATE (p:Page:Entity {mine: 1, uri: 'Mars', name: 'mars', source: 'other', embedding: [1.0, 2.0]}),
  (:Page:Entity {mine: 2, uri: 'Ares'}), (:Page {mine: 3}), (:Entity {mine: 4, uri: 'Sun', text_hash: 'x'}),
  (:Entity {mine: 5}), (s:SubChapter {mine: 6, uri: 'Mars#Moons'}), (:SubChapter {mine: 7}),
  (c:Chunk {mine: 8, uri: 'Mars#chunk-1', text: 'red', search_terms: 'red', thumbnail: 'eA=='}),
  (d:Chunk {mine: 9, text_hash: 'y'}), (:Question {mine: 10, uri: 'q1'}), (:Question {mine: 11}),
  (a:Alias {mine: 12, uri: 'Red Planet', leads_to: 'Nowhere', name: 'red planet'}), (:Alias {mine: 13}),
  (:Term {mine: 14, term: 'red', df: 7}), (:Term {mine: 15}),
  (:RelationType {mine: 16, type: 'orbits', embedding: [1.0]}), (:RelationType {mine: 17}),
  (:Trivium {mine: 18, id: 1}), (n:Note {mine: 19}),
  (p)-[:has_subchapter]->(s)-[:has_chunk]->(c)-[:is_chunk_of]->(p), (c)-[:next {of: 'theirs'}]->(d),
  (c)-[:cites]->(p), (a)-[:alias_of]->(p), (p)-[:semantic_rel {type: 'orbits', stated: true}]->(p), (n)-[:ABOUT]->(p)
"""
SCHEMA: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT page_uri IF NOT EXISTS FOR (n:Note) REQUIRE n.mine IS UNIQUE",
    "CREATE INDEX entity_name IF NOT EXISTS FOR (n:Note) ON (n.name)",
    "CREATE INDEX of_their_chunks IF NOT EXISTS FOR (n:Chunk) ON (n.mine)",
    "CREATE FULLTEXT INDEX chunk_search_terms IF NOT EXISTS FOR (n:Note) ON EACH [n.text, n.search_terms]",
    """CREATE VECTOR INDEX page_embedding IF NOT EXISTS FOR (n:Note) ON n.embedding
    OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}""",
)
TIES: LiteralString = """
MATCH (p:TriviumPage {uri: 'Mars'}), (c:TriviumChunk {uri: 'Mars#chunk-1'}), (n:Note {mine: 19}), (x:Chunk {mine: 8}),
  (q:Question {mine: 10}), (a:Alias {mine: 12}), (s:SubChapter {mine: 6}), (e:Entity {mine: 4})
CREATE (n)-[:ABOUT {stars: 5}]->(p), (n)-[:ABOUT]->(c), (x)-[:cites {position: 0}]->(p), (x)-[:is_chunk_of]->(p),
  (p)-[:has_chunk]->(x), (c)-[:next]->(x), (c)-[:is_answer_of]->(q), (a)-[:alias_of]->(p), (s)-[:is_subchapter_of]->(p),
  (c)-[:cites]->(e), (p)-[:semantic_rel {type: 'orbits', stated: true, pages: ['Mars']}]->(e)
"""
"""Relationships of every kind between their nodes and those of the store."""
NODES: LiteralString = (
    "MATCH (n) WHERE n.mine IS NOT NULL RETURN elementId(n) AS i, labels(n), properties(n) ORDER BY i"
)
EDGES: LiteralString = """
MATCH (a)-[r]->(b) WHERE a.mine IS NOT NULL OR b.mine IS NOT NULL
RETURN elementId(r) AS i, type(r), properties(r), elementId(a), elementId(b) ORDER BY i
"""
INDEXES: LiteralString = (
    "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options WHERE NOT name IN $ours RETURN *"
)
RULES: LiteralString = (
    "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties WHERE NOT name IN $ours RETURN *"
)


@pytest.fixture(params=OLDER_SLOW)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    found: Server = request.getfixturevalue(request.param)
    wipe(found)
    yield found
    wipe(found)
    with _driver(found) as driver:
        driver.execute_query("DROP CONSTRAINT page_uri IF EXISTS")
        for name in ("entity_name", "of_their_chunks", "chunk_search_terms", "page_embedding"):
            driver.execute_query(f"DROP INDEX {name} IF EXISTS")  # type: ignore[arg-type]


def _driver(server: Server) -> Driver:
    return GraphDatabase.driver(server.bolt, auth=server.auth, notifications_min_severity="OFF")


def _theirs(driver: Driver) -> list[list[Any]]:
    """Nodes, relationships, indexes and constraints of the other program."""
    asked = {"ours": sorted(NAMES)}
    return [
        [record.values() for record in driver.execute_query(query, asked).records]
        for query in (NODES, EDGES, INDEXES, RULES)
    ]


def _pages(text: str = "red and cold") -> list[PageGraph]:
    mars = graph(
        "Mars",
        [(text, ["Sun", "Phobos"]), ("it has two moons. they are small", ["Phobos"])],
        sections={"Moons": [("Phobos and Deimos", ["Phobos"])]},
        aliases=["Red Planet"],
        relations=[("orbits", "Sun")],
    )
    return [mars, graph("Phobos", [("a moon of Mars", ["Red Planet"])], relations=[("orbits", "Mars")])]


def test_everything_of_others_survives_every_operation(server: Server, tmp_path: Path) -> None:
    """Node by node, to the last property; it is neither counted nor listed."""
    with credentials(server), _driver(server) as driver:
        for statement in SCHEMA:
            driver.execute_query(statement)
        driver.execute_query(THEIRS)
        before = _theirs(driver)
        assert [len(part) for part in before[:2]] == [19, 8]
        assert not Neo4jStore.exists(server.bolt)
        with never_left_empty(server.bolt), Neo4jStore.create(server.bolt) as store:
            engine = Engine(store, HashEmbedder())
            steps: dict[str, Callable[[], object]] = {
                "create": lambda: None,
                "build": lambda: store.write(_pages()),
                "aliases": lambda: store.add_aliases({"Mars": ["Ares"]}),
                "relations": lambda: store.add_relations({"Mars": [RelationEdge("Mars", "has", "Deimos")]}),
                "questions": lambda: store.put_questions(
                    {"Mars": [QuestionNode("q1", "Red?", (), ("Mars#chunk-1",))]}
                ),
                "types": lambda: store.set_types({"Sun": "star"}),
                "embed": lambda: (engine.indexer.embed(), engine.indexer.embed_sentences()),
                "indexes": store.refresh,
                "replace": lambda: store.write(_pages("red and dry")),
                "embed again": lambda: (engine.indexer.embed(), engine.indexer.embed_sentences()),
                "export": lambda: export(store, tmp_path / "files"),
            }
            for name, step in steps.items():
                step()
                assert _theirs(driver) == before, name
            assert [page.uri for page in store.pages()] == ["Mars", "Phobos"]
            assert store.info().nodes == {"Entity": 3, "Page": 2, "SubChapter": 1, "Chunk": 4}
            assert store.info().relationships["cites"] == 5
            assert store.info().to_embed == 0 and store.info().aliases == 2
            assert engine.search("red", k=1)[0].uri == "Mars#chunk-1"
            report = engine.check(full=True)
            assert report.findings == () and report.checked["chunks"] == 4
            driver.execute_query("MATCH (t:TriviumTerm {term: 'red'}) SET t.df = 9")
            driver.execute_query("CREATE (:Entity:TriviumEntity {uri: 'Lost', text: 'Lost', text_hash: 'z'})")
            assert {finding.kind for finding in engine.check().findings} >= {"leftovers", "term counts"}
            engine.check(repair=True)
            assert engine.check(full=True).findings == ()
            assert _theirs(driver) == before
            assert store.delete(["Ares", "Phobos"]) == ["Mars", "Phobos"]
            assert _theirs(driver) == before
        assert driver.execute_query("MATCH (n) WHERE n.mine IS NULL RETURN labels(n)").records[
            0
        ].values() == [["TriviumStore"]]
        assert Neo4jStore.discard_empty(server.bolt) and not Neo4jStore.exists(server.bolt)
        assert _theirs(driver) == before
        left = driver.execute_query("MATCH (n) WHERE n.mine IS NULL RETURN count(n)").records[0].value()
        assert left == 0
        names = {record["name"] for record in driver.execute_query("SHOW INDEXES YIELD name").records}
        assert not names & NAMES


def test_everything_of_others_survives_the_programs(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command line and the server: also what connects their nodes with those of the store, in either direction."""
    own = ["Mars", "Phobos", "Deimos"]
    text = " ".join(["Phobos and Deimos circle Mars in a few hours and were found late."] * 3)

    def records(name: str, *titles: str, changed: str = "") -> Path:
        written = [{"title": title, "text": f"{title} is red. {text}{changed}"} for title in titles]
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in written))
        return tmp_path / name

    def run(*arguments: object, expected: int = 0) -> Any:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments), "--store", server.bolt, "--json"])
        out, err = capsys.readouterr()
        assert ended.value.code == expected, (arguments, err)
        return json.loads(out) if out.startswith("{") else out

    facts = tmp_path / "facts.nt"
    facts.write_text(ntriples([fact("Mars", "satellite", "Phobos"), fact("Mars", "orbits", "Sun")]))
    changed = records("changed.jsonl", *own, changed=" They are dark.")
    with credentials(server), _driver(server) as driver, OpenAIServer() as model:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", model.base_url)
        for statement in SCHEMA:
            driver.execute_query(statement)
        driver.execute_query(THEIRS)
        alone = _theirs(driver)
        run("build", records("pages.jsonl", *own), "--embedder", "minilm")
        assert _theirs(driver) == alone
        driver.execute_query(TIES)
        before = _theirs(driver)
        assert len(before[1]) == len(alone[1]) + 11
        counted = run("stats")
        assert counted["nodes"]["Page"] == 3 and counted["nodes"]["Chunk"] == 3
        for arguments in (
            ("enrich", facts),
            ("add", changed),
            ("explore", "--json"),
            ("synthesize", "plain", tmp_path / "run", "--model", "writer", "-n", "2"),
            ("export", tmp_path / "files"),
            ("check", "--full", "--repair"),
            ("embed",),
            ("search", "red"),
        ):
            run(*arguments)
            assert _theirs(driver) == before, arguments
        assert "Ares" not in str(run("list")) and run("stats")["nodes"]["Page"] == 3
        run("backup", tmp_path / "file", expected=1)
        assert _theirs(driver) == before
        with serving(cast("Path", server.bolt)) as client:
            listed = client.get("/documents", headers=HEADERS).json()["documents"]
            assert sorted(each["title"] for each in listed) == sorted(own)
            assert client.get("/documents/Ares", headers=HEADERS).status_code == 404
            assert client.get("/entities/Mars/neighbours", headers=HEADERS).is_success
            hits = client.post("/search", json={"question": "red", "k": 9}, headers=HEADERS).json()["hits"]
            assert len(hits) == 3
            for job in (
                client.post(
                    "/documents", files=as_file({"title": "Sun", "text": "A star."}), headers=HEADERS
                ),
                client.delete("/documents/Deimos", headers=HEADERS),
            ):
                assert job.status_code == 202, job.text
                where = f"/jobs/{job.json()['id']}"
                until(lambda where=where: client.get(where).json()["state"] == "done")  # type: ignore[misc]
        assert _theirs(driver) == before
        run("remove", "Sun", "Phobos")
        assert run("check", "--full")["findings"] == []
        assert _theirs(driver) == before


def test_what_others_attach_to_a_page_stays_when_it_is_replaced(server: Server) -> None:
    """Relationships, labels and properties; of passages and sections, too, whose uri the page still has."""
    with credentials(server), _driver(server) as driver, Neo4jStore.create(server.bolt) as store:
        store.write(_pages())
        driver.execute_query("""
            MATCH (p:Page {uri: 'Mars'}), (c:Chunk {uri: 'Mars#chunk-1'}), (s:SubChapter {uri: 'Mars#Moons'}),
              (gone:Chunk {uri: 'Mars#chunk-2'})
            SET p:Favourite, p.stars = 5, c.stars = 4
            CREATE (n:Note {mine: 1}), (n)-[:ABOUT]->(p), (n)-[:ABOUT]->(c), (s)-[:NOTED]->(n), (n)-[:cites]->(gone),
              (n)-[:has_chunk]->(c)
        """)
        short = graph("Mars", [("red and dry", ["Sun"])], sections={"Moons": [("two", [])]})
        store.write([short])
        found = driver.execute_query("""
            MATCH (n:Note)-[r]-(o) RETURN type(r) + ' ' + o.uri AS tie, o:Favourite AS fond, o.stars AS stars
            ORDER BY tie
        """).records
        assert [record.values() for record in found] == [
            ["ABOUT Mars", True, 5],
            ["ABOUT Mars#chunk-1", False, 4],
            ["NOTED Mars#Moons", False, None],
            ["has_chunk Mars#chunk-1", False, 4],
        ]
        assert Engine(store, HashEmbedder()).check(full=True).ok
        assert store.info().relationships["has_chunk"] == 3
        assert store.fetch(["Mars#chunk-1"])[0].text == "red and dry"
        store.delete(["Mars"])
        assert driver.execute_query("MATCH (n:Note) RETURN n.mine").records[0].value() == 1
