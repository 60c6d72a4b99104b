"""One table in a terminal, where no cell is cut, in Markdown, HTML and CSV."""

from __future__ import annotations

import csv
import io

from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from trivium.evaluation.tables import BETTER, WORSE, Cell, Table


def printed(table: Table, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


EVIL = "<script>alert(1)</script>|*x*"


def test_names_are_no_markup_and_what_is_best_or_differs_is_marked() -> None:
    """In every form; in a terminal the marks of a column stand below each other."""
    table = Table(
        ["rank", "run", "hit@1", "<p>"],
        [
            ["1", EVIL, Cell(".500", best=True, mark=BETTER), "[red]7"],
            ["2", "b", Cell(".400", mark=WORSE), ""],
        ],
        keys=2,
    )
    page = BeautifulSoup(table.to_html(), "html.parser")
    assert page.find("script") is None and [head.get_text() for head in page.select("tbody th")] == [
        EVIL,
        "b",
    ]
    cells = page.select("tbody td")
    assert [cell.get("class") for cell in cells] == [None, ["up", "best"], None, None, ["down"], None]
    assert [cell.get_text() for cell in cells[:3]] == ["1", ".500 ▲", "[red]7"]
    html = MarkdownIt("commonmark").enable("table").render(table.to_markdown())
    assert "<script" not in html and "<strong>.500</strong>▲" in html and "*x*" in html
    assert list(csv.reader(table.to_csv().splitlines()))[1] == ["1", EVIL, ".500", "[red]7"]
    table.add_row("3", "c", ".300", "")
    lines = printed(table, 80)
    assert "[red]7" in lines[2] and [line.index(".") for line in lines[2:]] == [lines[2].index(".")] * 3


def test_a_table_that_fits_is_one_table() -> None:
    table = Table(["system", "hit@1", "hit@3"])
    table.add_row("vector", "0.500", "0.750")
    assert printed(table, 30) == ["system  hit@1  hit@3", "─────────────────────", "vector  0.500  0.750"]


def test_columns_without_room_follow_below_beside_the_names() -> None:
    table = Table(["", "run", "hit@1", "hit@3", "passages"], keys=2)
    table.add_row("1", "vector", "0.500", "0.750", "4.2")
    lines = printed(table, 22)
    assert [line.split() for line in lines if line.strip("─")] == [
        ["run", "hit@1"],
        ["1", "vector", "0.500"],
        ["run", "hit@3"],
        ["1", "vector", "0.750"],
        ["run", "passages"],
        ["1", "vector", "4.2"],
    ]


@given(
    st.integers(12, 100),
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.lists(st.integers(1, 60), min_size=1, max_size=3),
)
def test_every_character_of_every_cell_is_printed_within_the_width(
    width: int, columns: list[int], names: list[int]
) -> None:
    table = Table(["n" * 5, *("h" * size for size in columns)])
    for size in names:
        table.add_row("x" * size, *("v" * each for each in columns))
    lines = printed(table, width)
    text = "".join(lines)
    parts = text.count("n") // 5
    assert all(len(line) <= width for line in lines)
    assert text.count("h") == sum(columns)
    assert text.count("v") == sum(columns) * len(names)
    assert text.count("x") == sum(names) * parts
    assert "…" not in text
