"""What a search does is counted, not timed: calls of functions, statements of the database, its instructions and what it
reads. A count is the same on every machine: a change that makes searches do more fails here, whatever the clock says."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from tests.contract.graphs import graph
from tests.counted import Counter, Work, can_count_reads
from trivium.engine import Engine
from trivium.graph.page_graph import PageGraph
from trivium.testing.toys import HashEmbedder

SMALL, LARGE = 300, 1500
QUESTIONS = (
    "Where does the river 7 flow?",
    "What is near P9?",
    "history of page 12 in 40",
    "rivers of the Earth",
)
ALLOWED = Work(calls=6310, statements=15, ticks=188, read=568)
"""Of a search of the larger store with all retrievers and the trained fusion, without explanations. Who makes searches
do less lowers these; who makes them do more says in the commit what for."""
NOISE = 1.05
"""Versions of libraries call one another a little differently."""
GROWTH = Work(calls=1.5, statements=1.5, ticks=1.5, read=2)
"""How many times as much the five times larger store may take: trees are a level deeper, no more. What is read comes in
blocks, and in a small store the rows of a search share more of them."""


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


def measured(folder: Path, pages: int) -> Work:
    """Of the questions' second search: the first loads and compiles. What is read is that of a search whose database
    has nothing in its caches; calls are those of a search that has."""
    counter = Counter()
    with counter.of_databases(), Engine.create(folder, HashEmbedder()) as engine:
        engine.store.write([page(number) for number in range(pages)])
        engine.indexer.embed()
        for question in QUESTIONS:
            assert len(engine.search(question)) == 10
        read = 0.0
        for question in QUESTIONS:
            counter.begin()
            engine.search(question)
            read += counter.end().read
        counter.begin(calls=True)
        for question in QUESTIONS:
            engine.search(question)
        work = counter.end()
        work.read = read
    return work / len(QUESTIONS)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Work]:
    return {pages: measured(tmp_path_factory.mktemp("s") / "s", pages) for pages in (SMALL, LARGE)}


@pytest.mark.parametrize("what", [field.name for field in fields(Work)])
def test_a_search_does_no_more_than_it_did(work: dict[int, Work], what: str) -> None:
    did, allowed = _of(work[LARGE], what), getattr(ALLOWED, what)
    assert did <= NOISE * allowed, f"{did:,.0f} {what} a search, {allowed:,.0f} when this was written"
    assert did >= allowed / NOISE / 1.15, (
        f"{did:,.0f} {what} a search are fewer than {allowed:,.0f}: lower the number"
    )


@pytest.mark.parametrize("what", [field.name for field in fields(Work)])
def test_it_does_no_more_in_a_larger_store(work: dict[int, Work], what: str) -> None:
    small, large, growth = _of(work[SMALL], what), _of(work[LARGE], what), getattr(GROWTH, what)
    assert large <= growth * small + 20, f"{small:,.0f} {what} of {SMALL} pages, {large:,.0f} of {LARGE}"


def _of(work: Work, what: str) -> float:
    if what == "read" and not can_count_reads():
        pytest.skip("this system does not say what a process reads")
    return float(getattr(work, what))
