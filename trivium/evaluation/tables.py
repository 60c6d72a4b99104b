"""Tables of results: one form, for a terminal, Markdown, HTML and CSV. And how their numbers are written."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape
from rich import box
from rich.console import Console, ConsoleOptions
from rich.table import Table as RichTable
from rich.text import Text

BETTER, WORSE = "▲", "▼"
"""The marks of significant differences."""
_NARROWEST_KEY = 9
_GAP = 2  # a space of padding and one between columns


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, whether it is the best of its column, and the mark of a significant difference, if any."""

    text: str
    best: bool = False
    mark: str = ""


class Table:
    r"""A table of text. Its first ``keys`` columns name the rows, the others are numbers. Names may come from outside:
    they are never taken for markup.

    In a terminal whose lines are too short for all columns, the others follow in further tables, each with the names
    again. No cell is cut; long names, and columns wider than a line, are wrapped.

    >>> table = Table(["system", "hit@1"], [["a|b", Cell(".5", best=True, mark=BETTER)]])
    >>> print(table.to_markdown())
    | system | hit@1 |
    |---|---:|
    | a\|b | **.5**▲ |
    >>> table.to_csv()
    'system,hit@1\na|b,.5\n'
    """

    def __init__(
        self, heads: Sequence[str], rows: Iterable[Sequence[str | Cell]] = (), keys: int = 1, title: str = ""
    ) -> None:
        self.heads = list(heads)
        self.keys = keys
        self.title = title
        self.rows = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]

    def add_row(self, *cells: str | Cell) -> None:
        """Add a row, with a cell for each column."""
        self.rows.append([cell if isinstance(cell, Cell) else Cell(cell) for cell in cells])

    def to_markdown(self) -> str:
        """Return the table in Markdown, the best in bold."""

        def cell(one: Cell) -> str:
            text = plain(one.text)
            return f"{f'**{text}**' if one.best else text}{one.mark}"

        heads = [plain(head) for head in self.heads]
        return grid(heads, [list(map(cell, row)) for row in self.rows], self.keys)

    def to_html(self) -> Markup:
        """Return the table in HTML, with the classes ``best``, ``up`` and ``down``."""
        heads = Markup().join(
            Markup('<th scope="col"{}>{}</th>').format(
                Markup(' class="name"') if place == self.keys - 1 else "", head
            )
            for place, head in enumerate(self.heads)
        )
        rows = Markup("\n").join(
            Markup("<tr>{}</tr>").format(
                Markup().join(_html(cell, place == self.keys - 1) for place, cell in enumerate(row))
            )
            for row in self.rows
        )
        return Markup("<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>").format(
            heads, rows
        )

    def to_csv(self) -> str:
        """Return the texts of the table as comma-separated values."""
        text = io.StringIO()
        lines = [self.heads, *([cell.text for cell in row] for row in self.rows)]
        csv.writer(text, lineterminator="\n").writerows(lines)
        return text.getvalue()

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[RichTable]:
        columns = [_column(head, [row[place] for row in self.rows]) for place, head in enumerate(self.heads)]
        heads = [column[0] for column in columns]
        rows = [list(row) for row in zip(*(column[1:] for column in columns), strict=True)]
        widths = [
            max(line.cell_len for cell in column for line in cell.split(allow_blank=True) or [cell])
            for column in zip(heads, *rows, strict=True)
        ]
        room = options.max_width + 1  # nothing follows the last column
        keys = list(range(self.keys))
        others = list(range(self.keys, len(widths)))
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
            yield self._part(heads, rows, [*keys, *shown], name, self.title if first else "")
            first = False

    def _part(
        self,
        heads: Sequence[Text],
        rows: Sequence[Sequence[Text]],
        columns: Sequence[int],
        name: int,
        title: str,
    ) -> RichTable:
        table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        if title:
            table.title, table.title_justify, table.title_style = Text(title), "left", ""
        for column in columns:
            if column < self.keys - 1:
                table.add_column(heads[column], justify="right", no_wrap=True)
            elif column < self.keys:
                table.add_column(heads[column], overflow="fold", max_width=name)
            else:
                padded = any(row[column].mark for row in self.rows)
                table.add_column(heads[column], justify="left" if padded else "right", overflow="fold")
        for row in rows:
            table.add_row(*(row[column] for column in columns))
        return table


def _column(head: str, cells: Sequence[Cell]) -> list[Text]:
    """Return a head and its cells for the terminal. In a column with marks they are padded, so that marks stand behind
    the numbers, and these below each other.
    """
    texts = [Text(cell.text, style="bold" if cell.best else "") for cell in cells]
    if not any(cell.mark for cell in cells):
        return [Text(head), *texts]
    lines = head.split("\n")
    width = max(*map(len, lines), *(len(cell.text) + 1 for cell in cells))
    padded = Text("\n".join(line.rjust(width) for line in lines))
    marked = [
        Text.assemble(" " * (width - 1 - len(cell.text)), text, cell.mark)
        for cell, text in zip(cells, texts, strict=True)
    ]
    return [padded, *marked]


def _html(cell: Cell, name: bool) -> Markup:
    if name:
        return Markup('<th scope="row">{}</th>').format(cell.text)
    classes = [{BETTER: "up", WORSE: "down"}.get(cell.mark, ""), "best" if cell.best else ""]
    told = " ".join(filter(None, classes))
    shown = f"{cell.text} {cell.mark}" if cell.mark else cell.text
    return Markup("<td{}>{}</td>").format(Markup(' class="{}"').format(told) if told else "", escape(shown))


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Return a Markdown table whose first ``words`` columns are text and the others numbers. Texts are Markdown: pass
    names from outside through :func:`plain` first.
    """
    rule = "|" + "|".join(["---"] * words + ["---:"] * (len(head) - words)) + "|"
    return "\n".join([_line(head), rule, *(_line(row) for row in rows)])


def plain(text: str) -> str:
    """Escape untrusted text for Markdown, on one line.

    >>> plain("a|b *c*")
    'a\\\\|b \\\\*c\\\\*'
    """
    return re.sub(r"([\\`*_{}\[\]<>|#&~])", r"\\\1", " ".join(text.split()))


def share(value: float) -> str:
    """Format a number in [0, 1], or a difference of such numbers, with three digits and without the leading zero.

    >>> share(0.8125), share(1), share(-0.25)
    ('.812', '1.000', '-.250')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def chance(p: float) -> str:
    """Format a p-value."""
    return "< .001" if p < 0.001 else share(p)


def with_interval(value: str, low: float, high: float) -> str:
    """Format a difference with the bounds of its interval.

    >>> with_interval("+0.100", 0.0, 0.2)
    '+0.100 (+0.000 to +0.200)'
    """
    return f"{value} ({low:+.3f} to {high:+.3f})"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


SHOWN_RANKS = (1, 3, 5, 10, 20)
"""The ranks that are printed; the chart shows all."""
LATE_PRECISION = ("precision@10", "precision@20")
"""Printed beside the CMC: the precision of long lists, which the CMC does not show."""
_LEVELS = " ▁▂▃▄▅▆▇█"
"""Of the chart of a cumulative match characteristic (CMC): at k, the share of questions with a gold passage among the
first k.
"""


def chart(matches: Sequence[float]) -> str:
    """Return one character per rank, as high as the share there: empty only for 0, full only for 1.

    >>> chart([0, 0.01, 0.5, 0.99, 1])
    ' ▁▄▇█'
    """
    return "".join(_LEVELS[_level(value)] for value in matches)


def matches_table(
    matches: Mapping[str, Sequence[float]], means: Mapping[str, Mapping[str, Any]]
) -> Table | None:
    """Return the CMC of each system, and its precision at large ranks; None if no question was traced."""
    depth = max(map(len, matches.values()), default=0)
    if not depth:
        return None
    late = [measure.replace("precision", "P") for measure in LATE_PRECISION]
    table = Table(["CMC", *(f"@{rank}" for rank in SHOWN_RANKS), f"ranks 1 to {depth}", *late])
    for name, shares in matches.items():
        precision = [means[name].get(measure) for measure in LATE_PRECISION]
        table.add_row(
            name,
            *(share(shares[rank - 1]) for rank in SHOWN_RANKS),
            chart(shares),
            *("-" if value is None else share(value) for value in precision),
        )
    return table


def _level(value: float) -> int:
    last = len(_LEVELS) - 1
    if value <= 0:
        return 0
    return last if value >= 1 else min(last - 1, max(1, int(value * last)))
