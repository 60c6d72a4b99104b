"""Splits text by length: at words, characters, sentences, or the largest boundaries that fit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from trivium.chunking.chunker import Span
from trivium.text.folding import SIGNS_IN_WORDS, SIGNS_OF_THAI
from trivium.text.normalise import sentences

MAX_WORD = 40
"""Maximum number of characters of a token; longer words (addresses, text without spaces) count as several."""

_TOKEN = re.compile(rf"[\w{SIGNS_IN_WORDS}]{{1,{MAX_WORD}}}[{SIGNS_OF_THAI}]*|[^\w\s]")
_WORD = re.compile(r"\S+")


def tokens(text: str) -> list[Span]:
    """Return the spans of words and punctuation marks, the units of sizes in tokens."""
    return [token.span() for token in _TOKEN.finditer(text)]


def count(text: str) -> int:
    """Count the tokens of a text."""
    return sum(1 for _ in _TOKEN.finditer(text))


def by_tokens(text: str, size: int, overlap: int) -> list[Span]:
    """Return windows of ``size`` tokens. Each begins with the last ``overlap`` tokens of the previous one; the last may
    be shorter.

    >>> text = "one two three four five"
    >>> [text[start:end] for start, end in by_tokens(text, 3, 1)]
    ['one two three', 'three four five']
    """
    found = tokens(text)
    windows = []
    for first in range(0, len(found), size - overlap):
        last = min(first + size, len(found)) - 1
        windows.append((found[first][0], found[last][1]))
        if last == len(found) - 1:
            break
    return windows


def by_characters(text: str, size: int, overlap: int) -> list[Span]:
    """Return windows of at most ``size`` characters that overlap by at most ``overlap``. They begin and end between
    words, except within a word longer than half a window.

    >>> text = "one two three four five"
    >>> [text[start:end] for start, end in by_characters(text, 14, 6)]
    ['one two three', 'three four', 'four five']
    """
    words = [piece for word in _WORD.finditer(text) for piece in _cut(word.start(), word.end(), size)]
    windows: list[Span] = []
    first = 0
    while first < len(words):
        start = words[first][0]
        last = first
        while last + 1 < len(words) and words[last + 1][1] - start <= size:
            last += 1
        end = words[last][1]
        windows.append((start, end))
        if last == len(words) - 1:
            break
        following = first + 1
        while following <= last and words[following][0] < end - overlap:
            following += 1
        first = following
    return windows


def _cut(start: int, end: int, size: int) -> Iterator[Span]:
    """Split a long word into pieces of almost half a window, so that one always fits after an overlap."""
    step = max(1, size // 2 - 1)
    for at in range(start, end, step):
        yield at, min(at + step, end)


def by_sentences(text: str, size: int) -> list[Span]:
    """Return groups of complete sentences with at most ``size`` tokens. A longer sentence is split between words.

    >>> text = "It is red. It has two moons. They are small."
    >>> [text[start:end] for start, end in by_sentences(text, 8)]
    ['It is red.', 'It has two moons.', 'They are small.']
    """
    return fill(text, sentences(text), size)


def fill(text: str, parts: Iterable[Span], size: int, breaks: Sequence[int] = ()) -> list[Span]:
    """Merge parts of a text while they have at most ``size`` tokens; longer ones are split between words. ``breaks``
    are numbers of parts that always begin a new piece.
    """
    pieces: list[Span] = []
    first = last = -1
    total = 0
    ends = frozenset(breaks)
    for number, (start, end) in enumerate(parts):
        length = count(text[start:end])
        if first >= 0 and (total + length > size or number in ends):
            pieces.append((first, last))
            first, total = -1, 0
        if length > size:
            pieces += [(start + a, start + b) for a, b in by_tokens(text[start:end], size, 0)]
            continue
        if first < 0:
            first = start
        last, total = end, total + length
    if first >= 0:
        pieces.append((first, last))
    return pieces


def recursively(text: str, size: int) -> list[Span]:
    """Return pieces of at most ``size`` tokens, split at the largest boundary available: blank lines, lines, sentences,
    clauses, words. Uses the library semchunk.

    >>> text = "One line.\\nAnother line, which is longer."
    >>> [text[start:end] for start, end in recursively(text, 7)]
    ['One line.', 'Another line, which is longer.']
    """
    from semchunk.semchunk import chunk  # imported when it is used: it takes tqdm with it

    _, offsets = cast(tuple[list[str], list[Span]], chunk(text, size, _length, memoize=False, offsets=True))
    return offsets


def _length(text: str) -> int:
    return max(count(text), math.ceil(len(text.strip()) / MAX_WORD))
