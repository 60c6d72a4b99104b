"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column is text, the others figures.

    >>> print(grid(["row", "hit@1"], [["a|b", ".5"]]))
    | row | hit@1 |
    |---|---:|
    | a\\|b | .5 |
    """
    lines = [_line(head), "|---" + "|---:" * (len(head) - 1) + "|", *(_line(row) for row in rows)]
    return "\n".join(lines)


def share(value: float) -> str:
    """A number in [0, 1] or a difference of such, to three digits, without the zero that says nothing.

    >>> share(0.8125), share(1), share(-0.25)
    ('.812', '1.000', '-.250')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def chance(p: float) -> str:
    """A p-value."""
    return "< .001" if p < 0.001 else share(p)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
