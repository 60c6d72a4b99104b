"""The stored numbers are those that counting all rows gives, whatever happened to the rows."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings

from tests.contract.graphs import embed_pending, graph
from tests.fakes.earlier_stores import without_counters
from tests.fakes.kills import kill_at_event
from tests.graph.embedded.histories import HISTORIES_OF_ALL, Step, carry_out, question
from trivium.errors import StoreFormatError
from trivium.graph.embedded import EmbeddedStore, counters
from trivium.graph.embedded.schema_versions import schema_version
from trivium.graph.model import PageGraph
from trivium.graph.schema import SCHEMA_VERSION, RelationshipType


def _views(connection: sqlite3.Connection) -> dict[str, int]:
    """Relationships by type as who explores the store with SQL counts them."""
    return {
        kind: connection.execute(f"SELECT count(*) FROM (SELECT * FROM {kind})").fetchone()[0]
        for kind in RelationshipType
    }


def check(folder: Path) -> None:
    """Compare the stored numbers with those of the rows, and what a store says with the views."""
    database = sqlite3.connect(folder / "graph.db")
    stored, views = dict(database.execute("SELECT name, number FROM counter")), _views(database)
    assert stored == counters.count_rows(database)
    database.close()
    with EmbeddedStore.open(folder, read_only=True) as store:
        info = store.info()
        listed = [page.uri for page in store.pages()]
        assert listed == [page.uri for page in store.page_graphs()] == sorted(listed)
        assert len(listed) == info.nodes["Page"] == store.count_pages()
        assert {**dict.fromkeys(views, 0), **info.relationships} == views
        assert info.to_embed == len(store.pending_texts())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=HISTORIES_OF_ALL)
def test_the_numbers_are_those_of_the_rows_after_any_history(steps: list[Step]) -> None:
    """Compared after each step."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "s"
        with EmbeddedStore.create(folder) as store:
            for step in steps:
                carry_out(store, step)
                check(folder)


def _page(number: int) -> PageGraph:
    """Pages that cite one another's aliases, and are aliases of one another."""
    return graph(
        f"P{number}",
        lead=[("about rivers", (f"P{number + 1}", f"P{number + 1} once", "Earth"))],
        sections={"S": [("it flows", (f"P{number - 1} once",))], "S#T": [("on", ()), ("and on", ())]},
        aliases=[f"P{number} once", f"P{number + 5}"],
        relations=[("near", f"P{number + 1}"), ("near", f"P{number + 1} once")],
    )


_CHANGES = """
import itertools, sys
sys.path.insert(0, sys.argv[2])
from tests.contract.graphs import embed_pending
from tests.graph.embedded.test_counters import _page
from trivium.graph.embedded import EmbeddedStore
with EmbeddedStore.open(sys.argv[1]) as store:
    print("begun", flush=True)
    for number in itertools.count():
        store.write([_page(number % 20), _page((number + 7) % 20)])
        embed_pending(store)
        store.delete([f"P{(number + 3) % 20}"])
"""


def test_the_numbers_are_those_of_the_rows_after_a_kill(tmp_path: Path) -> None:
    """At moments at which pages are written, embedded and removed."""
    folder, root = tmp_path / "s", Path(__file__).parents[3]
    EmbeddedStore.create(folder).close()
    for wait in (0.0, *(random.Random(7).uniform(0, 0.3) for _ in range(5))):
        process = subprocess.Popen(
            [sys.executable, "-c", _CHANGES, str(folder), str(root)], stdout=subprocess.PIPE
        )
        with process:
            assert process.stdout is not None and process.stdout.readline() == b"begun\n"
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
        check(folder)
    assert EmbeddedStore.open(folder).info().nodes["Page"] > 0


# -- stores of version 7 ---------------------------------------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store as version 7 made it."""
    folder = tmp_path / "s"
    with EmbeddedStore.create(folder) as store:
        store.write([_page(number) for number in range(12)])
        store.put_questions({"P1": [question("P1", 2)], "P2": [question("P2", 3)]})
        embed_pending(store)
        store.write([_page(12)])
    _execute(folder, *without_counters(), "PRAGMA user_version = 7")
    return folder


def _execute(folder: Path, *statements: str) -> None:
    database = sqlite3.connect(folder / "graph.db", isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()


def _version(folder: Path) -> int:
    database = sqlite3.connect(folder / "graph.db")
    try:
        return schema_version(database)
    finally:
        database.close()


def test_an_upgrade_counts_what_is_there(old: Path) -> None:
    """The numbers are those of reading the store without upgrading it, which counts rows."""
    with EmbeddedStore.open(old, read_only=True) as store:
        before, listed = store.info(), store.pages(None, 5)
        assert before.schema_version == 7 and before.nodes["Question"] == 2 and before.to_embed > 0
        assert store.count_pages() == 13 and len(store.pages_of_files(["test"])) == 13
    with EmbeddedStore.open(old) as store:
        after = store.info()
        assert after.schema_version == SCHEMA_VERSION
        assert (after.nodes, after.relationships, after.aliases) == (
            before.nodes,
            before.relationships,
            before.aliases,
        )
        assert (after.embedded, after.to_embed) == (before.embedded, before.to_embed)
        assert store.pages(None, 5) == listed
        assert store.checker().check() == []
    check(old)


def test_rows_are_counted_once(old: Path) -> None:
    """By the upgrade, and by nothing that opens the store, changes it or asks afterwards."""
    EmbeddedStore.open(old).close()
    _execute(old, "UPDATE counter SET number = number + 1000 WHERE name = 'chunks'")
    with EmbeddedStore.open(old) as store:
        chunks = store.info().nodes["Chunk"]
        assert chunks > 1000
        store.delete(["P3"])
        assert store.info().nodes["Chunk"] == chunks - 4


def test_an_upgrade_that_is_killed_is_made_wholly_or_not_at_all(old: Path, tmp_path: Path) -> None:
    """At each of its operations on files and databases; the next program that opens the store completes it."""
    imports = "from trivium.graph.embedded import EmbeddedStore"
    versions, number = set(), 1
    database = (old / "graph.db").read_bytes()
    while kill_at_event(number, imports, "EmbeddedStore.open(sys.argv[2])", old):
        versions.add(_version(old))
        EmbeddedStore.open(old).close()
        check(old)
        for path in old.glob("graph.db*"):
            path.unlink()
        (old / "graph.db").write_bytes(database)
        number += 1
    assert number > 3 and versions <= {7, SCHEMA_VERSION}


@pytest.mark.parametrize("step", range(1, 30, 4))
def test_an_upgrade_that_ends_between_two_statements_changes_nothing(old: Path, step: int) -> None:
    """As if it had been killed there: what it did is in no transaction that was committed."""
    code = """
import os, signal, sqlite3, sys
from trivium.graph.embedded import EmbeddedStore, connection
connect, seen = sqlite3.connect, 0
def look(statement):
    global seen
    if statement.startswith(("CREATE", "INSERT", "DROP", "DELETE", "UPDATE", "SELECT count", "PRAGMA user_version =")):
        seen += 1
        if seen == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
def watched(*arguments, **options):
    made = connect(*arguments, **options)
    made.set_trace_callback(look)
    return made
connection.sqlite3.connect = watched
EmbeddedStore.open(sys.argv[1])
"""
    done = subprocess.run([sys.executable, "-c", code, str(old), str(step)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert _version(old) == 7
    EmbeddedStore.open(old).close()
    check(old)


def test_what_an_earlier_program_writes_after_the_upgrade_is_counted(old: Path) -> None:
    """It had the store open before. It refuses to open it now."""
    uncounted = (
        "DELETE FROM citation WHERE chunk_id = (SELECT max(chunk_id) FROM citation)",
        "INSERT INTO generation (token) VALUES ('earlier')",
    )
    with EmbeddedStore.open(old) as store:
        before = store.info().relationships["cites"]
        _execute(old, *uncounted)
        assert store.info().relationships["cites"] < before
        assert store.count_pages() == 13
        store.write([_page(13)])
        assert store.count_pages() == 14
    check(old)


def test_a_number_that_is_missing_or_wrong_is_found_and_counted_again(old: Path) -> None:
    with EmbeddedStore.open(old) as store:
        right = store.info()
        _execute(
            old,
            "DELETE FROM counter WHERE name = 'cites'",
            "UPDATE counter SET number = 7 WHERE name = 'chunks'",
        )
        with pytest.raises(StoreFormatError, match="lacks cites"):
            store.info()
        (finding,) = found = store.checker().check()
        assert (finding.kind, finding.where) == ("derived rows", ("counter",))
        store.checker().repair(found)
        assert store.checker().check() == []
        assert store.info() == right
