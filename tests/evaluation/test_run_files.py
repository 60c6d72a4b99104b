"""Runs of other systems come from TREC files, and what cannot be judged is refused with its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.errors import InputError
from trivium.evaluation.trec_files import read_runs


def written(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_systems_are_named_as_their_files(tmp_path: Path) -> None:
    first = written(
        tmp_path, "vector %3E bm25.run", "q%201 Q0 b 2 1 x", "q%201 Q0 a 1 2 x", "other Q0 a 1 1 x"
    )
    second = written(tmp_path, "mine.run", "q%201 Q0 a 1 0.5 x")
    assert read_runs([first, second], ["q 1", "q 2"]) == {
        "vector > bm25": {"q 1": [("a", 2.0), ("b", 1.0)], "other": [("a", 1.0)]},
        "mine": {"q 1": [("a", 0.5)]},
    }


def test_what_cannot_be_judged_is_refused(tmp_path: Path) -> None:
    good = written(tmp_path, "x.run", "q Q0 a 1 1 x")
    with pytest.raises(InputError, match=r"b/x\.run: expected runs of different names"):
        read_runs([good, written(tmp_path / "b", "x.run", "q Q0 a 1 1 x")], ["q"])
    with pytest.raises(InputError, match=r"x\.run: expected a run of these 1 questions, got none"):
        read_runs([good], ["another"])
    twice = written(tmp_path, "twice.run", "q Q0 a 1 2 x", "q Q0 a 2 1 x")
    with pytest.raises(InputError, match=r"twice\.run: .* distinct chunks for question 'q'"):
        read_runs([twice], ["q"])
