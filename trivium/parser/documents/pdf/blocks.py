"""Groups lines into blocks: paragraphs by spacing and indentation, list items, tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from trivium.parser.documents.pdf.lines import BULLETS, Line
from trivium.parser.documents.pdf.placed_pictures import PlacedPicture
from trivium.parser.documents.pdf.tables import find_tables
from trivium.parser.tables import linearise

SIZE_TOLERANCE = 0.08
_INDENT = 0.8  # in font sizes
_MAX_FIRST_INDENT = 6.0
_SPACING = 1.3
"""Maximum distance of two lines of a paragraph, relative to the usual distance."""
_SHORT = 0.12
"""Minimum share of the width that is left free by the last line of a paragraph."""
BULLET = re.compile(rf"(?:[{BULLETS}]|[–—›-](?=\s))\s*")
_UNSURE = re.compile(r"([»*§]|o(?=\s[A-Z\d]))\s(?!\d+\s*[A-Z])(?=.)")
"""Characters that begin items, and also words or references: only behind a sentence or another item."""
NUMBERED = re.compile(r"(?:\(\s?(?:\d{1,2}|[a-z]|[ivx]{1,4})\s?\)|(?:\d{1,2}|[a-z])[.)])\s+\S")
_ENDED = re.compile(r"[.:;!?]['\"”’)\]]*$")
_UNFINISHED = re.compile(r"(?:^|\s)(?:and|of|the|to|for|in|at|by|from|or|with|an?)$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.:;!?]['\"”’)\]]*$")


class Kind(Enum):
    """The kind of a block before headings are detected."""

    TEXT = "text"
    ITEM = "item"
    TABLE = "table"
    PICTURE = "picture"


@dataclass(slots=True)
class Block:
    """A block of a page.

    - ``text``: running text, or the lines of a table.
    - ``places``: where in it other pages begin: (character, page).
    - ``base``, ``last_base``, ``x0``, ``x1``: baselines of the first and last line, and the edges; 0 if unknown.
    - ``flow_start``, ``flow_end``: whether it is the first or last of its column or page and may be continued.
    - ``hyphen``: whether it ends with a hyphen that is only due to the line break.
    - ``picture``, ``thumbnail``: place of a picture, and a small version of it.
    """

    kind: Kind
    text: str
    page: int
    size: float
    bold: bool
    italic: bool = False
    lines: int = 1
    base: float = 0.0
    x0: float = 0.0
    x1: float = 0.0
    last_base: float = 0.0
    flow_start: bool = False
    flow_end: bool = False
    hyphen: bool = False
    picture: PlacedPicture | None = None
    thumbnail: bytes = b""
    places: list[tuple[int, int]] = field(default_factory=list)


def blocks_of(lines: Sequence[Line], words: Words) -> list[Block]:
    """Return the blocks of a flow of lines on one page."""
    if not lines:
        return []
    blocks: list[Block] = []
    at = 0
    for found in find_tables(lines):
        _paragraphs(lines[at : found.first], words, blocks)
        text = linearise(found.table).text
        if text:
            first = lines[found.first]
            blocks.append(
                _placed(
                    Block(Kind.TABLE, text, first.page, first.size, bold=False, lines=0, base=first.base),
                    lines[found.first : found.last],
                )
            )
        at = found.last
    _paragraphs(lines[at:], words, blocks)
    if blocks:
        blocks[0].flow_start = True
        blocks[-1].flow_end = True
    return blocks


def _paragraphs(lines: Sequence[Line], words: Words, blocks: list[Block]) -> None:
    if not lines:
        return
    usual = _usual_distance(lines)
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    paragraph: list[Line] = []
    for line in lines:
        if paragraph and _begins(line, paragraph, usual, left, right):
            blocks.append(_block(paragraph, words))
            paragraph = []
        paragraph.append(line)
    blocks.append(_block(paragraph, words))


def _usual_distance(lines: Sequence[Line]) -> float:
    """Return the most frequent distance of two lines, in font sizes."""
    counts: Counter[float] = Counter()
    for above, line in pairwise(lines):
        ratio = (above.base - line.base) / max(line.size, 1.0)
        if 0.9 <= ratio <= 2.2:
            counts[round(ratio, 1)] += 1
    return counts.most_common(1)[0][0] if counts else 1.2


def _begins(line: Line, paragraph: Sequence[Line], usual: float, left: float, right: float) -> bool:
    """Whether a line begins a paragraph after the lines of the previous one."""
    last = paragraph[-1]
    size = max(last.size, 1.0)
    if abs(line.size - last.size) > SIZE_TOLERANCE * size:
        return True
    if last.base - line.base > _SPACING * usual * size + 0.5 or last.base <= line.base:
        return True
    text = line.text
    if _UNFINISHED.search(last.text) is not None and BULLET.match(text) is None:
        return False
    if line.bold != last.bold:
        return True
    if BULLET.match(text) is not None:
        return True
    if _UNSURE.match(text) is not None:
        return any(pattern.match(paragraph[0].text) for pattern in (BULLET, _UNSURE)) or (
            _ENDED.search(last.text) is not None
        )
    if NUMBERED.match(text) is not None and (_ENDED.search(last.text) or line.x0 <= paragraph[0].x0 + size):
        return NUMBERED.match(paragraph[0].text) is not None or _ENDED.search(last.text) is not None
    if abs((line.x0 + line.x1) - (last.x0 + last.x1)) < 0.6 * size and line.x0 - left > 2 * size:
        return False  # centred
    marked = BULLET.match(paragraph[0].text) or NUMBERED.match(paragraph[0].text)
    if line.x0 > last.x0 + _INDENT * size:
        return not (len(paragraph) == 1 and marked)
    if line.x0 < last.x0 - _INDENT * size and (
        len(paragraph) > 1 or last.x0 - line.x0 > _MAX_FIRST_INDENT * size
    ):
        return True
    outside = marked is not None and text[0].isupper() and line.x0 < paragraph[0].x0 + size
    ended = _ENDED.search(last.text) is not None or (outside and len(paragraph) == 1)
    return ended and last.x1 < right - _SHORT * (right - left)


def _block(lines: Sequence[Line], words: Words) -> Block:
    first = lines[0]
    text = first.text
    for above, line in pairwise(lines):
        text = words.joined(text, line.text, soft=above.cells[-1].hyphen)
    bullet = BULLET.match(text)
    if bullet is not None and bullet.end() < len(text):
        kind, text = Kind.ITEM, text[bullet.end() :]
    else:
        kind = Kind.TEXT
    italic = all(cell.italic for line in lines for cell in line.cells)
    block = Block(
        kind,
        text,
        first.page,
        first.size,
        bold=all(line.bold for line in lines),
        italic=italic,
        lines=len(lines),
        base=first.base,
        hyphen=lines[-1].cells[-1].hyphen,
    )
    return _placed(block, lines)


def _placed(block: Block, lines: Sequence[Line]) -> Block:
    block.x0, block.x1 = min(line.x0 for line in lines), max(line.x1 for line in lines)
    block.last_base = lines[-1].base
    return block


def goes_on(block: Block, following: Block) -> bool:
    """Whether a paragraph at the end of a column or page continues in the first block of the next one."""
    return (
        block.kind not in (Kind.TABLE, Kind.PICTURE)
        and following.kind is Kind.TEXT
        and block.flow_end
        and following.flow_start
        and abs(block.size - following.size) <= SIZE_TOLERANCE * block.size
        and block.bold == following.bold
        and len(block.text) > 40
        and _SENTENCE_END.search(block.text) is None
        and following.text[:1].islower()
    )


_WORDS = re.compile(r"\w+(?:-\w+)*")
_ENDS = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]-)([^\W\d_]+(?:-[^\W\d_]+)*)-$")
_BEGINS = re.compile(r"[^\W\d_]+")
_FIRST = frozenset({"self", "well"})
"""Prefixes of many compounds but of hardly any other words."""


class Words:
    """The words of a document, collected on first use."""

    def __init__(self, texts: Callable[[], Iterable[str]]) -> None:
        self._texts = texts
        self._known: frozenset[str] | None = None

    def joined(self, line: str, following: str, *, soft: bool = False) -> str:
        """Join a line and the next one. A hyphen between them is removed unless the word is written with it elsewhere
        in the document, contains another hyphen, or only its parts are known words. ``soft``: the file marks the hyphen
        as due to the line break.

        >>> words = Words(lambda: ["a cooperation of the well-known", "long term"])
        >>> words.joined("the coopera-", "tion of"), words.joined("a well-", "known one"), words.joined("long-", "term")
        ('the cooperation of', 'a well-known one', 'long-term')
        >>> words.joined("state-of-the-", "art"), words.joined("self-", "evident")
        ('state-of-the-art', 'self-evident')
        >>> words.joined("in 2020-", "2021"), words.joined("one", "two")
        ('in 2020-2021', 'one two')
        """
        if not line.endswith("-") or len(line) < 2 or line[-2].isspace():
            return f"{line} {following}"
        ends, begins = _ENDS.search(line), _BEGINS.match(following)
        if ends is None or begins is None or not begins[0][0].islower():
            return line + following
        before, after = ends[1].casefold(), begins[0].casefold()
        known = self._words()
        if f"{before}{after}" in known:
            return line[:-1] + following
        if f"{before}-{after}" in known:
            return line + following
        compound = "-" in before or before in _FIRST or (before in known and after in known)
        return line + following if compound and not soft else line[:-1] + following

    def _words(self) -> frozenset[str]:
        if self._known is None:
            known: set[str] = set()
            for text in self._texts():
                # The word at the end of a line is incomplete.
                known.update(
                    _WORDS.findall(text.casefold().rstrip("-") if not text.endswith("-") else _whole(text))
                )
            self._known = frozenset(known)
        return self._known


def _whole(line: str) -> str:
    """Return a line without the incomplete word at its end."""
    return line.casefold().rpartition(" ")[0]
