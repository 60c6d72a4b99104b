"""A store with a prefix of its own, beside other data and a store without one: nobody's data changes but its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString, cast

import pytest
from neo4j import Driver, GraphDatabase

from tests.fakes.openai_server import OpenAIServer
from tests.graph.neo4j.stores import OLDER_SLOW, credentials
from tests.graph.neo4j.test_other_programs import SCHEMA, THEIRS
from tests.neo4j_servers import Server
from tests.neo4j_wipe import wipe
from tests.server.world import HEADERS, as_file, serving
from tests.waiting import until
from trivium.cli.app import main
from trivium.engine import Engine
from trivium.errors import ConfigurationError
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.address import parse_address
from trivium.graph.neo4j.cypher.schema import ANY_NODE, CONSTRAINTS, INDEXES, VECTOR_INDEXES, with_prefix

PREFIX = "Acme"
TITLES = ["Mars", "Phobos", "Deimos"]
_IS_OURS: LiteralString = "any(label IN labels(n) WHERE label STARTS WITH $prefix)"
NODES: LiteralString = (
    f"MATCH (n) WHERE NOT {_IS_OURS} RETURN elementId(n) AS i, labels(n), properties(n) ORDER BY i"
)
EDGES: LiteralString = f"""
MATCH (n)-[r]-() WHERE NOT {_IS_OURS}
RETURN DISTINCT elementId(r) AS i, type(r), properties(r), elementId(startNode(r)), elementId(endNode(r)) ORDER BY i
"""
SHOWN: tuple[LiteralString, ...] = (
    "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options WHERE NOT name STARTS WITH $prefix RETURN *",
    "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties WHERE NOT name STARTS WITH $prefix RETURN *",
)


@pytest.fixture(params=OLDER_SLOW)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    found: Server = request.getfixturevalue(request.param)
    wipe(found)
    yield found
    wipe(found)
    with GraphDatabase.driver(found.bolt, auth=found.auth, notifications_min_severity="OFF") as driver:
        for kind in ("CONSTRAINT", "INDEX"):
            for record in driver.execute_query(f"SHOW {kind} YIELD name").records:  # type: ignore[arg-type]
                if record["name"].startswith(PREFIX) or any(f" {record['name']} " in each for each in SCHEMA):
                    driver.execute_query(f"DROP {kind} $name IF EXISTS", name=record["name"])  # type: ignore[arg-type]


def _others(driver: Driver) -> list[list[Any]]:
    """Everything in the database that has not the prefix."""
    return [
        [record.values() for record in driver.execute_query(query, prefix=PREFIX).records]
        for query in (NODES, EDGES, *SHOWN)
    ]


def _records(path: Path, *titles: str, more: str = "") -> Path:
    text = " ".join(["Phobos and Deimos circle Mars in a few hours and were found late."] * 3)
    written = [{"title": title, "text": f"{title} is red. {text}{more}"} for title in titles]
    path.write_text("".join(json.dumps(record) + "\n" for record in written))
    return path


def test_all_doors_of_a_store_with_a_prefix_leave_everything_else_as_it_was(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other data has the labels and uris of a store; another store, without a prefix, holds the same pages."""
    address = f"{server.bolt}?prefix={PREFIX}"
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path / "home"))

    def run(*arguments: object, store: str = address) -> Any:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments), "--store", store, "--json"])
        out, err = capsys.readouterr()
        assert ended.value.code == 0, (arguments, err)
        return json.loads(out) if out.startswith("{") else out

    folder = tmp_path / "documents"
    folder.mkdir()
    _records(folder / "pages.jsonl", *TITLES)
    changed = _records(tmp_path / "changed.jsonl", "Mars", more=" It is dark.")
    with (
        credentials(server),
        OpenAIServer() as model,
        GraphDatabase.driver(server.bolt, auth=server.auth, notifications_min_severity="OFF") as driver,
    ):
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", model.base_url)
        for statement in SCHEMA:
            driver.execute_query(statement)
        driver.execute_query(THEIRS)
        run("build", _records(tmp_path / "same.jsonl", *TITLES), "--embedder", "minilm", store=server.bolt)
        before = _others(driver)
        assert len(before[0]) > 19 and len(before[2]) > 20

        run("build", folder, "--embedder", "minilm")
        assert _others(driver) == before
        for arguments in (
            ("search", "What circles Mars?"),
            ("ask", "What circles Mars?", "--model", "writer"),
            ("add", changed),
            ("check", "--full", "--repair"),
            ("stats",),
            ("embed",),
            ("explore",),
            ("embed-question", "What circles Mars?"),
            ("export", tmp_path / "files"),
        ):
            run(*arguments)
            assert _others(driver) == before, arguments
        assert run("stats")["nodes"] == {"Entity": 3, "Page": 3, "SubChapter": 0, "Chunk": 3}
        assert "Ares" not in str(run("list"))
        driver.execute_query(f"CREATE (:{PREFIX}Entity {{uri: 'Lost', text: 'Lost'}})")  # type: ignore[arg-type]
        driver.execute_query(f"MATCH (t:{PREFIX}Term {{term: 'red'}}) SET t.df = 9")  # type: ignore[arg-type]
        driver.execute_query(f"DROP INDEX {PREFIX}_chunk_embedding")  # type: ignore[arg-type]
        run("check", "--full", "--repair")
        assert run("check", "--full")["findings"] == []
        assert _others(driver) == before
        with serving(cast("Path", address)) as client:
            asked = client.post("/search", json={"question": "What is red?", "k": 9}, headers=HEADERS)
            assert len(asked.json()["hits"]) == 3
            job = client.post(
                "/documents", files=as_file({"title": "Sun", "text": "A star."}), headers=HEADERS
            )
            until(lambda: client.get(f"/jobs/{job.json()['id']}").json()["state"] == "done")
        assert run("stats")["nodes"]["Page"] == 4
        _records(folder / "pages.jsonl", "Mars", "Phobos")
        run("build", folder, "--prune")
        assert _others(driver) == before
        assert {each["title"] for each in run("list")["documents"]} == {"Mars", "Phobos", "Sun"}
        run("remove", "Sun", "Phobos")
        assert run("check", "--full")["findings"] == []
        assert _others(driver) == before
        assert run("stats", store=server.bolt)["nodes"]["Page"] == 3


def test_what_has_the_prefix_has_no_other_label_and_every_index(server: Server, tmp_path: Path) -> None:
    """Also the kinds of entities by which Browser colours them; a condition is searched by the same indexes."""
    source = _records(tmp_path / "one.jsonl", "Mars")
    with credentials(server), Engine.create(f"{server.bolt}?prefix={PREFIX}", "minilm") as engine:
        engine.build([source], meta={"year": "2024"})
        engine.store.set_types({"Mars": "place"})
        assert engine.search("red", where="year = 2024")[0].uri == "Mars#chunk-1"
        with GraphDatabase.driver(server.bolt, auth=server.auth) as driver:
            found = driver.execute_query("MATCH (n) UNWIND labels(n) AS label RETURN collect(DISTINCT label)")
            labels = set(found.records[0].value())
            names = {record["name"] for record in driver.execute_query("SHOW INDEXES YIELD name").records}
        assert {
            f"{PREFIX}{label}" for label in ("Page", "Entity", "Chunk", "Term", "Place", "Store")
        } <= labels
        assert all(label.startswith(PREFIX) for label in labels)
        assert {
            with_prefix(name, PREFIX) for name in (*CONSTRAINTS, *INDEXES, *VECTOR_INDEXES.values())
        } <= names  # type: ignore[arg-type]


def test_an_empty_store_with_a_prefix_goes_without_that_of_another(server: Server) -> None:
    """Each is made, found and given up alone."""
    one, other = f"{server.bolt}?prefix=Acme", f"{server.bolt}?prefix=AcmeTwo"
    with credentials(server):
        Neo4jStore.create(one).close()
        assert Neo4jStore.exists(one) and not Neo4jStore.exists(other) and not Neo4jStore.exists(server.bolt)
        Neo4jStore.create(other).close()
        assert Neo4jStore.discard_empty(other)
        assert Neo4jStore.exists(one) and not Neo4jStore.exists(other)
        with Neo4jStore.open(one) as store:
            assert not store.checker().check()


@pytest.mark.parametrize("prefix", ["", "acme", "Trivium", "Ac me", "A`) DETACH", "1A", "A" * 33, "Ä"])
def test_a_prefix_is_letters_and_digits(prefix: str) -> None:
    """It stands in queries, so nothing else is taken."""
    with pytest.raises(ConfigurationError, match="expected a prefix of letters and digits"):
        parse_address(f"bolt://localhost?prefix={prefix}")


def test_other_options_of_an_address_are_refused() -> None:
    """Those of the driver's routing, too."""
    with pytest.raises(ConfigurationError, match=r"\?prefix=PREFIX"):
        parse_address("neo4j://localhost?region=here")


def test_every_name_of_every_query_follows_the_prefix() -> None:
    """But that of the index which all stores of a database share."""
    text = with_prefix(f"MATCH (n:{ANY_NODE}) SET n:Page:TriviumPage", PREFIX)  # type: ignore[arg-type]
    assert "Trivium" not in text and ":Page" not in text
    assert with_prefix("trivium_semantic_rel_type", PREFIX) == "trivium_semantic_rel_type"
