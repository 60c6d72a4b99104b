"""A document that is read without some of its parts says so wherever it is loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from tests.parser.documents.files import epub
from trivium.engine import Engine

BROKEN = {"OEBPS/text/b b.xhtml": b"\0\1\2" * 100}
MISSING = "the chapter 'The Storm': the document is binary data"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "books"
    made.mkdir()
    (made / "whole.epub").write_bytes(epub({"OEBPS/book.opf": "", "META-INF/container.xml": ""}))
    (made / "rock.epub").write_bytes(epub(BROKEN))
    return made


def test_in_the_terminal_and_its_json(trivium: Run, folder: Path, tmp_path: Path) -> None:
    done = trivium("build", folder / "rock.epub", "--no-embed", "--store", tmp_path / "store")
    assert done.code == 0 and "1 document could be read only in part, without:" in done.err
    assert "rock.epub: the chapter 'out'" in done.err and MISSING in done.err
    told = trivium("build", folder, "--no-embed", "--store", tmp_path / "another", "--json")
    assert told.code == 0
    (first, second) = told.json["incomplete"]
    assert MISSING in first["reason"] and "the list of chapters" in second["reason"]
    assert json.dumps(told.json["problems"]) == "[]"


@pytest.mark.parametrize("isolated", [False, True])
def test_in_python(folder: Path, tmp_path: Path, isolated: bool) -> None:
    """Whichever process parses."""
    with Engine.create(tmp_path / "store") as engine:
        report = engine.build([folder / "rock.epub"], embed=False, isolated=isolated)
        (only,) = report.incomplete
        assert only.location.endswith("rock.epub") and MISSING in only.reason
        assert not report.problems and report.added == 1
