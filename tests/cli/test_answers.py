"""How rows of tables are shown at a terminal of some width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from trivium.answering.answer import WITHOUT_MODEL
from trivium.cli.ask import print_answer, rows_as_table
from trivium.types import Answer, AnswerPart

ROWS = [
    AnswerPart(1, "row", 0, 9, (("Boat", "Sarcelle"), ("Berth", "A4"), ("Next survey", "November 2026"))),
    AnswerPart(1, "row", 10, 19, (("Boat", "Foulque"), ("Berth", "B2"), ("Hull", "fibreglass [red]"))),
]


def shown(rows: list[AnswerPart], width: int) -> str:
    """The table, with bold text in asterisks."""
    written = io.StringIO()
    console = Console(file=written, width=width, force_terminal=True, color_system="standard")
    console.print(rows_as_table(rows, "When is the next survey of the Sarcelle?", width))
    text = written.getvalue().replace("\x1b[1m", "*").replace("\x1b[0m", "").replace("\x1b[2m", "")
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_rows_have_columns_where_they_fit() -> None:
    assert shown(ROWS, 60).splitlines() == [
        "Boat      Berth  Next survey    Hull",
        "Sarcelle  A4     November 2026",
        "Foulque   B2                    fibreglass [red]",
    ]


@pytest.mark.parametrize("width", [30, 40])
def test_else_each_is_shown_below_its_name(width: int) -> None:
    """With a line for each cell that says something; the one that was asked for stands out, too."""
    assert shown(ROWS, width).splitlines() == [
        "Boat         *Sarcelle", "Berth        A4", "Next survey  *November 2026", "",
        "Boat         *Foulque", "Berth        B2", "Hull         fibreglass [red]",
    ]  # fmt: skip
    assert shown(ROWS[:1], 100).splitlines()[0] == "Boat         *Sarcelle"


def test_why_what_was_streamed_is_left_out_stands_before_what_stands_instead(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Between the two, and once."""
    warning = f"{WITHOUT_MODEL} began to repeat itself"
    answer = Answer("Fee?", "Fee?", "It is 12.", "answered", (), (), (), warnings=(warning,))
    print_answer(answer, "store", "It is 24.")
    printed = capsys.readouterr()
    assert printed.out.split() == ["It", "is", "12."] and printed.err == f"warning: {warning}\n"
