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
from tests.graph.sqlite.histories import HISTORIES_OF_ALL, Step, carry_out, question
from trivium.errors import StoreFormatError
from trivium.graph.model import PageGraph
from trivium.graph.schema import RelationshipType
from trivium.graph.sqlite import EmbeddedStore, counters


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
from tests.graph.sqlite.test_counters import _page
from trivium.graph.sqlite import EmbeddedStore
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with questions and vectors."""
    folder = tmp_path / "s"
    with EmbeddedStore.create(folder) as store:
        store.write([_page(number) for number in range(12)])
        store.put_questions({"P1": [question("P1", 2)], "P2": [question("P2", 3)]})
        embed_pending(store)
        store.write([_page(12)])
    return folder


def _execute(folder: Path, *statements: str) -> None:
    database = sqlite3.connect(folder / "graph.db", isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()


def test_rows_are_not_counted_again(folder: Path) -> None:
    """By nothing that opens the store, changes it or asks afterwards."""
    _execute(folder, "UPDATE counter SET number = number + 1000 WHERE name = 'chunks'")
    with EmbeddedStore.open(folder) as store:
        chunks = store.info().nodes["Chunk"]
        assert chunks > 1000
        store.delete(["P3"])
        assert store.info().nodes["Chunk"] == chunks - 4


def test_a_number_that_is_missing_or_wrong_is_found_and_counted_again(folder: Path) -> None:
    with EmbeddedStore.open(folder) as store:
        right = store.info()
        _execute(
            folder,
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
