"""Text under construction, with normalised white space and the positions of its links.

Markup separates words in many ways (a space, a line break, the edge of a table cell). A text run keeps only the
strongest separator requested since the last word, and writes it when another word follows: no text starts or ends
with white space, and no two separators follow one another.
"""

from __future__ import annotations

import re

SPACE = " "
COMMA = ", "
COLON = ": "
LINE = "\n"
BREAK = "\v "
"""A line break within a paragraph: a space, but a new line before the mark of an item."""

MAX_INDENT = 8  # levels; deeper lists are not indented further, because malicious nesting would make the text quadratic

# Control and invisible formatting characters, except joiners (U+200C, U+200D), which several scripts need.
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_ZERO_WIDTH = "\xad\u200b\u200e\u200f\u2060\ufeff"
_BEFORE_LINE = re.compile("(?<![ \t])[ \t]+\n")  # matches at the first blank only, to avoid quadratic time
_CLOSED = frozenset(",;:.!?(–—-/·•|=")  # no comma is added after these
_ITEM_MARKS = frozenset("•◦▪▫●○■□·‣⁃➢➤►▶▸✓✔–—-*")
_CONTINUES = frozenset("(,;:.)/–—·•|=")  # ... nor before these


class Address(str):
    """The target of a link that is an address rather than a title, such as ``../setup.md#linux``."""

    __slots__ = ()


def indented_line(level: int) -> str:
    """Return the separator that starts a new line, indented by two spaces per ``level`` (0 is flush left)."""
    return LINE + "  " * min(level, MAX_INDENT)


def _normalised(text: str) -> str:
    """Return the words of a text, separated by single spaces, without invisible characters."""
    clean = SPACE.join(text.split())
    return clean if clean.isprintable() else SPACE.join(_INVISIBLE.sub("", clean).split())


class TextRun:
    """Text and links collected from inline markup; offsets count characters from the start of the run."""

    __slots__ = ("item", "label", "length", "links", "parts", "pending")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.pending = ""
        self.label = ""  # the number of a list item, written before its first word
        self.item = -1  # where the text after the last label starts
        self.links: list[tuple[str, int, int]] = []  # target, start, end

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def separate(self, separator: str) -> None:
        """Request a separator before the next word. The stronger of two wins, and the later of two line breaks."""
        # By length: none < space < break, comma, colon. A line break is the strongest.
        if separator[0] == LINE or (self.pending[:1] != LINE and len(separator) > len(self.pending)):
            self.pending = separator

    def add(self, text: str) -> None:
        """Add the content of a text node. White space in it counts as one space."""
        if text.isspace():
            self.pending = self.pending or SPACE
            return
        # White space other than the space is unprintable. Most text is already normalised: this is the fast path.
        if text.isprintable() and "  " not in text:
            clean = text.strip()
        else:
            clean = _normalised(text)
            text = text.strip(_ZERO_WIDTH)  # it may stand at the outer side of a space
        if not clean:
            self.pending = self.pending or SPACE[: len(text)]
            return
        if self.label:
            self.write_label()
        if self.length:
            if self.pending and self.pending != SPACE:
                self._write_pending(clean[0])
            elif self.pending or text[0].isspace():
                clean = SPACE + clean
        self.pending = SPACE if text[-1].isspace() else ""
        self.parts.append(clean)
        self.length += len(clean)

    def write_label(self) -> None:
        """Write the number of a list item, if one is waiting for text."""
        if not self.label:
            return
        label, self.label = self.label, ""
        if self.length and self.pending:
            self._write_pending(label[0])
        self.parts.append(label)
        self.length += len(label)
        self.item = self.length + 1
        self.pending = SPACE

    def _write_pending(self, following: str) -> None:
        separator = self.pending
        if separator == BREAK:
            separator = LINE if following in _ITEM_MARKS else SPACE
        last = self.parts[-1][-1]
        if (separator == COMMA and (following in _CONTINUES or last in _CLOSED)) or (
            separator == COLON and (following == ":" or last == ":")
        ):
            separator = SPACE
        self.parts.append(separator)
        self.length += len(separator)

    def append(self, other: TextRun) -> None:
        """Add a finished run unchanged, with its links shifted; only its links if it has no text."""
        if not other.length:
            self.links.extend((target, self.length, self.length) for target, _, _ in other.links)
            return
        self.write_label()
        if self.length and self.pending:
            self._write_pending(other.parts[0][0])
        self.extend("", "", other)

    def extend(self, separator: str, label: str, other: TextRun) -> None:
        """Add a label and a non-empty run unchanged, after ``separator`` unless this run is empty."""
        lead = separator + label if self.length else label
        if lead:
            self.parts.append(lead)
            self.length += len(lead)
        if other.links:
            at = self.length
            self.links.extend([(target, at + start, at + end) for target, start, end in other.links])
        self.parts.extend(other.parts)
        self.length += other.length
        self.pending = ""

    def mark(self) -> tuple[int, int]:
        """Return the current position, for :meth:`link`."""
        return len(self.parts), self.length

    def link(self, target: str, mark: tuple[int, int]) -> None:
        """Record the text added since ``mark`` as the visible text of a link (empty if nothing was added), without the
        separator before its first word.
        """
        index, start = mark
        if start < self.item < self.length:
            start = self.item
        elif start and index < len(self.parts):
            first = self.parts[index]
            start += len(first) - (0 if first in (COMMA, COLON) else len(first.lstrip()))
        self.links.append((target, start, self.length))

    def before(self, index: int, length: int = 32) -> str:
        """Return the last characters before a part."""
        found = ""
        while index and len(found) < length:
            index -= 1
            found = self.parts[index] + found
        return found[-length:]

    def replace(self, mark: tuple[int, int], text: str, moved: int = 0) -> None:
        """Replace what was added since ``mark``; links in it move by ``moved`` characters."""
        index, start = mark
        self.parts[index:] = [text]
        self.length = end = start + len(text)
        place = len(self.links)
        while place and self.links[place - 1][2] > start:
            place -= 1
            target, first, last = self.links[place]
            self.links[place] = target, min(max(first + moved, start), end), min(last + moved, end)


class Verbatim(TextRun):
    """Preformatted text, whose line breaks and indentation are content; tabs become spaces."""

    __slots__ = ()

    def add(self, text: str) -> None:
        lines = (
            text.replace("\r\n", LINE).replace("\r", LINE).expandtabs(4).replace("\xa0", SPACE).split(LINE)
        )
        clean = _BEFORE_LINE.sub(LINE, LINE.join(_INVISIBLE.sub("", line) for line in lines))
        if not self.length:
            clean = clean.lstrip(LINE)  # the indentation of the first line is content, too
        if clean:
            if self.pending[:1] == LINE and self.length and not self.parts[-1].endswith(LINE):
                clean = LINE + clean
            self.pending = ""
            self.parts.append(clean)
            self.length += len(clean)


class PictureText(Verbatim):
    """The text of a picture, with its ``thumbnail`` (empty if there is none)."""

    __slots__ = ("thumbnail",)

    def __init__(self, thumbnail: bytes = b"") -> None:
        super().__init__()
        self.thumbnail = thumbnail
