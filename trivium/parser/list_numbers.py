"""The numbers of ordered lists."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
MAX_ROMAN = 4_000
_STYLE = re.compile(
    r"list-style(?:-type)?\s{0,9}:[^;]{0,80}?\b(none|decimal|(?:lower|upper)-(?:alpha|latin|roman)|disc|circle|square)"
)
_TYPES = {
    "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A", "lower-roman": "i",
    "upper-roman": "I", "none": "", "disc": "", "circle": "", "square": "", "decimal": "1",
}  # fmt: skip
_UNNUMBERED = frozenset(("footnotes-list", "plainlist", "list-unstyled", "unstyled", "breadcrumb"))
_MAX_NUMBER = 1_000_000


def roman(number: int) -> str:
    """Return a number from 1 to below :data:`MAX_ROMAN` as a small Roman numeral.

    >>> roman(14)
    'xiv'
    """
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text


def numeral(number: int, kind: str = "1") -> str:
    """Return a number as a list of type ``1``, ``a``, ``A``, ``i`` or ``I`` shows it.

    >>> numeral(3), numeral(28, "a"), numeral(14, "I"), numeral(0, "i")
    ('3', 'ab', 'XIV', '0')
    """
    text = ""
    if kind in "aA" and number > 0:
        while number:
            number, letter = divmod(number - 1, 26)
            text = chr(ord("a") + letter) + text
    elif kind in "iI" and 0 < number < MAX_ROMAN:
        text = roman(number)
    else:
        return str(number)
    return text.upper() if kind.isupper() else text


class ListNumbers:
    """Counts the items of an ``ol``."""

    def __init__(self, first: int, step: int, kind: str) -> None:
        """``kind`` is the type of the list; empty if it shows no numbers."""
        self._next, self._step, self._kind = first, step, kind

    @classmethod
    def of(cls, node: LexborNode) -> ListNumbers:
        attributes = node.attributes
        step = -1 if "reversed" in attributes else 1
        first = _integer(attributes.get("start"))
        if first is None:
            first = 1 if step > 0 else sum(child.tag == "li" for child in node.iter())
        style = _STYLE.search((attributes.get("style") or "")[:400])
        kind = _TYPES[style[1]] if style is not None else attributes.get("type") or "1"
        names = (attributes.get("class") or "").split()
        return cls(first, step, "" if not _UNNUMBERED.isdisjoint(names) else kind if kind in "1aAiI" else "1")

    def next(self, item: LexborNode) -> str:
        """Return the number of the next item with its full stop; empty if none is shown."""
        attributes = item.attributes
        stated = _integer(attributes.get("value")) if attributes else None
        number = self._next if stated is None else stated
        self._next = number + self._step
        kind = attributes.get("type") or self._kind if attributes else self._kind
        return f"{numeral(number, kind if kind in '1aAiI' else '1')}." if self._kind else ""


def _integer(value: str | None) -> int | None:
    try:
        number = int((value or "")[:9])
    except ValueError:
        return None
    return number if abs(number) <= _MAX_NUMBER else None
