"""What a search does is counted, not timed: calls of functions, statements of the database and its instructions. A count
is the same on every machine, so a change that makes searches do more fails here, whatever the clock says."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from tests.contract.graphs import graph
from trivium.common import beside
from trivium.engine import Engine
from trivium.graph.embedded import connection
from trivium.graph.model import PageGraph
from trivium.testing.toys import HashEmbedder

SMALL, LARGE = 300, 1500
QUESTIONS = (
    "Where does the river 7 flow?",
    "What is near P9?",
    "history of page 12 in 40",
    "rivers of the Earth",
)
_A_TICK = 10
"""Instructions of SQLite's machine a count stands for."""


@dataclass
class Work:
    """What searches took, on average."""

    calls: float = 0.0
    """Of functions, those of C among them."""
    statements: float = 0.0
    ticks: float = 0.0


ALLOWED = Work(calls=8540, statements=13, ticks=272)
"""Of a search of the larger store with all retrievers and the trained fusion, without explanations. Who makes searches
do less lowers these; who makes them do more says in the commit what for."""
NOISE = 1.05
"""Versions of libraries call one another a little differently."""
GROWTH = 1.5
"""How many times as much the five times larger store may take: trees are a level deeper, no more."""


def page(number: int) -> PageGraph:
    """Pages cite the next ones and a few that all cite, as real ones do."""
    others = (*(f"P{number + step}" for step in (1, 2, 3)), "Earth")
    return graph(
        f"P{number}",
        lead=[(f"Page {number} is about rivers. It is one of many.", others)],
        sections={
            "Course": [(f"The river {number} flows. It is long.", others[:2])],
            "History": [(f"It was found in {number}.", ())],
        },
        relations=[("near", f"P{number + 1}")],
        source=f"f{number}.html",
    )


class _Counter:
    def __init__(self) -> None:
        self.now = Work()

    def call(self, _frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            self.now.calls += 1

    def statement(self, _text: str) -> None:
        self.now.statements += 1

    def tick(self) -> int:
        self.now.ticks += 1
        return 0

    @contextmanager
    def of_databases(self) -> Iterator[None]:
        """Count the work of connections that are made in this block."""
        connect = sqlite3.connect

        def counting(*arguments: object, **options: object) -> sqlite3.Connection:
            made = connect(*arguments, **options)  # type: ignore[call-overload]
            made.set_progress_handler(self.tick, _A_TICK)
            made.set_trace_callback(self.statement)
            return made  # type: ignore[no-any-return]

        with pytest.MonkeyPatch.context() as patches:
            patches.setattr(connection.sqlite3, "connect", counting)
            # All in this thread, whose calls are counted.
            patches.setattr(beside._HELPERS, "begin", lambda work: None)
            yield


def measured(folder: Path, pages: int) -> Work:
    """Of the questions' second search: the first loads and compiles."""
    counter = _Counter()
    with counter.of_databases(), Engine.create(folder, HashEmbedder()) as engine:
        engine.store.write([page(number) for number in range(pages)])
        engine.indexer.embed()
        for question in QUESTIONS:
            assert len(engine.search(question)) == 10
        counter.now = Work()
        sys.setprofile(counter.call)
        try:
            for question in QUESTIONS:
                engine.search(question)
        finally:
            sys.setprofile(None)
    return Work(*(getattr(counter.now, field.name) / len(QUESTIONS) for field in fields(Work)))


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Work]:
    return {pages: measured(tmp_path_factory.mktemp("s") / "s", pages) for pages in (SMALL, LARGE)}


@pytest.mark.parametrize("what", [field.name for field in fields(Work)])
def test_a_search_does_no_more_than_it_did(work: dict[int, Work], what: str) -> None:
    did, allowed = getattr(work[LARGE], what), getattr(ALLOWED, what)
    assert did <= NOISE * allowed, f"{did:,.0f} {what} a search, {allowed:,.0f} when this was written"
    assert did >= allowed / NOISE / 1.15, (
        f"{did:,.0f} {what} a search are fewer than {allowed:,.0f}: lower the number"
    )


@pytest.mark.parametrize("what", [field.name for field in fields(Work)])
def test_it_does_no_more_in_a_larger_store(work: dict[int, Work], what: str) -> None:
    small, large = getattr(work[SMALL], what), getattr(work[LARGE], what)
    assert large <= GROWTH * small + 20, f"{small:,.0f} {what} of {SMALL} pages, {large:,.0f} of {LARGE}"
