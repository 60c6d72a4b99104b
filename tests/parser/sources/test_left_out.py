"""Of a folder what is of no format that is read is left out; what is asked for by name is a problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.parser.sources.discover import FoundFile, discover, expand
from trivium.parser.sources.source_items import Item, LeftOut, Problem

HTML = "<!DOCTYPE html>\n<title>Io</title><p>Io is a moon.</p>"


def kinds(*sources: Path | str) -> dict[str, str]:
    """What became of each file, by name."""
    names = {Item: "read", Problem: "problem", LeftOut: "left out"}
    return {Path(one.location).name: names[type(one)] for one in discover([str(s) for s in sources])}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    contents: dict[str, str | bytes] = {
        "page": HTML,
        "notes.txt": "Io is a moon.",
        "main.py": "print(1)",
        "script": "#!/bin/sh",
        "empty.py": "",
        "font.woff": b"\0\1\2",
        "settings.toml": "[a]\nb = 1",
        "package.json": '{\n  "name": "x"\n}',
        "questions.jsonl": '{"question": "who?"}',
        "cut.json": '{"title": "Io", "te',
        "empty.txt": "",
        "noise.html": b"\0\1\2",
        "noise.html.gz": b"\x1f\x8bnoise",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return tmp_path


def test_plain_text_is_known_without_a_suffix_that_says_so(tmp_path: Path) -> None:
    """What people write for people; what programs read is left out."""
    contents = {
        "README": b"Read this first.",
        "LICENSE": "Größe".encode("cp1252"),
        "app.log": b"10:00 started",
        "guide.rst": b"Guide\n=====\n\nText.",
        "Makefile": b"all: run",
        "run": b"#!/bin/sh\necho",
        "a.out": b"\x7fELF\0\0",
        "data": b"\0\1\2\3",
        ".profile": b"export A=1",
        "config": b"[core]\n  bare = false",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    found = kinds(tmp_path)
    assert [name for name in contents if found[name] == "read"] == [
        "README",
        "LICENSE",
        "app.log",
        "guide.rst",
    ]
    assert {found[name] for name in contents if found[name] != "read"} == {"left out"}
    assert [one.format for one in discover([str(tmp_path)]) if isinstance(one, Item)] == ["text"] * 4


def test_a_folder_gives_what_is_known_and_leaves_the_rest(folder: Path) -> None:
    """A broken file of a known format is a problem; so is broken JSON, but not JSON of other things."""
    assert kinds(folder) == kinds(folder / "*") == {
        "page": "read",
        "notes.txt": "read",
        "main.py": "left out",
        "script": "left out",
        "empty.py": "left out",
        "font.woff": "left out",
        "settings.toml": "left out",
        "package.json": "left out",
        "questions.jsonl": "left out",
        "cut.json": "problem",
        "empty.txt": "problem",
        "noise.html": "problem",
        "noise.html.gz": "problem",
    }  # fmt: skip


def test_a_file_that_is_named_is_never_left_out(folder: Path) -> None:
    for path in folder.iterdir():
        assert kinds(path)[path.name] in ("read", "problem")


def test_a_store_in_the_folder_is_not_searched(folder: Path) -> None:
    (folder / "store").mkdir()
    (folder / "store" / "graph.db").write_bytes(b"SQLite")
    (folder / "store" / "page.html").write_text(HTML)
    assert "page.html" not in kinds(folder)


def test_who_has_named_a_file_is_kept(folder: Path) -> None:
    named = {
        source: [found.named for found in expand(source) if isinstance(found, FoundFile)]
        for source in (str(folder / "page"), str(folder), str(folder / "pa?e"))
    }
    assert [set(flags) for flags in named.values()] == [{True}, {False}, {False}]
