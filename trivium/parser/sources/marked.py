"""Finds a text that was marked on another program's rendering of a document among the chunks of our page.

The words are aligned (:mod:`trivium.parser.sources.align`), so that a table, list or paragraph is found although it is
linearised differently, and of several places with the same words the marked one is chosen. Every chunk that contains
some of the aligned words holds part of the text, because a long paragraph or table is split.
"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.parser.sources.align import PageWords, Window, occurrences, words_of
from trivium.types import MarkedText

MIN_COVERAGE = 0.6
"""Minimum share of a text's words that must be in one window of the page for the text to count as found."""
IN_NO_CHUNK = "its words are on the page but in no chunk"
NO_WORDS = "the annotated tokens hold no words"

# A chunk holds a text if the overlap is more than this share of the shorter of the two.
_MIN_OVERLAP = 0.05


class MarkedPage:
    """The plain text of a page and its chunks, given by their character ranges in page order."""

    def __init__(self, text: str, chunks: Sequence[tuple[int, int]]) -> None:
        self.words = PageWords(text)
        self._chunks = [self.words.between(start, end) for start, end in chunks]

    def find(self, marked: MarkedText) -> tuple[int, ...] | str:
        """Return the numbers of the chunks that hold part of the text, or why there are none."""
        wanted = words_of(marked.text)
        if not wanted:
            return NO_WORDS
        window = self._locate(wanted, marked)
        if window is None or window.coverage < MIN_COVERAGE:
            return not_there(window)
        return self.holders(window) or IN_NO_CHUNK

    def _locate(self, wanted: Sequence[str], marked: MarkedText) -> Window | None:
        if marked.occurrence is not None:
            number, total = marked.occurrence
            there = occurrences(wanted, self.words.words, 0, len(self.words.words))
            if len(there) == total:
                return Window(there[number], there[number] + len(wanted), 1.0)
        return self.words.locate(wanted, marked.place)

    def holders(self, window: Window) -> tuple[int, ...]:
        """Return the numbers of the chunks that hold the window, without those that overlap it by only a word or two."""
        held = []
        for index, chunk in enumerate(self._chunks):
            shared = min(chunk.end, window.end) - max(chunk.start, window.start)
            if shared > _MIN_OVERLAP * min(chunk.end - chunk.start, window.end - window.start):
                held.append(index)
        return tuple(held)


def not_there(window: Window | None) -> str:
    """Return why a text is not on a page."""
    share = 0.0 if window is None else window.coverage
    return f"{share:.0%} of its words are on the page in one window, {MIN_COVERAGE:.0%} are needed"
