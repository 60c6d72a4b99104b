"""A build does not read files again that are as they were when they were read, and makes what reading them makes."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.state import state_of
from tests.fakes.dict_store import DictStore
from trivium.engine import Engine
from trivium.graph.protocols import GraphStore
from trivium.graph.sqlite import EmbeddedStore
from trivium.index import load, unchanged_files
from trivium.parser.sources.source_items import Item

Build = Callable[..., list[str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("one", "two", "three"):
        (docs / f"{name}.md").write_text(f"# {name.title()}\n\nAbout {name}, of Vesk.\n", "utf-8")
    return docs


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file counts as young, as after some seconds."""
    monkeypatch.setattr(unchanged_files, "_YOUNG_NS", -(10**12))


@pytest.fixture(params=["embedded", "dict"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphStore]:
    made: GraphStore = DictStore() if request.param == "dict" else EmbeddedStore.create(tmp_path / "store")
    with Engine(made):
        yield made


@pytest.fixture
def build(store: GraphStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Builds the folder and returns the names of the files that were read."""
    read: list[str] = []
    parse = load.parse_item

    def noting(item: Item, *rest: object) -> object:
        read.append(Path(item.location).name)
        return parse(item, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(load, "parse_item", noting)

    def run(*sources: Path, **options: object) -> list[str]:
        read.clear()
        report = Engine(store).build(list(sources) or [folder], embed=False, workers=1, **options)  # type: ignore[arg-type]
        assert not report.problems
        return sorted(read)

    return run


ALL = ["one.md", "three.md", "two.md"]


@pytest.mark.usefixtures("settled")
def test_only_changed_files_are_read_and_all_are_counted(
    build: Build, folder: Path, store: GraphStore
) -> None:
    assert (build(), build()) == (ALL, [])
    (folder / "two.md").write_text("# Two\n\nAbout 2, of Brun.\n", "utf-8")
    report = Engine(store).build([folder], embed=False, workers=1)
    assert (report.replaced, report.unchanged, report.read) == (1, 2, 3)
    assert build() == [] and build(reread=True) == ALL and build() == []


def test_files_that_were_young_are_read_again(build: Build, folder: Path, store: GraphStore) -> None:
    """Their times could be those of a later change: here they are, as on a file system with steps of a second."""
    assert build() == ALL
    before = (folder / "two.md").stat()
    (folder / "two.md").write_text("# Two\n\nAbout owt, of Vesk.\n", "utf-8")
    os.utime(folder / "two.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (folder / "two.md").stat().st_size == before.st_size
    assert build() == ALL and "owt" in store.page_text("Two")


@pytest.mark.usefixtures("settled")
def test_a_change_that_sets_the_time_back_is_seen(build: Build, folder: Path, store: GraphStore) -> None:
    build()
    before = (folder / "two.md").stat()
    time.sleep(0.02)
    (folder / "two.md").write_text("# Two\n\nAbout owt, of Vesk.\n", "utf-8")
    os.utime(folder / "two.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert build() == ["two.md"] and "owt" in store.page_text("Two")


@pytest.mark.usefixtures("settled")
def test_what_the_store_has_no_longer_is_read_again(build: Build, folder: Path, store: GraphStore) -> None:
    build()
    store.delete(["Two"])
    assert build() == ["two.md"] and store.count_pages() == 3
    (other,) = store.page_graphs(["Two"])
    store.write([replace(other, content_hash="damaged")])
    assert build() == ["two.md"]
    assert build(language="de") == ALL and build(language="de") == []
    assert build(meta={"year": 2024}) == ALL and build() == ALL, "other options make other pages"
    assert build() == []


@pytest.mark.usefixtures("settled")
def test_links_to_files_that_come_later_are_made(build: Build, folder: Path, store: GraphStore) -> None:
    (folder / "two.md").write_text("# Two\n\nSee [[four]] and [three](three.md).\n", "utf-8")
    build()
    assert build() == ["two.md"], "a page with links to files depends on what files there are"
    (folder / "deep").mkdir()
    (folder / "deep" / "four.md").write_text("# The fourth\n\nText of it.\n", "utf-8")
    assert build() == ["four.md", "two.md"]
    (chunk,) = [uri for uri in store.chunk_uris() if uri.startswith("Two#")]
    assert "The fourth" in store.cited([chunk])[chunk]


@pytest.mark.usefixtures("settled")
def test_pages_that_show_pictures_are_read_again(build: Build, folder: Path) -> None:
    """A picture beside them may have changed, or come."""
    (folder / "two.md").write_text("# Two\n\nSee:\n\n![A map of Vesk](map.png)\n", "utf-8")
    build()
    assert build() == ["two.md"]


@pytest.mark.usefixtures("settled")
def test_a_damaged_note_is_no_note(build: Build, folder: Path, tmp_path: Path) -> None:
    build()
    (file,) = tmp_path.rglob("files-read.json")
    for damage in (b"", b"{}", file.read_bytes().replace(b"one", b"two", 1), b"\xff\x00"):
        file.write_bytes(damage)
        assert build() == ALL and build() == []


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_store_is_the_one_that_reading_everything_makes(
    seed: int, alike: bool, build: Build, folder: Path, store: GraphStore
) -> None:
    """After files came, went, changed, were renamed and got each other's titles and links. Which of the files with one
    title and one text a document is named after is left open; it is there.
    """
    draw = random.Random(seed)
    names = [f"{part}{name}.md" for part in ("", "a/", "b/") for name in ("one", "two", "index")]
    with Engine(DictStore()) as plain:
        for step in range(10):
            file = folder / draw.choice(names)
            file.parent.mkdir(exist_ok=True)
            match draw.randrange(4):
                case 0 if file.exists():
                    file.unlink()
                case 1 if file.exists():
                    file.rename(folder / f"{draw.randrange(5)}.md")
                case _:
                    link = draw.choice(["[two](two.md)", "[[one]]", "[[Gone]]", "Vesk", "[b](/b/index.md)"])
                    title, text = draw.choice(["One", "Two", "Vesk"]), "Text" if alike else f"Text {step}"
                    file.write_text(f"# {title}\n\n{text} with {link}.\n", "utf-8")
            time.sleep(0.01)
            prune = draw.random() < 0.5
            build(prune=prune)
            plain.build([folder], embed=False, workers=1, prune=prune, reread=True)
            if alike:
                stores = (store, plain.store)
                assert len({frozenset(page.text for page in one.page_graphs()) for one in stores}) == 1
            else:
                assert state_of(store) == state_of(plain.store)
