"""What changes of the documents take from beginning to end, and what listing and counting them takes: counted, not timed,
and no more of a larger store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from tests.contract.graphs import graph
from tests.counted import Counter, Work, can_count_reads
from trivium.engine import Engine
from trivium.graph.page_graph import PageGraph
from trivium.graph.sqlite import load_index
from trivium.testing.toys import HashEmbedder

SMALL, LARGE = 300, 1500
GROWTH = Work(calls=1.5, statements=1.5, ticks=1.5, read=2)
"""How many times as much the five times larger store may take; see tests/search/test_counted_work.py."""
ALLOWED = {
    "add": Work(statements=367, ticks=1144, read=2033),
    "remove by file": Work(statements=231, ticks=568, read=1483),
}
"""Of changes of the larger store. Who makes them do less lowers these; who makes them do more says in the commit what
for. Functions called by libraries and parsers are not among them."""
NOISE = 1.05
_HTML = """<html><head><title>{title}</title></head><body><h1>{title}</h1><p>The {title} flows into the
<a href="/wiki/P7">P7</a> and the <a href="/wiki/P9">P9</a>, see {more}.</p><h2>Course</h2><p>It is long.</p></body>
</html>"""


def page(number: int) -> PageGraph:
    """Pages cite the next ones and a few that all cite, as real ones do. They come after many entities without a page."""
    others = (*(f"P{number + step}" for step in (1, 2, 3)), "Earth", f"A{number}", f"Z{number}")
    return graph(
        f"P{number}",
        lead=[(f"Page {number} is about rivers. It is one of many.", others)],
        sections={
            "Course": [(f"The river {number} flows. It is long.", others[:2])],
            "History": [(f"It was found in {number}.", ())],
        },
        aliases=[f"P{number} once"],
        relations=[("near", f"P{number + 1}")],
        source=f"files/f{number}.html",
    )


def notes(number: int) -> PageGraph:
    """Documents without links of their own, which may mention any new title. None mentions the river."""
    text = f"Sheet {number} on " + "bridges, boats and what the ferryman says of the weather " * 300
    made = graph(f"Sheet {number}", [(text, ())], source=f"notes/n{number}.md")
    return replace(made, content_hash=f"{made.content_hash}.linked")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Work, Work]]:
    """What each thing takes of the small and of the large store."""
    small, large = (_work(tmp_path_factory.mktemp("s"), pages) for pages in (SMALL, LARGE))
    return {name: (small[name], large[name]) for name in small}


def _work(folder: Path, pages: int) -> dict[str, Work]:
    html, text = folder / "new.html", folder / "notes.md"
    html.write_text(_HTML.format(title="Vltava", more="more"))
    text.write_text("# Notes\n\nThe P7 and the P9 are rivers, the Vltava too.\n")
    counter, found = Counter(), {}
    with (
        pytest.MonkeyPatch.context() as patches,
        counter.of_databases(),
        Engine.create(folder / "s", HashEmbedder()) as engine,
    ):
        patches.setattr(
            load_index, "MOST_PATCHED", 1.0
        )  # otherwise the small store's indexes would be made anew
        engine.store.write([page(number) for number in range(pages)])
        engine.store.write([notes(number) for number in range(0, pages, 5)])
        engine.indexer.embed()
        engine.build([html, text])
        engine.remove([str(html), str(text)])  # what is loaded and compiled is there now
        store = engine.store

        def count(name: str, act: Callable[[], object]) -> None:
            counter.begin(calls=True)
            act()
            found[name] = counter.end()

        count("number of pages", store.count_pages)
        count("first pages", lambda: store.pages(None, 20))
        *_, last, _, _ = store.pages()
        count("last pages", lambda: store.pages(last.uri, 20))
        count("remove by title", lambda: engine.remove(["P12"]))
        count("add", lambda: engine.build([html]))
        html.write_text(_HTML.format(title="Vltava", more="more of it"))
        count("replace", lambda: engine.build([html]))
        count("remove by file", lambda: engine.remove([str(html)]))
        count("add what mentions others", lambda: engine.build([text]))
        count("all pages", store.pages)
    return found


@pytest.mark.parametrize("what", [field.name for field in fields(Work)])
@pytest.mark.parametrize(
    "act",
    [
        "number of pages",
        "first pages",
        "last pages",
        "add",
        "replace",
        "remove by file",
        "remove by title",
        "add what mentions others",
    ],
)
def test_it_takes_no_more_of_a_larger_store(work: dict[str, tuple[Work, Work]], act: str, what: str) -> None:
    if what == "read" and not can_count_reads():
        pytest.skip("this system does not say what a process reads")
    small, large = (getattr(each, what) for each in work[act])
    assert large <= getattr(GROWTH, what) * small + 20, (
        f"{small:,.0f} {what} of {SMALL} pages, {large:,.0f} of {LARGE}"
    )


@pytest.mark.parametrize("what", ["statements", "ticks", "read"])
@pytest.mark.parametrize("act", ALLOWED)
def test_a_change_does_no_more_than_it_did(work: dict[str, tuple[Work, Work]], act: str, what: str) -> None:
    if what == "read" and not can_count_reads():
        pytest.skip("this system does not say what a process reads")
    did, allowed = getattr(work[act][1], what), getattr(ALLOWED[act], what)
    assert did <= NOISE * allowed, f"{did:,.0f} {what}, {allowed:,.0f} when this was written"
    assert did >= allowed / NOISE / 1.15, f"{did:,.0f} {what} are fewer than {allowed:,.0f}: lower the number"


def test_what_grows_is_noticed(work: dict[str, tuple[Work, Work]]) -> None:
    """The counts count."""
    small, large = work["all pages"]
    assert large.calls > 4 * small.calls and large.ticks > 4 * small.ticks
    assert large.read > 3 * small.read or not can_count_reads()
