"""A store follows its folder: what is changed, new and deleted there is loaded and removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium import Engine, InputError
from trivium.index.requests import BuildRequest
from trivium.index.watching import Follower

HTML = "<!doctype html><title>{0}</title><h1>{0}</h1><p>{0} wades.</p>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "birds" / "small").mkdir(parents=True)
    (tmp_path / "birds" / "Bustard.txt").write_text("The bustard is heavy.")
    (tmp_path / "birds" / "small" / "heron.html").write_text(HTML.format("Heron"))
    return tmp_path / "birds"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.create(tmp_path / "store", "minilm") as made:
        yield made


@pytest.fixture
def following(engine: Engine, folder: Path) -> Follower:
    follower = Follower(engine.indexer, BuildRequest([str(folder)], embed=False))
    engine.build([folder], embed=False)
    return follower


def test_what_changes_is_loaded_and_nothing_else(engine: Engine, folder: Path, following: Follower) -> None:
    assert following.follow() is None
    (folder / "Bustard.txt").write_text("The bustard is the heaviest bird that flies.")
    (folder / "Wren.txt").write_text("The wren is light.")
    done = following.follow()
    assert done is not None and done.report is not None
    assert (done.report.added, done.report.replaced, done.report.unchanged) == (1, 1, 0)
    assert engine.pages() == ["Bustard", "Heron", "Wren"]
    assert following.follow() is None


def test_the_page_of_a_deleted_file_goes(engine: Engine, folder: Path, following: Follower) -> None:
    """Also with its folder."""
    (folder / "small").rename(folder.parent / "elsewhere")
    done = following.follow()
    assert done is not None and done.removed == ("Heron",)
    assert engine.pages() == ["Bustard"]
    (folder / "Bustard.txt").unlink()
    assert following.follow() is not None
    assert engine.pages() == []


def test_a_file_that_calls_itself_otherwise_leaves_no_page_behind(
    engine: Engine, folder: Path, following: Follower
) -> None:
    (folder / "small" / "heron.html").write_text(HTML.format("Grey heron"))
    done = following.follow()
    assert done is not None and done.removed == ("Heron",)
    assert engine.pages() == ["Bustard", "Grey heron"]


def test_a_broken_file_keeps_its_page_and_is_tried_again(
    engine: Engine, folder: Path, following: Follower
) -> None:
    page = folder / "small" / "heron.html"
    page.write_text("")
    (folder / "Wren.txt").write_text("The wren is light.")
    done = following.follow()
    assert done is not None and done.report is not None
    assert (done.report.added, len(done.report.problems)) == (1, 1)
    assert engine.pages() == ["Bustard", "Heron", "Wren"]
    page.write_text(HTML.format("Egret"))
    assert following.follow() is not None
    assert engine.pages() == ["Bustard", "Egret", "Wren"]


def test_a_file_that_stays_broken_is_given_up(folder: Path, following: Follower) -> None:
    (folder / "Wren.txt").write_text("")
    assert following.follow() is not None
    assert [following.follow() for _ in range(6)] == [None] * 6
    assert not following._again


def test_what_changes_before_the_first_load_is_not_missed(engine: Engine, folder: Path) -> None:
    follower = Follower(engine.indexer, BuildRequest([str(folder)], embed=False))
    (folder / "Wren.txt").write_text("The wren is light.")
    os.utime(folder / "Bustard.txt", (1, 1))
    engine.build([folder], embed=False)
    done = follower.follow()
    assert done is not None and done.report is not None
    assert (done.report.unchanged, done.report.added) == (2, 0) or done.report.replaced


def test_a_pattern_cannot_be_watched(engine: Engine, folder: Path) -> None:
    with pytest.raises(InputError, match="only files and folders can be watched"):
        Follower(engine.indexer, BuildRequest([str(folder / "*.txt")]))
