"""No cell of a table is cut, however narrow the terminal."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from trivium.evaluation.fitted_table import FittedTable


def printed(table: FittedTable, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_table_that_fits_is_one_table() -> None:
    table = FittedTable(["system", "hit@1", "hit@3"])
    table.add_row("vector", "0.500", "0.750")
    assert printed(table, 30) == ["system  hit@1  hit@3", "─────────────────────", "vector  0.500  0.750"]


def test_columns_without_room_follow_below_beside_the_names() -> None:
    table = FittedTable(["", "run", "hit@1", "hit@3", "passages"], keys=2)
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
    table = FittedTable(["n" * 5, *("h" * size for size in columns)])
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
