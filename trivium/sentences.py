"""Where sentences begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(r"[^\n]+")
# Citation marks behind the full stop belong to the sentence before them.
_MARKS = r"""['"”’»)]*(?:\s*\[\d{1,3}\])*"""
_END = re.compile(rf"[.!?…]+{_MARKS}(?=\s+(?:[^\sa-z(]|\([^a-z])|\s*$)|[。！？]+{_MARKS}")
# What a full stop does not end: titles, other abbreviations before a capital or a number, initials ("J. Smith", "U.S.").
_ABBREVIATED = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|Lt|Col|Gen|Gov|Sen|Rep|Rev|Hon|Mt|Ft|No|Nos|Fig|Vol|vol|pp|p|ca|c|cf|vs|v"
    r"|approx|est|b|d|r|fl|e\.g|i\.e)|(?<![^\W\d_])[A-HJ-Z])\.$"
)
_ITEM = re.compile(r"\W*\d{1,3}\.")


def sentences(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, in order, without the white space between them. A line's end ends a sentence.

    >>> text = "It was found by J. Smith in 1877. [1] So they say.\\nMass: 5 kg"
    >>> [text[start:end] for start, end in sentences(text)]
    ['It was found by J. Smith in 1877. [1]', 'So they say.', 'Mass: 5 kg']
    """
    return [span for line in _LINE.finditer(text) for span in _of_line(text, line.start(), line.end())]


def _of_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for stop in _END.finditer(text, start, end):
        # Inside a line, an abbreviation is only the end of a word, and a number the beginning of a list's item.
        rest = text[stop.end() : end].strip()
        if rest and stop[0] == "." and _ABBREVIATED.search(text, max(begin, stop.end() - 12), stop.end()):
            continue
        if rest and _ITEM.fullmatch(text, begin, stop.end()):
            continue
        yield from _trimmed(text, begin, stop.end())
        begin = stop.end()
    yield from _trimmed(text, begin, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
