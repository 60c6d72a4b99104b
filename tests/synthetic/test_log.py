"""A step's log loses no finished record, whenever its process is killed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from trivium.errors import InputError
from trivium.synthetic.run_folder import Log

SETTINGS = {"model": "a", "seed": 0}


@dataclass(frozen=True)
class Note:
    """A record."""

    text: str
    number: int = 0


def notes(path: Path) -> Log[Note]:
    return Log(path / "notes.jsonl", Note)


def test_records_come_back_in_order_with_what_the_step_was_begun_with(tmp_path: Path) -> None:
    """Before it begins there is nothing, which is no error."""
    log = notes(tmp_path / "new" / "folder")
    assert (log.settings(), log.records()) == (None, [])
    with log.writing(SETTINGS) as append:
        append(Note("über\n\x1b", 1))
        assert log.records() == [Note("über\n\x1b", 1)], "it is there before the next is begun"
        append(Note("b"))
    assert log.settings() == SETTINGS
    assert log.records() == [Note("über\n\x1b", 1), Note("b")]


def test_the_step_goes_on_from_every_byte_at_which_it_was_killed(tmp_path: Path) -> None:
    """What was whole stays, what was begun is written again, and the result is the same file."""
    log = notes(tmp_path)
    wanted = [Note("first", 1), Note("zweiter ü", 2), Note("third", 3)]
    with log.writing(SETTINGS) as append:
        for note in wanted:
            append(note)
    whole = log.path.read_bytes()
    for end in range(len(whole)):
        log.path.write_bytes(whole[:end])
        known = log.records()
        assert known == wanted[: len(known)]
        with log.writing(SETTINGS) as append:
            for note in wanted[len(known) :]:
                append(note)
        assert log.path.read_bytes() == whole, end


def test_a_step_is_not_continued_with_other_settings(tmp_path: Path) -> None:
    """The message names each that differs, and nothing is written."""
    log = notes(tmp_path)
    with log.writing(SETTINGS) as append:
        append(Note("a"))
    before = log.path.read_bytes()
    with (
        pytest.raises(
            InputError, match='model was "a" and is now "b"; more was not set and is now 1'
        ) as refused,
        log.writing({"model": "b", "seed": 0, "more": 1}),
    ):
        pass
    assert "another folder" in str(refused.value) and log.path.read_bytes() == before


def test_a_step_that_has_done_nothing_yet_may_begin_otherwise(tmp_path: Path) -> None:
    """A model that cannot be reached, or a draw that finds nothing, leaves no run behind."""
    log = notes(tmp_path)
    with log.writing(SETTINGS):
        pass
    with log.writing({"model": "b"}) as append:
        append(Note("a"))
    assert (log.settings(), log.records()) == ({"model": "b"}, [Note("a")])


def test_two_processes_do_not_write_at_once(tmp_path: Path) -> None:
    """The second is told so; when the first has ended it may."""
    log = notes(tmp_path)
    code = (
        "import sys; from tests.synthetic.test_log import *\n"
        "try:\n    with notes(Path(sys.argv[1])).writing(SETTINGS): print('wrote')\n"
        "except InputError as error: print(error)"
    )

    def other() -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
        )
        return done.stdout

    with log.writing(SETTINGS):
        assert "another process" in other()
    assert other() == "wrote\n"


@pytest.mark.parametrize(
    "line", ['{"text": 3, "number": "x"}', "no JSON", "[]", "null", "\x00" * 8, "[" * 5000]
)
def test_a_damaged_line_is_named_not_guessed(tmp_path: Path, line: str) -> None:
    """A whole line that is no record was not written by a step: nothing is dropped on the quiet."""
    log = notes(tmp_path)
    with log.writing(SETTINGS) as append:
        append(Note("a"))
    with log.path.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(InputError, match=r"notes\.jsonl, line 3: expected a record"):
        log.records()
    log.path.write_text(f"{line}\n")
    with pytest.raises(InputError, match="line 1: expected the settings"), log.writing(SETTINGS):
        pass
