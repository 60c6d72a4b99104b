"""Tables of a terminal whose columns go on below where a line is too short for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

_NARROWEST_KEY = 9
_GAP = 2  # a space of padding and one between columns


class FittedTable:
    """A table of text. Its first ``keys`` columns name the rows: where a line is too short for all columns, the others
    follow in further tables, each with the names again. No cell is cut; long names, and columns wider than a line, are
    wrapped.
    """

    def __init__(self, heads: Sequence[str | Text], keys: int = 1, title: str = "") -> None:
        self._heads = [_text(head) for head in heads]
        self._keys = keys
        self._title = title
        self._rows: list[list[Text]] = []

    def add_row(self, *cells: str | Text) -> None:
        """Add a row, with a cell for each column."""
        self._rows.append([_text(cell) for cell in cells])

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Table]:
        widths = [
            max(line.cell_len for cell in column for line in cell.split(allow_blank=True) or [cell])
            for column in zip(self._heads, *self._rows, strict=True)
        ]
        room = options.max_width + 1  # nothing follows the last column
        keys = list(range(self._keys))
        others = list(range(self._keys, len(widths)))
        # Long names leave at least half of a line to the numbers, and more where all columns then fit beside them.
        wanted = sum(widths[column] + _GAP for column in keys)
        needed = sum(widths[column] + _GAP for column in others)
        taken = min(wanted, max(room // 2, room - needed))
        name = max(_NARROWEST_KEY, taken - sum(widths[column] + _GAP for column in keys[:-1]) - _GAP)
        first = True
        while others or first:
            shown: list[int] = []
            left = room - taken
            while others and (not shown or widths[others[0]] + _GAP <= left):
                left -= widths[others[0]] + _GAP
                shown.append(others.pop(0))
            yield self._part([*keys, *shown], name, self._title if first else "")
            first = False

    def _part(self, columns: Sequence[int], name: int, title: str) -> Table:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        if title:
            table.title, table.title_justify, table.title_style = Text(title), "left", ""
        for column in columns:
            if column < self._keys - 1:
                table.add_column(self._heads[column], justify="right", no_wrap=True)
            elif column < self._keys:
                table.add_column(self._heads[column], overflow="fold", max_width=name)
            else:
                table.add_column(self._heads[column], justify="right", overflow="fold")
        for row in self._rows:
            table.add_row(*(row[column] for column in columns))
        return table


def _text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)
