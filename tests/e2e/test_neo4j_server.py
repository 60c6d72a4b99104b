"""A real Neo4j through tools/neo4j/server: the life of one server, from its first start to its last stop."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import ClientError

from tests.neo4j_servers import (
    MEMORY,
    SHORT_LIVED,
    STRANGE_HOME,
    STRANGE_PASSWORD,
    TOOL,
    V5,
    Server,
    own_server,
    run_tool,
    start_server,
    started_here,
    stop_server,
)
from tests.waiting import until


@pytest.fixture
def first(neo4j_5: Server) -> Server:
    """The server that other tests use, too: its home and password are strange ones."""
    return neo4j_5


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for tests that stop it; they start it again. Nothing is left running."""
    with own_server(tmp_path_factory.mktemp("tool") / STRANGE_HOME, V5) as server:
        yield server


def ask(server: Server, query: str, **parameters: Any) -> list[Any]:
    """The first column of a query's answer."""
    with GraphDatabase.driver(server.bolt, auth=server.auth) as driver:
        return [row[0] for row in driver.execute_query(query, parameters, database_="neo4j").records]


def pid(home: Path) -> int:
    return int(json.loads((home / "server.json").read_text())["pid"])


def test_the_server_answers_drivers_under_the_password_that_was_chosen(first: Server) -> None:
    if started_here(V5):
        assert first.password == STRANGE_PASSWORD
    assert ask(
        first, "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0]"
    ) == [V5]


def test_neo4j_browser_is_served(first: Server) -> None:
    with urllib.request.urlopen(f"{first.http}/browser/") as answer:
        assert answer.status == 200
        assert b"<title>Neo4j Browser</title>" in answer.read()


def test_the_password_is_in_no_argument_and_no_readable_file(first: Server) -> None:
    assert first.password.encode() not in Path(f"/proc/{pid(first.home)}/cmdline").read_bytes()
    readable = [
        path
        for path in first.home.rglob("*")
        if path.is_file()
        and first.password.encode() in path.read_bytes()
        and stat.S_IMODE(path.stat().st_mode) != 0o600
    ]
    assert readable == []


def test_more_starts_find_the_first_server(first: Server) -> None:
    before = pid(first.home)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: start_server(first.home, V5), range(2)))
    assert found == [first, first]
    assert pid(first.home) == before


def test_status_is_the_same_as_what_start_printed(first: Server) -> None:
    done = run_tool("status", "--json", "--home", first.home)
    assert done.returncode == 0
    assert Server.from_json(done.stdout) == first
    assert first.bolt in run_tool("status", "--home", first.home).stdout


@pytest.mark.slow
def test_a_killed_server_comes_back_with_its_data(own: Server) -> None:
    ask(own, "MERGE (n:Kept {uri: 'here'})")
    os.kill(pid(own.home), signal.SIGKILL)
    # Killed, but on a busy machine not gone at once.
    until(lambda: run_tool("status", "--home", own.home).returncode == 3, seconds=20)
    with ThreadPoolExecutor(2) as pool:  # two at once make one server
        again, other = pool.map(lambda _: start_server(own.home, V5), range(2))
    assert again == other
    assert ask(again, "MATCH (n:Kept) RETURN n.uri") == ["here"]


@pytest.fixture
def bulk(tmp_path: Path) -> Path:
    """Two nodes and a relationship for neo4j-admin."""
    folder = tmp_path / "bulk, (files)"
    folder.mkdir()
    (folder / "entities-header.csv").write_text("uri:ID,name,embedding:float[]\n")
    (folder / "entities.csv").write_text('a,"Añil, blue",0.25;0.5\nb,B,0.75;1\n', encoding="utf-8")
    (folder / "cites.csv").write_text(":START_ID,:END_ID\na,b\n")
    arguments = ["--nodes=Entity=entities-header.csv,entities.csv", "--relationships=cites=cites.csv"]
    (folder / "import.json").write_text(json.dumps({"arguments": arguments}))
    return folder


@pytest.mark.slow
def test_an_import_needs_a_stopped_server_and_replaces_its_data(own: Server, bulk: Path) -> None:
    """The server that is started then is a read-only one in the foreground: it is found, answers, refuses writes, and
    ends with Ctrl-C."""
    home = start_server(own.home, V5).home
    refused = run_tool("import", bulk, "--home", home)
    assert refused.returncode == 1
    assert "stop it first" in refused.stderr
    stop_server(home)

    done = run_tool("import", bulk, "--home", home, "--json")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert (counts["nodes"], counts["relationships"], counts["properties"]) == (2, 1, 6)
    assert "IMPORT DONE" in done.stderr

    command = [sys.executable, str(TOOL), "console", "--home", str(home), "--read-only", *MEMORY]
    java = {**os.environ, "JAVA_TOOL_OPTIONS": SHORT_LIVED}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=java) as process:
        while process.poll() is None and run_tool("status", "--home", home).returncode != 0:
            time.sleep(0.5)
        server = start_server(home, V5, "--read-only")
        assert pid(home) == process.pid
        found = ask(server, "MATCH (a:Entity)-[:cites]->(b) RETURN [a.name, b.name, a.embedding]")
        assert found == [["Añil, blue", "B", [0.25, 0.5]]]
        with pytest.raises(ClientError, match="read-only"):
            ask(server, "CREATE (:Nothing)")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert b"Started." in said
    assert run_tool("status", "--home", home).returncode == 3


def test_an_import_that_fails_says_which_line_is_wrong(tmp_path: Path, bulk: Path) -> None:
    (bulk / "cites.csv").write_text(":START_ID,:END_ID\na,nobody\n")
    done = run_tool("import", bulk, "--home", tmp_path / STRANGE_HOME, "--version", V5)
    assert done.returncode == 1
    assert "missing node nobody" in done.stderr
