"""A build with ``prune`` removes what was deleted from its folders, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.engine import Engine
from trivium.errors import InputError
from trivium.index.deleted_files import file_of
from trivium.testing.toys import HashEmbedder


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        yield engine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    for name in ("one", "two", "deep/three"):
        (folder / f"{name}.md").write_text(f"# {name[-5:].title()}\n\nAbout {name}.", "utf-8")
    records = [{"title": title, "text": f"Of {title}."} for title in ("Mars", "Venus")]
    (folder / "planets.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
    return folder


def test_deleted_files_and_records_go_and_moved_ones_stay(folder: Path, engine: Engine) -> None:
    engine.build([folder], workers=1)
    before = engine.pages()
    (folder / "two.md").unlink()
    (folder / "one.md").rename(folder / "deep" / "uno.md")
    (folder / "planets.jsonl").write_text('{"title": "Mars", "text": "Of Mars."}', "utf-8")
    assert engine.build([folder], workers=1).removed == []
    assert engine.pages() == before, "without prune nothing is removed"
    report = engine.build([folder], workers=1, prune=True)
    assert sorted(report.removed) == ["Two", "Venus"]
    assert engine.pages() == sorted(set(before) - {"Two", "Venus"})
    assert engine.build([folder], workers=1, prune=True).removed == []


def test_what_is_not_of_the_folder_stays(
    folder: Path, tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other folders, files by themselves, documents of programs, also if they are called like files of the folder."""
    other = tmp_path / "docs-2"
    other.mkdir()
    (other / "four.md").write_text("# Four\n\nAbout four.", "utf-8")
    monkeypatch.chdir(folder)
    engine.add_files({"five.md": "# Five\n\nAbout five."}, workers=1)
    engine.add_records([{"title": "Six", "text": "Of six."}], workers=1)
    engine.build([other, "."], workers=1)
    (other / "four.md").unlink()
    (folder / "two.md").unlink()
    assert engine.build(["."], workers=1, prune=True).removed == ["Two"]
    assert {"Four", "Five", "Six"} <= set(engine.pages())


def test_a_file_that_cannot_be_read_keeps_its_document(folder: Path, engine: Engine) -> None:
    engine.build([folder], workers=1)
    (folder / "two.md").write_bytes(b"")
    (folder / "planets.jsonl").write_text("{broken", "utf-8")
    report = engine.build([folder], workers=1, prune=True)
    assert report.problems and report.removed == []


def test_a_file_that_is_read_in_part_keeps_its_documents(folder: Path, engine: Engine) -> None:
    """It may still be being written."""
    engine.build([folder], workers=1)
    whole = (folder / "planets.jsonl").read_text("utf-8")
    (folder / "planets.jsonl").write_text(whole[:-3], "utf-8")
    report = engine.build([folder], workers=1, prune=True)
    assert report.problems and report.removed == []


def test_where_nothing_can_be_read_nothing_is_removed(folder: Path, engine: Engine) -> None:
    engine.build([folder], workers=1)
    before = engine.pages()
    for path in list(folder.rglob("*.*")):
        path.unlink()
    (folder / "x.bin").write_bytes(b"\0\1\2")
    report = engine.build([folder], workers=1, prune=True)
    assert (report.read, report.removed, engine.pages()) == (0, [], before)


def test_uploads_are_not_looked_for_on_disk(
    folder: Path, tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are called like files, may be displayed under another name, and their text may be replaced."""
    monkeypatch.chdir(folder)
    for title in ("Q1", "Q2"):
        upload = tmp_path / "0"
        upload.write_text(f"# {title}\n\nOf {title}.", "utf-8")
        engine.build([upload], workers=1, names={str(upload): "report.md"}, format="markdown")
    engine.build(["."], workers=1)
    text = [{"title": "Q1", "text": "Other text."}]
    engine.add_records(text, source="Q1", workers=1)
    assert engine.store.page_text("Q1") == "Other text."
    (folder / "two.md").unlink()
    assert engine.build(["."], workers=1, prune=True).removed == ["Two"]
    assert {"Q1", "Q2"} <= set(engine.pages())


def test_a_folder_may_be_a_symbolic_link(folder: Path, tmp_path: Path, engine: Engine) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder, target_is_directory=True)
    (folder / "inner").symlink_to(folder / "deep", target_is_directory=True)
    engine.build([link], workers=1)
    (folder / "two.md").unlink()
    assert engine.build([link], workers=1, prune=True).removed == ["Two"]


def test_an_emptied_or_missing_folder_removes_nothing(folder: Path, engine: Engine) -> None:
    """It may be one that is not mounted."""
    engine.build([folder], workers=1)
    before = engine.pages()
    for path in list(folder.rglob("*.*")):
        path.unlink()
    with pytest.raises(InputError, match="no files"):
        engine.build([folder], workers=1, prune=True)
    assert engine.pages() == before


def test_what_would_remove_too_much_is_refused(folder: Path, engine: Engine) -> None:
    with pytest.raises(InputError, match="expected a folder among the sources"):
        engine.build([folder / "one.md"], prune=True)


def test_the_file_of_a_document_in_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "a, b.zim"
    archive.touch()
    assert file_of(f"{archive}, A/Mars, the planet") == str(archive)
    assert file_of(f"{tmp_path}/gone.zim, A/Mars") == f"{tmp_path}/gone.zim, A/Mars"


def test_one_run_reaches_the_final_state(folder: Path, engine: Engine) -> None:
    """No record or document keeps a link to a page that was removed."""
    texts = {"Moon": "It is called Twoish like its planet Venus.", "Rock": "Found by Twoish."}
    records = [{"title": title, "text": text} for title, text in texts.items()]
    (folder / "moons.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
    (folder / "gone.md").write_text("# Twoish\n\nA planet.", "utf-8")
    (folder / "note.txt").write_text("Notes\n\nOn Twoish and on Venus.", "utf-8")
    engine.build([folder], workers=1, entities="none")
    assert engine.store.cited(["Rock#chunk-1"]) == {"Rock#chunk-1": ["Twoish"]}
    (folder / "gone.md").unlink()
    first = engine.build([folder], workers=1, prune=True)
    after = [
        (page.content_hash, [chunk.cites for chunk in page.chunks]) for page in engine.store.page_graphs()
    ]
    second = engine.build([folder], workers=1, prune=True)
    assert (first.removed, second.removed, second.replaced, second.relinked) == (["Twoish"], [], 0, 0)
    assert after == [
        (page.content_hash, [chunk.cites for chunk in page.chunks]) for page in engine.store.page_graphs()
    ]
    assert not any("Twoish" in cites for _, chunks in after for cites in chunks)
