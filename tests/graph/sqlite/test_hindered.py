"""Too many open files, and a folder that cannot be written: told as such, and no index is called damaged for it."""

from __future__ import annotations

import errno
import logging
import shutil
from pathlib import Path

import pytest

from trivium.engine import Engine
from trivium.errors import StoreError
from trivium.graph.arrays import snapshot as arrays
from trivium.graph.arrays.array_files import check_open_files, read_manifest
from trivium.graph.sqlite import load_index
from trivium.testing.toys import HashEmbedder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.add_records([{"title": "Heron", "text": "The heron stands in the reeds."}], workers=1)
    return tmp_path / "store"


@pytest.mark.parametrize("place", ["load_matrix", "load_topology", "KeywordIndex"])
@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "x"), ValueError("code: 24, Too many open files")])
def test_too_many_open_files_is_no_damage(
    store: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: Exception
) -> None:
    before = sorted((store / "index").rglob("*"))

    def full(*_: object) -> None:
        raise error

    with monkeypatch.context() as hindered:
        hindered.setattr(arrays, place, full)
        with pytest.raises(StoreError, match=r"too many open files.*ulimit -n"), Engine.open(store) as engine:
            engine.search("heron", retrievers=["lexical"])
    assert sorted((store / "index").rglob("*")) == before, "the index is not built anew"


def test_other_errors_are_none_of_too_many_files(tmp_path: Path) -> None:
    check_open_files(OSError(errno.ENOENT, "no such file"))
    check_open_files(ValueError("unable to open database file"))  # others can be opened now
    assert read_manifest(tmp_path) is None


@pytest.mark.parametrize("state", ["missing", "empty"])
def test_a_store_that_cannot_be_written_is_searched_without_its_index(
    store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, state: str
) -> None:
    """As after a restore to a read-only disk; told once, however often it is opened."""
    shutil.rmtree(store / "index")
    if state == "empty":
        (store / "index").mkdir()
    monkeypatch.setattr(load_index.os, "access", lambda path, mode: not str(path).startswith(str(store)))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            with Engine.open(store) as engine:
                assert [hit.page for hit in engine.search("heron", retrievers=["lexical"])] == ["Heron"]
    assert caplog.text.count("is read-only") == 1
    assert not (store / "index").exists() or not list((store / "index").iterdir())
