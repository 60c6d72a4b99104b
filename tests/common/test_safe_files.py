"""Files are replaced whole or not at all, and a log loses no finished line, whenever its process is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from trivium.common.safe_files import JsonLines, replacing, write_file
from trivium.errors import InputError


@dataclass(frozen=True)
class Note:
    """A record."""

    text: str
    number: int = 0


def notes(folder: Path) -> JsonLines[Note]:
    return JsonLines(folder / "notes.jsonl", Note)


def test_a_file_is_as_it_was_when_writing_fails(tmp_path: Path) -> None:
    """And nothing is left beside it."""
    path = tmp_path / "report.md"
    write_file(path, "old")
    with pytest.raises(RuntimeError), replacing(path) as file:
        file.write(b"half of it")
        assert path.read_text() == "old", "not before the end"
        raise RuntimeError("interrupted")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.md"]
    assert path.read_text() == "old"


def test_the_content_is_on_the_disk_before_the_name_points_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power cut leaves an empty file under the old name."""
    calls: list[str] = []
    sync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: calls.append("sync") or sync(descriptor))
    monkeypatch.setattr(Path, "replace", lambda self, to: calls.append("replace") or replace(self, to))
    write_file(tmp_path / "report.md", b"new")
    assert calls[:2] == ["sync", "replace"]


def test_folders_are_made_and_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A folder in place of a file cannot."""
    write_file(tmp_path / "deep" / "er" / "über.txt", "ü\n")
    assert (tmp_path / "deep" / "er" / "über.txt").read_bytes() == "ü\n".encode()
    with pytest.raises(InputError, match="deep: expected a file that can be written"):
        write_file(tmp_path / "deep", "x")
    with pytest.raises(InputError, match=r"x\.txt: expected a file that can be written"):
        write_file(tmp_path / "deep" / "er" / "über.txt" / "x.txt", "x")


def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    """The temporary file has a shorter one."""
    path = tmp_path / ("n" * 255)
    write_file(path, "x")
    assert path.read_text() == "x"


def test_others_may_read_what_the_umask_lets_them_and_links_stay_links(tmp_path: Path) -> None:
    """Temporary files of the standard library are for their owner alone."""
    real, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to(real)
    umask = os.umask(0o022)
    try:
        write_file(link, "x")
    finally:
        os.umask(umask)
    assert link.is_symlink() and real.read_text() == "x"
    assert real.stat().st_mode & 0o777 == 0o644


def test_records_come_back_in_order(tmp_path: Path) -> None:
    """Each is there as soon as it was added; before the first there is nothing, which is no error."""
    log = notes(tmp_path / "new" / "folder")
    assert list(log.records()) == []
    log.append(Note("über\n\x1b\u2028", 1))
    assert list(notes(tmp_path / "new" / "folder").records()) == [Note("über\n\x1b\u2028", 1)]
    with log.writing():
        log.append(Note("b"))
        log.append(Note("c"))
    assert [note.text for note in log.records()] == ["über\n\x1b\u2028", "b", "c"]


@pytest.mark.parametrize("size", [5, 200_000])
def test_a_torn_line_is_never_read_and_dropped_by_the_next_record(tmp_path: Path, size: int) -> None:
    """However long it is; finished lines stay."""
    log = notes(tmp_path)
    log.append(Note("a"))
    whole = log.path.read_bytes()
    for before in (b"", whole):
        log.path.write_bytes(before + b'{"text": "' + b"x" * size)
        assert [note.text for note in log.records()] == (["a"] if before else [])
        log.append(Note("b"))
        assert log.path.read_bytes() == before + b'{"text":"b","number":0}\n'


@pytest.mark.parametrize("line", [b"", b"no JSON", b"[]", b'{"text": 3}', b"\xff", b"[" * 5000])
def test_a_line_that_is_no_record_is_named_not_guessed(tmp_path: Path, line: bytes) -> None:
    """It was not torn: nothing is dropped without a word."""
    log = notes(tmp_path)
    log.append(Note("a"))
    log.path.write_bytes(log.path.read_bytes() + line + b"\n")
    with pytest.raises(InputError, match=r"notes\.jsonl, line 2: expected a record"):
        list(log.records())


def test_headers_are_no_records(tmp_path: Path) -> None:
    """They can be read, and kept when the records are dropped."""
    log = JsonLines(tmp_path / "notes.jsonl", Note, header=1)
    with log.writing():
        log.append_line(b'{"settings": 1}')
        log.append(Note("a"))
        assert list(log.records()) == [Note("a")]
        log.keep(1)
        log.append(Note("b"))
    assert next(iter(log.lines())) == b'{"settings": 1}'
    assert list(log.records()) == [Note("b")]
    with pytest.raises(RuntimeError):
        log.keep(0)


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    """The second is told so; when the first has ended it may. Reading is never refused."""
    log = notes(tmp_path)
    code = (
        "import sys; from tests.common.test_safe_files import *\n"
        "log = notes(Path(sys.argv[1])); print(len(list(log.records())))\n"
        "try:\n    with log.writing(): log.append(Note('theirs')); print('wrote')\n"
        "except InputError as error: print(error)"
    )

    def other() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    with log.writing():
        log.append(Note("ours"))
        count, message = other()
        assert count == "1" and "another process is writing" in message
    assert other() == ["1", "wrote"]
