"""Loading keeps its promises whatever the order, the copies and the bad pages."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

import trivium.index.load as ingest
import trivium.index.write_batches as merge
from tests.waiting import until
from trivium.chunking.chunker import Chunker
from trivium.graph.schema import Hop
from trivium.graph.sqlite import EmbeddedStore
from trivium.index import parsing
from trivium.index.load import load
from trivium.parser.sources import discover
from trivium.parser.sources.source_items import Item, Problem
from trivium.settings.limits import InputLimits

WritePage = Callable[..., Path]


@pytest.fixture
def page(tmp_path: Path) -> WritePage:
    """Writes a small MediaWiki page."""

    def write(
        name: str, title: str, body: str, revision: int = 1, redirected_from: str | None = None
    ) -> Path:
        config = {"wgPageName": title.replace(" ", "_"), "wgRevisionId": revision}
        if redirected_from is not None:
            config["wgRedirectedFrom"] = redirected_from
        file = tmp_path / "pages" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            f"<!DOCTYPE html><html><head><title>{title}</title><script>RLCONF={json.dumps(config)}</script></head>"
            f'<body><h1 id="firstHeading">{title}</h1><div class="mw-parser-output"><p>{body}</p></div></body></html>',
            encoding="utf-8",
            errors="replace",
        )
        return file

    return write


def text_of(store: EmbeddedStore, page: str) -> str:
    return " ".join(record.text for record in store.fetch(store.expand([page], Hop.BELOW)[page]))


def test_a_copy_served_through_a_redirect_adds_its_alias_and_is_reported(
    store: EmbeddedStore, page: WritePage
) -> None:
    """In either order of the files, links through the redirect lead to the page."""
    page("a.html", "Mars", "The planet.", redirected_from="Red_Planet")
    page("b.html", "Mars", "The planet.")
    folder = page("c.html", "Phobos", 'It circles <a href="/wiki/Red_Planet">the red planet</a>.').parent
    report = load([str(folder)], store)
    assert (report.added, report.replaced, len(report.duplicates)) == (2, 0, 1)
    assert report.duplicates[0].kept.endswith("a.html") and report.duplicates[0].dropped.endswith("b.html")
    assert store.cited(store.expand(["Phobos"], Hop.BELOW)["Phobos"]) == {"Phobos#chunk-1": ["Mars"]}
    again = load([str(folder)], store)
    assert (again.added, again.replaced, again.unchanged) == (0, 0, 2)
    assert store.resolve(["Red Planet"]) == {"Red Planet": "Mars"}


@pytest.mark.parametrize(("first", "second", "kept"), [(5, 7, "later"), (7, 5, "earlier"), (5, 5, "earlier")])
def test_of_two_copies_the_higher_revision_wins_then_the_earlier_source(
    store: EmbeddedStore, page: WritePage, first: int, second: int, kept: str
) -> None:
    page("a.html", "Mars", "The earlier.", revision=first)
    folder = page("b.html", "Mars", "The later.", revision=second).parent
    report = load([str(folder)], store)
    assert kept in text_of(store, "Mars")
    assert len(report.duplicates) == 1


def test_a_changed_page_replaces_the_stored_one_and_an_older_one_does_not(
    store: EmbeddedStore, page: WritePage
) -> None:
    load([str(page("a.html", "Mars", "First words.", revision=5))], store)
    assert load([str(page("a.html", "Mars", "Second words.", revision=6))], store).replaced == 1
    assert text_of(store, "Mars") == "Second words."
    assert load([str(page("a.html", "Mars", "Old words.", revision=4))], store).skipped == ["Mars"]
    assert text_of(store, "Mars") == "Second words."


def test_the_pool_and_one_process_make_the_same_store(
    tmp_path: Path, page: WritePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        folder = page(
            f"{number}.html", f"Page {number}", f'See <a href="/wiki/Page_{number + 1}">next</a>.'
        ).parent
    monkeypatch.setattr(ingest, "WORTH_A_POOL", 1)
    with EmbeddedStore.create(tmp_path / "one") as one, EmbeddedStore.create(tmp_path / "two") as two:
        load([str(folder)], one, workers=1)
        load([str(folder)], two, workers=2)
        assert one.pages() == two.pages()
        assert one.chunk_uris() == two.chunk_uris()
        assert one.info().relationships == two.info().relationships


def test_a_page_that_kills_its_worker_is_the_only_one_lost(
    store: EmbeddedStore, page: WritePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The crash is real: the page takes more time of a processor than it may."""
    for number in range(12):
        folder = page(f"{number:02}.html", f"Page {number}", "Text.").parent
    slow = "<title>Slow</title><p " + " ".join(f"a{i}='</b>'" for i in range(60_000)) + ">x</p>"
    (folder / "03-bad.html").write_text(slow)
    monkeypatch.setattr(ingest, "WORTH_A_POOL", 1)
    report = load([str(folder)], store, workers=2, limits=InputLimits(seconds=0.5))
    assert report.added == 12
    assert [Path(problem.location).name for problem in report.problems] == ["03-bad.html"]
    assert "died" in report.problems[0].reason


@pytest.mark.skipif(sys.platform != "linux", reason="reads the children of a process from /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_workers_end_with_the_build_that_started_them(
    tmp_path: Path, page: WritePage, number: signal.Signals
) -> None:
    """However it ended; otherwise each would keep its memory for ever."""
    first = page("0.html", "Page", "Text. " * 50_000)
    for copy in range(1, 400):
        os.link(first, first.with_name(f"{copy}.html"))
    command = ["build", str(first.parent), "--store", str(tmp_path / "new"), "--no-embed", "--workers", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "trivium", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as build:
        until(lambda: len(_children(build.pid)) >= 2)
        children = _children(build.pid)
        build.send_signal(number)
        assert build.wait(60) == -number
    until(lambda: not any(map(_lives, children)))


def _children(process: int) -> list[int]:
    """Those of all its threads."""
    listed = (path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children"))
    return [int(child) for children in listed for child in children.split()]


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_documents_that_cannot_be_read_are_reported_with_reasons(
    store: EmbeddedStore, page: WritePage
) -> None:
    folder = page("good.html", "Good", "Text.").parent
    (folder / "empty.html").write_text("")
    (folder / "binary.html").write_bytes(b"\x00\x01\x02" * 1000)
    report = load([str(folder)], store)
    assert report.added == 1
    assert all(isinstance(problem, Problem) and problem.reason for problem in report.problems)
    assert {Path(problem.location).name for problem in report.problems} == {"empty.html", "binary.html"}


def test_half_a_surrogate_pair_in_a_title_does_not_stop_a_run(store: EmbeddedStore, page: WritePage) -> None:
    page("a.html", "Half \ud800 title", "Text.")
    folder = page("b.html", "Good", "Text.").parent
    report = load([str(folder)], store)
    assert report.added + len(report.problems) == 2
    assert "Good" in [page.uri for page in store.pages()]


def test_whatever_a_parser_raises_is_the_documents_problem(
    store: EmbeddedStore, page: WritePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(item: Item, limits: InputLimits, beside: list[str]) -> list[object]:
        raise KeyError("surprise")

    monkeypatch.setattr(parsing, "read", raises)
    report = load([str(page("a.html", "A", "Text."))], store)
    assert [problem.reason for problem in report.problems] == ["KeyError: 'surprise'"]


def test_a_better_copy_in_a_later_batch_counts_as_one_page(
    store: EmbeddedStore, page: WritePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "_PAGES_A_WRITE", 1)
    page("a.html", "Mars", "Old.", revision=1)
    folder = page("b.html", "Mars", "New.", revision=2).parent
    report = load([str(folder)], store)
    assert (report.added, report.replaced) == (1, 0)
    assert text_of(store, "Mars") == "New."


def test_a_script_needs_no_guard_to_parse_in_several_processes(tmp_path: Path, page: WritePage) -> None:
    folder = page("a.html", "Mars", "Text.").parent
    script = tmp_path / "script.py"
    script.write_text(
        "import trivium, trivium.index.load as ingest\n"
        "ingest.WORTH_A_POOL = 1\n"
        f"engine = trivium.Engine.create({str(tmp_path / 'made')!r})\n"
        f"print(engine.build([{str(folder)!r}], embed=False, workers=2).added)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_records_of_one_title_are_one_page_across_files_and_link_to_pages(
    store: EmbeddedStore, page: WritePage, tmp_path: Path
) -> None:
    html = page("mars.html", "Mars", "The planet.")
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(json.dumps({"title": "Phobos", "text": "Phobos circles Mars."}) + "\n")
    second.write_text(json.dumps({"title": "Phobos", "text": "It is small."}) + "\n")
    report = load([str(first), str(second), str(html)], store)
    assert report.added == 2
    assert text_of(store, "Phobos") == "Phobos circles Mars. It is small."
    assert store.cited(["Phobos#chunk-1"]) == {"Phobos#chunk-1": ["Mars"]}


def test_stored_records_link_to_pages_that_come_later(
    store: EmbeddedStore, page: WritePage, tmp_path: Path
) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text(json.dumps({"title": "Phobos", "text": "Phobos circles Mars."}) + "\n")
    load([str(records)], store)
    assert store.cited(["Phobos#chunk-1"]) == {"Phobos#chunk-1": []}
    report = load([str(page("mars.html", "Mars", "The planet."))], store)
    assert (report.added, report.relinked) == (1, 1)
    assert store.cited(["Phobos#chunk-1"]) == {"Phobos#chunk-1": ["Mars"]}


@pytest.mark.parametrize("step", ["_relink_others", "_link_mentions"])
def test_links_that_a_load_did_not_come_to_are_made_by_the_next_one(
    store: EmbeddedStore, page: WritePage, tmp_path: Path, step: str
) -> None:
    """It may find nothing new, or bring something else."""
    records, text = tmp_path / "records.jsonl", tmp_path / "Deimos.txt"
    records.write_text(json.dumps({"title": "Phobos", "text": "Phobos circles Mars."}) + "\n")
    text.write_text("It circles Mars.")
    load([str(records), str(text)], store)
    mars, venus = page("mars.html", "Mars", "The planet."), page("venus.html", "Venus", "Another planet.")
    for later in (mars, venus):
        store.delete(["Mars", "Venus"])
        load([str(records), str(text)], store)
        with pytest.MonkeyPatch.context() as patches, pytest.raises(KeyboardInterrupt):
            patches.setattr(f"trivium.index.load.{step}", Mock(side_effect=KeyboardInterrupt))
            load([str(mars)], store)
        assert store.links_pending
        load([str(later)], store)
        assert not store.links_pending
        assert store.cited(["Phobos#chunk-1"]) == {"Phobos#chunk-1": ["Mars"]}
        assert store.cited(["Deimos#chunk-1"]) == {"Deimos#chunk-1": ["Mars"]}


def test_a_load_that_changes_nothing_writes_nothing(
    store: EmbeddedStore, page: WritePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    mars = str(page("mars.html", "Mars", "The planet."))
    load([mars], store)
    monkeypatch.setattr(EmbeddedStore, "set_links_pending", Mock(side_effect=AssertionError))
    assert load([mars], store).unchanged == 1


def test_a_page_that_nothing_mentions_is_added_without_reading_the_others(
    store: EmbeddedStore, page: WritePage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No text but those with all words of its name is read, no list of all pages, and no index of searches is asked."""
    records = tmp_path / "records.jsonl"
    texts = {
        "Phobos": "Phobos is no port.",
        "Io": "Io is no port like Marsa.",
        "Sun": "The sun of Marsala, a port.",
    }
    records.write_text("".join(json.dumps({"title": t, "text": text}) + "\n" for t, text in texts.items()))
    load([str(records)], store)
    read: list[str] = []
    page_text = EmbeddedStore.page_text

    def noted(self: EmbeddedStore, uri: str) -> str:
        read.append(uri)
        return page_text(self, uri)

    def unasked(*_: object, **__: object) -> None:
        raise AssertionError("not to be asked")

    monkeypatch.setattr(EmbeddedStore, "page_text", noted)
    monkeypatch.setattr(EmbeddedStore, "names", unasked)
    monkeypatch.setattr(EmbeddedStore, "_current", unasked)
    report = load([str(page("marsa.html", "Marsa port", '<a href="/wiki/Port">A port</a>.'))], store)
    assert (report.added, report.relinked, set(read)) == (1, 0, {"Io"})


@pytest.mark.parametrize("packed", [False, True])
def test_the_first_row_of_a_long_file_is_parsed_before_the_last_is_read(
    store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    """A file of rows may have many gigabytes, and loading does not wait until they are counted."""
    row = {
        "document_html": "<h1>Mars</h1><p>The planet.</p>",
        "document_title": "Mars",
        "document_url": "https://en.wikipedia.org/wiki/Mars",
        "question_text": "what is mars",
    }
    file = tmp_path / "rows.jsonl"
    content = (json.dumps(row) + "\n").encode() * 200
    file.write_bytes(gzip.compress(content) if packed else content)
    happened: list[str] = []
    lines, parse = discover.read_lines, ingest.parse_item

    def read_lines(path: Path, limits: InputLimits) -> Iterator[object]:
        for line in lines(path, limits):
            happened.append("read")
            yield line

    def parse_item(item: Item, limits: InputLimits, chunker: Chunker, entities: str | None) -> parsing.Loaded:
        happened.append("parsed")
        return parse(item, limits, chunker, entities)

    monkeypatch.setattr(discover, "read_lines", read_lines)
    monkeypatch.setattr(ingest, "parse_item", parse_item)
    assert load([str(file)], store, workers=1).added == 1
    assert happened.count("read") == happened.count("parsed") == 200
    assert happened.index("parsed") <= ingest.WORTH_A_POOL
