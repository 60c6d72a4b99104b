"""Splits a block that is too long: between rows or items, else between sentences, else after semicolons (between the
cells of a row), else between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trivium.text.folding import SIGNS_IN_WORDS, SIGNS_OF_THAI
from trivium.text.normalise import count_tokens

MAX_TOKENS = 400
MAX_CHARACTERS = 8_000  # words without spaces between them count as one token, whatever their length

_LINE = re.compile(r"[^\n]+")
# A full stop after a single capital is an initial ("J. Smith"), one before a small letter an abbreviation.
_SENTENCE = re.compile(
    r"""\S.*?(?:(?:(?<![\s.(][A-Z])\.|[!?…])['"”’»)\]]*(?=\s+[^\sa-z]|$)|[。！？؟۔।॥]++['"”’»)\]」』）】》〉]*|$)""",
    re.DOTALL,
)
_CELL = re.compile(r"\S.*?(?:;(?=\s)|$)", re.DOTALL)
_CODE_BLOCK = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_COMMAND = re.compile(r"(?:[^\n]*\\\n)*[^\n]+")
_SHAPE = bytes(  # letters as "a", white space as " ", marks as "."; bytes beyond ASCII as letters
    ord(" ")
    if chr(b).isspace() and b < 128
    else ord("a")
    if chr(b).isalnum() or b == 95 or b >= 128
    else ord(".")
    for b in range(256)
)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(rf"[\w{SIGNS_IN_WORDS}]+[{SIGNS_OF_THAI}]*|[^\w\s]")


def split_points(text: str, *, code: bool = False) -> list[tuple[int, int]]:
    """Return the (start, end) character offsets of each piece of ``text``, in order. Every piece has at most 400 tokens
    and 8,000 characters.

    Pieces are filled up to the limit (a long and a short one, rather than two halves), so that most of a paragraph
    stays together. Code is split between its blocks and lines; a line that ends with a backslash goes on in the next.
    """
    if _fits(text):
        return [(0, len(text))]
    return list(_fill(_commands(text) if code else _atoms(text)))


def _fits(text: str) -> bool:
    if len(text) <= MAX_TOKENS:  # a token has at least one character
        return True
    if len(text) > MAX_CHARACTERS:
        return False
    return _max_tokens(text) <= MAX_TOKENS or count_tokens(text) <= MAX_TOKENS


def _max_tokens(text: str) -> int:
    """Return an upper bound of ``count_tokens``, exact for ASCII, at a tenth of its cost."""
    data = text.encode("utf-8", "replace")
    shape = data.translate(_SHAPE)
    # A token starts at a letter that does not follow another, or is a mark. A character beyond ASCII may be a
    # mark that also splits a word; it has at least one byte more than an ASCII character.
    others = len(data) - len(text)
    return shape.startswith(b"a") + shape.count(b".") + shape.count(b" a") + shape.count(b".a") + 2 * others


def _count(text: str) -> int:
    return _max_tokens(text) if text.isascii() else count_tokens(text)


def _atoms(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, tokens) of the smallest spans that are not split, each within the limits."""
    for line in _LINE.finditer(text):
        start, end = _trimmed(text, line.start(), line.end())
        if start == end:
            continue
        if _fits(text[start:end]):
            yield start, end, _count(text[start:end])
            continue
        for sentence in _SENTENCE.finditer(text, start, end):
            if _fits(sentence[0]):
                yield sentence.start(), sentence.end(), _count(sentence[0])
            else:
                yield from _cells(text, sentence.start(), sentence.end())


def _commands(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the blocks of code between empty lines, or the commands of those that are too long."""
    for block in _CODE_BLOCK.finditer(text):
        if _fits(block[0]):
            yield block.start(), block.end(), _count(block[0])
            continue
        for command in _COMMAND.finditer(text, block.start(), block.end()):
            if _fits(command[0]):
                yield command.start(), command.end(), _count(command[0])
            else:
                yield from _words(text, command.start(), command.end())


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    for cell in _CELL.finditer(text, start, end):
        if _fits(cell[0]):
            yield cell.start(), cell.end(), _count(cell[0])
        else:
            yield from _words(text, cell.start(), cell.end())


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    for word in _WORD.finditer(text, start, end):
        if _fits(word[0]):
            yield word.start(), word.end(), _count(word[0])
            continue
        for token in _TOKEN.finditer(text, word.start(), word.end()):
            for at in range(token.start(), token.end(), MAX_CHARACTERS):
                yield at, min(at + MAX_CHARACTERS, token.end()), 1


def _fill(atoms: Iterator[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    first = last = -1
    total = 0
    for start, end, tokens in atoms:
        if first >= 0 and (total + tokens > MAX_TOKENS or end - first > MAX_CHARACTERS):
            yield first, last
            first, total = -1, 0
        if first < 0:
            first = start
        last = end
        total += tokens
    if first >= 0:
        yield first, last


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
