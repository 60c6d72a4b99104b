"""Real Neo4j servers for the tests: one a version and run, in a folder of its own, stopped when the run ends.

``TRIVIUM_TEST_NEO4J_5`` and ``TRIVIUM_TEST_NEO4J_2026`` name a file with what ``tools/neo4j/server start --json``
printed; that server is used instead, and left running. Tests may find data of earlier tests in a server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from trivium.errors import TriviumError

TOOL = Path(__file__).parents[1] / "tools" / "neo4j" / "server"
V5 = "5.26.30"
V2026 = "2026.08.1"
_GIVEN = {V5: "TRIVIUM_TEST_NEO4J_5", V2026: "TRIVIUM_TEST_NEO4J_2026"}
MEMORY = ("--heap", "1g", "--page-cache", "256m")
SHORT_LIVED = "-XX:TieredStopAtLevel=1"
"""Options of Java: what it would spend on compiling a second time does not come back in the minutes of a run (81 seconds
of the processor against 141, for 150 tests of one server)."""
STRANGE_HOME = "a home, né (1)"
"""A name that shells, Java and neo4j-admin may stumble over."""
STRANGE_PASSWORD = '@ "strange" \\pass#word, é'
_TIMEOUT = 1200.0
"""Seconds; the first start fetches the jars."""


@dataclass(frozen=True, slots=True)
class Server:
    """How to reach a server; ``home`` is its folder."""

    bolt: str
    http: str
    user: str
    password: str = field(repr=False)
    version: str
    home: Path

    @property
    def auth(self) -> tuple[str, str]:
        """The credentials for a driver."""
        return self.user, self.password

    @classmethod
    def from_json(cls, text: str) -> Server:
        """Create a server from the JSON that the tool prints."""
        found = json.loads(text)
        values = {one.name: found[one.name] for one in fields(cls)}
        return cls(**{**values, "home": Path(values["home"])})


class ServerError(TriviumError):
    """The tool could not do what a test asked of it; the message is the tool's."""


def run_tool(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``tools/neo4j/server`` as a user would."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    return subprocess.run(
        [sys.executable, TOOL, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={"JAVA_TOOL_OPTIONS": SHORT_LIVED, **clean, **environment},
        timeout=_TIMEOUT,
        check=False,
    )


def start_server(home: Path, version: str, *options: str, password: str | None = None) -> Server:
    """Start (or find) the server of a home, with a password of ours if it is new. Raises ServerError."""
    environment = {} if password is None else {"NEO4J_PASSWORD": password}
    done = run_tool("start", "--json", "--home", home, "--version", version, *MEMORY, *options, **environment)
    if done.returncode != 0:
        raise ServerError(done.stderr.strip())
    return Server.from_json(done.stdout)


def stop_server(home: Path) -> None:
    """Stop the server of a home, if one runs. Raises ServerError."""
    done = run_tool("stop", "--home", home)
    if done.returncode != 0:
        raise ServerError(done.stderr.strip())


@contextmanager
def own_server(home: Path, version: str, *options: str, password: str | None = None) -> Iterator[Server]:
    """A server for a test that kills it, fills its disk or the like; stopped at the end. Fails or skips as
    the fixtures do."""
    try:
        yield _start_or_skip(home, version, *options, password=password)
    finally:
        stop_server(home)


@pytest.fixture(scope="session")
def neo4j_5(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the LTS release, in a folder and with a password that things may stumble over."""
    home = tmp_path_factory.mktemp("neo4j") / STRANGE_HOME
    with _server(V5, home, STRANGE_PASSWORD) as server:
        yield server


@pytest.fixture(scope="session")
def neo4j_2026(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the current release."""
    with _server(V2026, tmp_path_factory.mktemp("neo4j") / V2026) as server:
        yield server


def started_here(version: str) -> bool:
    """Whether the shared server of a version is started by the tests, not given to them."""
    return not os.environ.get(_GIVEN[version])


@contextmanager
def _server(version: str, home: Path, password: str | None = None) -> Iterator[Server]:
    if not started_here(version):
        yield Server.from_json(Path(os.environ[_GIVEN[version]]).read_text("utf-8"))
        return
    with own_server(home, version, password=password) as server:
        yield server


def _start_or_skip(home: Path, version: str, *options: str, password: str | None) -> Server:
    try:
        return start_server(home, version, *options, password=password)
    except ServerError as error:
        message = f"no server of Neo4j {version}: {error}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


def log_in(patch: pytest.MonkeyPatch, server: Server) -> None:
    """Set the credentials of a server for the commands of a test."""
    patch.setenv("NEO4J_USER", server.user)
    patch.setenv("NEO4J_PASSWORD", server.password)


def count_pages(server: Server) -> int:
    """How many pages a server's database holds."""
    with GraphDatabase.driver(server.bolt, auth=server.auth) as driver:
        return int(driver.execute_query("MATCH (p:Page) RETURN count(p)", database_="neo4j").records[0][0])
