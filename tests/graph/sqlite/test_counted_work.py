"""What is asked of the database is counted, not timed: nothing that is done often grows with the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.contract.graphs import IDENTITY, embed_pending, graph
from trivium.graph.model import PageGraph
from trivium.graph.sqlite import EmbeddedStore, connection

SMALL, LARGE = 300, 1500
_A_TICK = 10
"""Instructions of SQLite's machine a count stands for."""
_GROWTH = 1.5
"""How many times as much the five times larger store may take: trees are a level deeper, no more."""


class _Counter:
    def __init__(self) -> None:
        self.ticks = 0

    def __call__(self) -> int:
        self.ticks += 1
        return 0


@contextmanager
def counted() -> Iterator[_Counter]:
    """Count the instructions that SQLite carries out for connections that are made in this block."""
    counter, connect = _Counter(), sqlite3.connect

    def counting(*arguments: object, **options: object) -> sqlite3.Connection:
        made = connect(*arguments, **options)  # type: ignore[call-overload]
        made.set_progress_handler(counter, _A_TICK)
        return made  # type: ignore[no-any-return]

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(connection.sqlite3, "connect", counting)
        yield counter


def page(number: int) -> PageGraph:
    """Pages cite the next ones and a few that all cite, as real ones do."""
    others = (*(f"P{number + step}" for step in (1, 2, 3)), "Earth")
    return graph(
        f"P{number}",
        lead=[(f"page {number} about rivers", others)],
        sections={"Course": [(f"the river {number} flows", others[:2])], "History": [(f"in {number}", ())]},
        aliases=[f"P{number} once"],
        relations=[("near", f"P{number + 1}")],
        source=f"f{number}.html",
    )


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, int]]:
    """What each thing takes of the small and of the large store."""
    small, large = (_work(tmp_path_factory.mktemp("s") / "s", pages) for pages in (SMALL, LARGE))
    return {name: (small[name], large[name]) for name in small}


def _work(folder: Path, pages: int) -> dict[str, int]:
    with counted() as counter, EmbeddedStore.create(folder) as store:
        store.set_embedder(IDENTITY)
        store.write([page(number) for number in range(pages)])
        embed_pending(store)
        store.refresh()
        chunks = [f"P{number}#chunk-1" for number in range(10)]
        found: dict[str, int] = {}

        def count(name: str, act: Callable[[], object]) -> None:
            before = counter.ticks
            act()
            found[name] = counter.ticks - before

        count("fetch", lambda: store.fetch(chunks))
        count("keyword search", lambda: store.keyword_search(["river", "7"], 10))
        count("term statistics", lambda: store.term_statistics(["river", "7"]))
        count("names", lambda: store.lookup_names(["p7", "p9 once", "nothing"]))
        count("names that a text can say", lambda: store.names_like(["p7", "p9 once", "nothing"]))
        count("relations", lambda: store.relations(["P7", "P8"]))
        count("a part of the list of pages", lambda: (store.pages(None, 20), store.pages("P8", 20)))
        count("number of pages", store.count_pages)
        count("pages of a file", lambda: store.pages_of_files(["f7.html"]))
        count("linked pages that say a word", lambda: store.pages_with_words(["rivers"], mark="."))
        count("records that say a word", lambda: store.pages_with_words(["rivers"], source="records:"))
        count("pages whose mentions are to be linked", store.unlinked_pages)
        count("all chunks", store.chunk_uris)
        count("state", lambda: store.state)
        count("write", lambda: store.write([page(pages)]))
        count("indexes after it", store.refresh)
        count("embed", lambda: embed_pending(store))
        count("indexes after that", store.refresh)
        count("replace", lambda: store.write([graph("P7", lead=[("another text", ("P8",))])]))
        count("indexes after a replacement", store.refresh)
        count("remove", lambda: store.delete(["P9"]))
        count("indexes after a removal", store.refresh)
        return found


@pytest.mark.parametrize(
    "what",
    [
        "fetch",
        "keyword search",
        "term statistics",
        "names",
        "names that a text can say",
        "relations",
        "a part of the list of pages",
        "number of pages",
        "pages of a file",
        "linked pages that say a word",
        "records that say a word",
        "pages whose mentions are to be linked",
        "state",
        "write",
        "indexes after it",
        "embed",
        "indexes after that",
        "replace",
        "indexes after a replacement",
        "remove",
        "indexes after a removal",
    ],
)
def test_it_takes_no_more_of_a_larger_store(work: dict[str, tuple[int, int]], what: str) -> None:
    small, large = work[what]
    assert large <= _GROWTH * small + 20, f"{small} ticks of {SMALL} pages, {large} of {LARGE}"


def test_what_grows_is_noticed(work: dict[str, tuple[int, int]]) -> None:
    """The count counts."""
    small, large = work["all chunks"]
    assert large > 4 * small
