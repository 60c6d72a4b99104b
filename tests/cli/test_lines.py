"""Progress where stderr is a file or a pipe."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from trivium.cli.progress import LineReporter, told_what_can_be_used
from trivium.cli.terminal import err, progress


def _lines(*calls: tuple[float, str, int, int]) -> list[str]:
    """What is printed at these seconds for (stage, done, total)."""
    file = StringIO()
    times = iter([seconds for seconds, *_ in calls])
    report = LineReporter(Console(file=file, width=20), lambda: next(times))
    for _, stage, done, total in calls:
        report(stage, done, total)
    return file.getvalue().splitlines()


def test_long_work_prints_a_line_now_and_then_into_a_file() -> None:
    """The first after ten seconds of a stage, then one every thirty, and the end. The rate is that of this run: 100 of
    1,600 texts had been embedded by an earlier one."""
    assert _lines(
        (0, "parse", 0, 3),
        (0.1, "parse", 3, 3),
        (100, "embed", 100, 1600),
        (109.9, "embed", 199, 1600),
        (110, "embed", 300, 1600),
        (111, "embed", 320, 1600),
        (139.9, "embed", 500, 1600),
        (140, "embed", 500, 1600),
        (160, "embed", 1600, 1600),
        (161, "embed", 1600, 1600),
    ) == [
        "Embedding: 300 of 1,600, 20/s, 0:01:05 left",
        "Embedding: 500 of 1,600, 10/s, 0:01:50 left",
        "Embedding: 1,600 of 1,600, 25/s",
    ]


def test_what_has_no_rate_yet_is_told_without_one() -> None:
    """Each stage has its own clock."""
    assert _lines((0, "index", 0, 5), (9, "facts", 2, 5), (12, "index", 0, 5), (19, "facts", 3, 5)) == [
        "Indexing: 0 of 5",
        "Reading: 3 of 5, 0.1/s, 0:00:20 left",
    ]


def test_long_loading_says_once_what_can_be_used_already() -> None:
    """After ten seconds of it, whatever its stage is by then; other work says nothing."""
    file = StringIO()
    console, said = Console(file=file, width=20), "documents can be searched as soon as they are read: "
    times = iter([0.0, 0.0, 9.9, 10.0, 50.0])
    passed: list[str] = []
    report = told_what_can_be_used(
        lambda stage, _done, _total: passed.append(stage), console, lambda: next(times)
    )
    for stage, expected in (("check", 0), ("parse", 0), ("parse", 0), ("embed", 1), ("embed", 1)):
        report(stage, 1, 2)
        assert file.getvalue().count(said) == expected
    assert passed == ["check", "parse", "parse", "embed", "embed"]


def test_short_and_quiet_work_prints_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing with --json, however long the work takes."""
    assert not err.is_terminal
    with progress() as report:
        assert isinstance(report, LineReporter)
        report("embed", 0, 5)
        report("embed", 5, 5)
    monkeypatch.setattr("trivium.cli.progress.FIRST", -1.0)
    with progress(quiet=True) as report:
        report("embed", 1, 5)
    assert capsys.readouterr().err == ""
    with progress() as report:
        report("embed", 1, 5)
    assert capsys.readouterr().err == "Embedding: 1 of 5\n"
