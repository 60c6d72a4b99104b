"""What a store says it has is what the views of its database have, whatever happened to the rows."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings

from tests.contract.graphs import graph
from tests.graph.sqlite.histories import HISTORIES_OF_ALL, Step, carry_out
from trivium.graph.page_graph import PageGraph
from trivium.graph.schema import RelationshipType
from trivium.graph.sqlite import EmbeddedStore


def _views(connection: sqlite3.Connection) -> dict[str, int]:
    """Relationships by type as who explores the store with SQL counts them."""
    return {
        kind: connection.execute(f"SELECT count(*) FROM (SELECT * FROM {kind})").fetchone()[0]
        for kind in RelationshipType
    }


def check(folder: Path) -> None:
    """Compare what a store says with the views."""
    database = sqlite3.connect(folder / "graph.db")
    views = _views(database)
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
def test_the_numbers_are_those_of_the_views_after_any_history(steps: list[Step]) -> None:
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
from tests.graph.sqlite.test_counts import _page
from trivium.graph.sqlite import EmbeddedStore
with EmbeddedStore.open(sys.argv[1]) as store:
    print("begun", flush=True)
    for number in itertools.count():
        store.write([_page(number % 20), _page((number + 7) % 20)])
        embed_pending(store)
        store.delete([f"P{(number + 3) % 20}"])
"""


def test_the_numbers_are_those_of_the_views_after_a_kill(tmp_path: Path) -> None:
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
