"""Answers are kept, found again, and never believed when they are not whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graph.dbpedia.world import fact
from trivium.graph.dbpedia.sparql_client import AnswerFile

DAY = 86_400
ROWS = [fact("Einstein", "birthPlace", "Ulm"), ("a\nb", "ü", "\u2028")]


def answers(path: Path, now: float = 0) -> list[object]:
    return list(AnswerFile(path, 30, now).answers("facts"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "deep" / "answers.jsonl"
    file = AnswerFile(made, 30, now=0)
    file.add("facts", ["a", "b"], ROWS)
    file.add("links", ["t"], [])
    file.add("facts", ["c"], [])
    return made


def test_answers_come_back_by_stage_in_order(path: Path) -> None:
    assert answers(path) == [(["a", "b"], ROWS), (["c"], [])]
    assert len(path.read_text().split("\n")) == 5


@pytest.mark.parametrize("cut", [1, 2, 10, 30])
def test_a_line_cut_short_is_forgotten_and_the_file_goes_on(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])
    file = AnswerFile(path, 30, now=0)
    file.add("facts", ["d"], [])
    assert answers(path) == [(["a", "b"], ROWS), (["d"], [])]


BAD_LINES = [
    b"garbage",
    b"\xff",
    b"[]",
    b'{"stage":"facts","asked":[1],"rows":[]}',
    b'{"stage":"facts","asked":["q"],"rows":[["a","b"]]}',
]


@pytest.mark.parametrize("bad", BAD_LINES)
def test_what_follows_a_bad_line_is_not_believed(path: Path, bad: bytes) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], bad + b"\n", *lines[2:]]))
    assert answers(path) == [(["a", "b"], ROWS)]


@pytest.mark.parametrize("head", [b"", b"\n", b"garbage\n", b"{}\n"])
def test_a_file_that_is_something_else_is_begun_anew(path: Path, head: bytes) -> None:
    path.write_bytes(head)
    assert answers(path) == []


def test_answers_grow_old(path: Path) -> None:
    """Thirty days are the limit."""
    assert len(answers(path, now=30 * DAY)) == 2
    assert answers(path, now=30 * DAY + 1) == []
