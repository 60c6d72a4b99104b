"""Mends words that a line end parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_WORDS = re.compile(r"\w+(?:-\w+)*")
_ENDS = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")
_BEGINS = re.compile(r"[^\W\d_]+")
_FIRST = frozenset({"self", "well"})
"""What hardly any word begins with, but many compounds."""


class Words:
    """The words of a document, read when the first line end asks for them."""

    def __init__(self, texts: Callable[[], Iterable[str]]) -> None:
        self._texts = texts
        self._known: frozenset[str] | None = None

    def joined(self, line: str, following: str, *, soft: bool = False) -> str:
        """A line and the next one as running text. A hyphen between them is left out unless the word is written with it
        elsewhere in the document, has another one, or is known only in its parts. ``soft``: the file says that the line
        end made it.

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
                # The word at the end of a line is only a part of one.
                known.update(
                    _WORDS.findall(text.casefold().rstrip("-") if not text.endswith("-") else _whole(text))
                )
            self._known = frozenset(known)
        return self._known


def _whole(line: str) -> str:
    """A line without the part of a word that it ends with."""
    return line.casefold().rpartition(" ")[0]
