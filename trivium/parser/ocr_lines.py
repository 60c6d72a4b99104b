"""Sorts the pieces of text in a picture in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_COLUMN_LINES = 4
_COLUMN_LETTERS = 20
"""Minimum number of lines, and minimum average length of lines in characters, on each side of a gap between text
columns. Table cells are shorter and are read row by row.
"""


@dataclass(frozen=True, slots=True)
class TextBox:
    """A piece of text and its place in pixels; ``y`` points downwards. ``score`` is the confidence, 0 to 1."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float = 1.0

    @property
    def height(self) -> float:
        return self.bottom - self.top


def lines_of(boxes: Sequence[TextBox]) -> list[str]:
    """Return the lines of a picture, column by column. Adjacent pieces form one line, separated by a space.

    >>> lines_of([TextBox("500", 90, 1, 99, 11), TextBox("Desk", 0, 0, 40, 10), TextBox("Lamp", 0, 20, 40, 30)])
    ['Desk 500', 'Lamp']
    """
    cut = _gap_between_columns(boxes)
    if cut is None:
        return _rows(boxes)
    above = [box for box in boxes if box.left < cut < box.right]  # headings across the columns
    top = min((box.top for box in boxes if not box.left < cut < box.right), default=0)
    head = [box for box in above if box.top <= top]
    rest = [box for box in boxes if box not in head]
    left = [box for box in rest if (box.left + box.right) / 2 <= cut]
    right = [box for box in rest if (box.left + box.right) / 2 > cut]
    return [*_rows(head), *lines_of(left), *lines_of(right)]


def _gap_between_columns(boxes: Sequence[TextBox]) -> float | None:
    """Return the middle of the widest vertical gap with running text on both sides."""
    if len(boxes) < 2 * _COLUMN_LINES:
        return None
    # Some lines may cross the gap: headings, which are the widest.
    width = max(box.right for box in boxes) - min(box.left for box in boxes)
    narrow = sorted((box for box in boxes if box.right - box.left < 0.6 * width), key=lambda box: box.left)
    best: tuple[float, float] | None = None
    reach = narrow[0].right if narrow else 0.0
    for number, box in enumerate(narrow):
        if box.left > reach:
            sides = narrow[:number], narrow[number:]
            if all(_is_running(side) for side in sides):
                best = max(best or (0.0, 0.0), (box.left - reach, (box.left + reach) / 2))
        reach = max(reach, box.right)
    across = len(boxes) - len(narrow)
    return None if best is None or across > len(narrow) / 4 else best[1]


def _is_running(side: Sequence[TextBox]) -> bool:
    return len(side) >= _COLUMN_LINES and sum(len(box.text) for box in side) >= _COLUMN_LETTERS * len(side)


def _rows(boxes: Sequence[TextBox]) -> list[str]:
    rows: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda box: (box.top + box.bottom) / 2):
        row = rows[-1] if rows else None
        if row is not None and _overlap(row[-1], box) > 0.5 * min(row[-1].height, box.height):
            row.append(box)
        else:
            rows.append([box])
    return [" ".join(box.text for box in sorted(row, key=lambda box: box.left)) for row in rows]


def _overlap(one: TextBox, other: TextBox) -> float:
    """Return the vertical overlap."""
    return min(one.bottom, other.bottom) - max(one.top, other.top)
