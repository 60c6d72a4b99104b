"""Hits name documents by their paths below the folder that was given, and no two documents by the same one."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.memory_store import MemoryStore
from tests.index.test_file_links import citations, loaded, write
from trivium.index.find_pages import find_named
from trivium.index.load import load

WIKI = """<html><head><title>Mars - Wikipedia</title></head><body class="mediawiki"><h1 id="firstHeading">Mars</h1>
<div id="mw-content-text"><div class="mw-parser-output"><p>Mars is a planet.</p></div></div></body></html>"""


def shown(store: MemoryStore) -> dict[str, str]:
    return {page.uri: page.path for page in store.pages()}


def test_a_document_is_named_by_its_path_below_the_folder_that_was_given(tmp_path: Path) -> None:
    store = MemoryStore()
    loaded(store, write(tmp_path / "small", notes="# Notes\n\nText.", guide__setup="# Setup\n\nText."))
    assert shown(store) == {"Notes": "notes.md", "Setup": "guide/setup.md"}


def test_a_single_file_is_named_without_its_folder(tmp_path: Path) -> None:
    store = MemoryStore()
    loaded(store, write(tmp_path / "reports", amcor="# Amcor\n\nText.") / "amcor.md")
    assert shown(store) == {"Amcor": "amcor.md"}


def test_the_folder_one_is_in_needs_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    monkeypatch.chdir(write(tmp_path / "small", notes="# Notes\n\nText."))
    assert load(["."], store, workers=1).added == 1
    assert shown(store) == {"Notes": "notes.md"}
    monkeypatch.chdir(tmp_path)
    assert load(["small"], store, workers=1).unchanged == 1


def test_pages_of_a_wiki_are_named_by_their_files_too(tmp_path: Path) -> None:
    store = MemoryStore()
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "mars.html").write_text(WIKI)
    loaded(store, tmp_path / "pages")
    assert shown(store) == {"Mars": "mars.html"}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return (
        write(tmp_path / "one", README="# One\n\nSee [a](a.md).", a="# A of one\n\nText."),
        write(tmp_path / "two", README="# Two\n\nSee [a](a.md).", a="# A of two\n\nText."),
    )


TWO = {"One": "README.md", "A of one": "a.md", "Two": "two/README.md", "A of two": "two/a.md"}
CITED = {"One": {"A of one"}, "Two": {"A of two"}, "A of one": set(), "A of two": set()}


@pytest.mark.parametrize("together", [True, False])
def test_where_two_folders_have_the_same_path_the_later_one_keeps_its_name(
    two: tuple[Path, Path], together: bool
) -> None:
    store = MemoryStore()
    for sources in [two] if together else [(two[0],), (two[1],)]:
        loaded(store, *sources)
    assert (shown(store), citations(store)) == (TWO, CITED)
    for sources in ((two[1],), two, (two[0],)):
        assert loaded(store, *sources).unchanged == 2 * len(sources)
    assert find_named(store, ["README.md"]) == ["One"]
    assert find_named(store, ["two/README.md"]) == ["Two"]


def test_folders_of_one_name_are_told_apart_by_what_they_lie_in(tmp_path: Path) -> None:
    """The second takes no document's place, and its links lead to its own files."""
    store = MemoryStore()
    for name in ("one", "two"):
        folder = write(
            tmp_path / name / "docs", README="# Home\n\nSee [a](a.md).", a=f"# A of {name}\n\nText."
        )
        (folder / "README.md").write_text(f"# Home\n\n{name}: see [a](a.md).")
        loaded(store, folder)
    assert shown(store) == {
        "Home": "README.md", "A of one": "a.md", "Home (docs)": "docs/README.md", "A of two": "docs/a.md",
    }  # fmt: skip
    assert (citations(store)["Home"], citations(store)["Home (docs)"]) == ({"A of one"}, {"A of two"})
    assert loaded(store, tmp_path / "two" / "docs").unchanged == 2


def test_files_of_one_relative_source_are_told_apart_by_their_folders(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    for folder in two:
        (folder / "README.md").write_text(f"# Project\n\nOf {folder.name}.")
        monkeypatch.chdir(folder)
        loaded(store, Path("README.md"))
        assert load(["README.md"], store, workers=1).unchanged == 1
    assert shown(store) == {"Project": "README.md", "Project (two)": "two/README.md"}


def test_a_folder_that_was_moved_keeps_its_documents(tmp_path: Path) -> None:
    store = MemoryStore()
    folder = write(tmp_path / "one" / "docs", README="# Home\n\nOne.")
    loaded(store, folder)
    shutil.move(folder, tmp_path / "two" / "docs")
    (tmp_path / "two" / "docs" / "README.md").write_text("# Home\n\nWritten anew.")
    assert loaded(store, tmp_path / "two" / "docs").replaced == 1
    assert shown(store) == {"Home": "README.md"}


def test_documents_that_an_earlier_version_loaded_are_known_again(two: tuple[Path, Path]) -> None:
    """Their paths began with the folder's name."""
    store = MemoryStore()
    loaded(store, two[0])
    graphs = list(store.page_graphs())
    old = MemoryStore()
    old.write([replace(graph, path=f"one/{graph.path}") for graph in graphs])
    assert loaded(old, two[0]).unchanged == 2
    (two[0] / "a.md").write_text("# A of one\n\nWritten anew.")
    assert loaded(old, *two).replaced == 1
    assert shown(old) == {
        "One": "one/README.md",
        "A of one": "a.md",
        "Two": "two/README.md",
        "A of two": "two/a.md",
    }


def test_records_have_a_format_and_the_path_of_their_file(tmp_path: Path) -> None:
    store = MemoryStore()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        lines = [f'{{"title": "{name} {number}", "text": "Text."}}' for number in range(2)]
        (tmp_path / name / "recs.jsonl").write_text("\n".join(lines))
    loaded(store, tmp_path / "one", tmp_path / "two")
    assert shown(store) == {
        "one 0": "recs.jsonl", "one 1": "recs.jsonl", "two 0": "two/recs.jsonl", "two 1": "two/recs.jsonl",
    }  # fmt: skip
    assert {page.format for page in store.pages()} == {"records"}
    assert loaded(store, tmp_path / "two").unchanged == 2
    assert find_named(store, ["recs.jsonl"]) == ["one 0", "one 1"]
