"""Formats tables and numbers in Markdown, and tables in HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

BETTER, WORSE = "▲", "▼"
"""The marks of significant differences."""


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Return a Markdown table whose first ``words`` columns are text and the others numbers. Pass names from outside
    through :func:`plain` first.

    >>> print(grid(["system", "hit@1"], [["vector", ".5"]]))
    | system | hit@1 |
    |---|---:|
    | vector | .5 |
    """
    rule = "|" + "|".join(["---"] * words + ["---:"] * (len(head) - words)) + "|"
    return "\n".join([_line(head), rule, *(_line(row) for row in rows)])


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table with escaped cells.

    >>> html_table(["system"], [["<b>"]])
    '<table><thead><tr><th>system</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>"


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


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
