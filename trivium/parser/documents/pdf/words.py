"""Rejoins words that were split at line ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

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
