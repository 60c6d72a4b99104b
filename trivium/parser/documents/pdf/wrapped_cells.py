"""Joins the lines of a row of a table whose cells go on on the next line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trivium.parser.documents.pdf.lines import Cell, Line

_WITHIN = 0.8
"""Maximum distance of two lines of a row, as a share of that of two rows."""


def whole_rows(
    lines: Sequence[Line], rows: Sequence[list[Cell]], first: int, end: int
) -> tuple[list[list[Cell]], int]:
    """Return the rows of a table with the lines below that their cells go on in, which are nearer to the one above than
    full rows are, and the end of the last one.
    """
    most = max(len(row) for row in rows[first:end])
    apart = [lines[at - 1].base - lines[at].base for at in range(first + 1, end) if len(rows[at]) == most]
    whole = [rows[first]]
    for at in range(first + 1, len(lines)):
        near = lines[at - 1].base - lines[at].base <= _WITHIN * min(apart, default=0.0)
        longer = _longer(whole[-1], rows[at]) if near else []
        if longer:
            whole[-1] = longer
        elif at < end:
            whole.append(rows[at])
        else:
            return whole, at
    return whole, len(lines)


def _longer(row: Sequence[Cell], below: Sequence[Cell]) -> list[Cell]:
    """Return a row whose cells go on in those of the line ``below``, which begin where they do; empty if one does not."""
    longer = list(row)
    for cell in below:
        over = [at for at, one in enumerate(row) if one.x0 < cell.x1 and cell.x0 < one.x1]
        if len(over) != 1 or len(below) >= len(row) or abs(row[over[0]].x0 - cell.x0) > cell.size / 2:
            return []
        one = longer[over[0]]
        text = one.text[:-1] + cell.text if one.hyphen else f"{one.text} {cell.text}"
        longer[over[0]] = replace(one, text=text, x1=max(one.x1, cell.x1), hyphen=cell.hyphen)
    return longer
