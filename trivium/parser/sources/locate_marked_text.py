"""Traces a text that was marked on another program's rendering of a document to the chunks of our page.

Both are compared as sequences of words. An exact occurrence is searched for first. Otherwise (tables and lists are
linearised differently, captions and reference marks differ), the most similar segment of the page is used: the word
range with the highest sum of log-likelihood ratios, "drawn from the text" against "drawn from the page", found as a
maximal-scoring segment (Karlin and Altschul, PNAS 1990). Every chunk that contains some of the aligned words holds part
of the text, because a long paragraph or table is split.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.types import MarkedText

_WORD = re.compile(r"[^\W_]+")

# Expected share of the words in the right segment that are not from the text: few in prose, half of them in a table
# row, where every cell has its header. The second is tried if the coverage with the first is insufficient.
_NOISE = (0.1, 0.5)
_SUFFICIENT_COVERAGE = 0.75
# A page is assumed to be at least this many times longer than the text.
_MIN_LENGTH_RATIO = 4

_MIN_COVERAGE = 0.6
"""Minimum share of a text's words that must be in one window of the page for the text to count as found."""
_MIN_OVERLAP = 0.05
"""A chunk holds a text if they overlap by more than this share of the shorter of the two."""


@dataclass(frozen=True, slots=True)
class Window:
    """The word range [start, end) of a page. ``coverage``, in [0, 1], is the share of the text's words that it
    contains, counting repetitions.
    """

    start: int
    end: int
    coverage: float


def words_of(text: str) -> list[str]:
    """Return the words of a text, lower-cased, without punctuation."""
    return [match.group().lower() for match in _WORD.finditer(text)]


class PageWords:
    """The words of a page's text and their character offsets."""

    def __init__(self, text: str) -> None:
        matches = list(_WORD.finditer(text))
        self.words = [match.group().lower() for match in matches]
        self.starts = [match.start() for match in matches]
        self.ends = [match.end() for match in matches]
        self._counts = Counter(self.words)

    def between(self, start: int, end: int) -> Window:
        """Return the window of the words that start in a character range."""
        return Window(bisect_left(self.starts, start), bisect_left(self.starts, end), 1.0)

    def locate(self, text: Sequence[str], place: float) -> Window | None:
        """Return the best window for the words of a text; None if nothing is similar.

        ``place``, in [0, 1], is the relative position in the page at which the text starts in the other source. Of
        several exact occurrences the nearest to it is returned.
        """
        starts = occurrences(text, self.words)
        if starts:
            expected = place * len(self.words)
            best = min(starts, key=lambda position: (abs(position - expected), position))
            return Window(best, best + len(text), 1.0)
        best_window: Window | None = None
        for noise in _NOISE:
            window = self._best_segment(text, noise)
            if window is not None and (best_window is None or window.coverage > best_window.coverage):
                best_window = window
            if best_window is not None and best_window.coverage >= _SUFFICIENT_COVERAGE:
                break
        return best_window

    def _best_segment(self, text: Sequence[str], noise: float) -> Window | None:
        wanted = Counter(text)
        # On a page hardly longer than the text, its words would not be distinctive.
        total = max(len(self.words), _MIN_LENGTH_RATIO * len(text))
        foreign = math.log(noise)
        score = {
            word: math.log(noise + (1 - noise) * (count / len(text)) / (self._counts[word] / total))
            for word, count in wanted.items()
            if word in self._counts
        }
        best, best_sum = None, -1.0
        first, running = 0, 0.0
        for position, word in enumerate(self.words):
            running += score.get(word, foreign)
            if running < 0:
                first, running = position + 1, 0.0
            elif running > best_sum:
                best, best_sum = (first, position + 1), running
        if best is None:
            return None
        # Words of the text that are too common to score may be at either edge.
        first, last = best
        while first and self.words[first - 1] in wanted:
            first -= 1
        while last < len(self.words) and self.words[last] in wanted:
            last += 1
        return self._shortest(text, first, last)

    def _shortest(self, text: Sequence[str], start: int, end: int) -> Window:
        """Return the shortest window within [start, end) that covers as much of the text as the whole range. Ties are
        broken in favour of windows that start with the text's first word, then of the first one.
        """
        wanted = Counter(text)
        need = Counter(self.words[start:end]) & wanted
        missing = need.total()
        coverage = missing / len(text)
        best = (end - start, True, start)
        left = start
        for right in range(start, end):
            missing -= need[self.words[right]] > 0
            need[self.words[right]] -= 1
            while missing == 0:
                best = min(best, (right + 1 - left, self.words[left] != text[0], left))
                need[self.words[left]] += 1
                missing += need[self.words[left]] > 0
                left += 1
        length, _, first = best
        return Window(first, first + length, coverage)


def occurrences(wanted: Sequence[str], words: Sequence[str]) -> list[int]:
    """Return the positions at which ``words`` contains the wanted sequence."""
    if not wanted:
        return []
    run = list(wanted)
    first, length = run[0], len(run)
    return [
        position
        for position in range(len(words) - length + 1)
        if words[position] == first and list(words[position : position + length]) == run
    ]


class MarkedPage:
    """The plain text of a page and its chunks, given by their character ranges in page order."""

    def __init__(self, text: str, chunks: Sequence[tuple[int, int]]) -> None:
        self._words = PageWords(text)
        self._chunks = [self._words.between(start, end) for start, end in chunks]

    def find(self, marked: MarkedText) -> tuple[int, ...] | str:
        """Return the numbers of the chunks that hold part of the text, or why there are none."""
        wanted = words_of(marked.text)
        if not wanted:
            return "the annotated tokens hold no words"
        window = self._locate(wanted, marked)
        coverage = 0.0 if window is None else window.coverage
        if window is None or coverage < _MIN_COVERAGE:
            return (
                f"{coverage:.0%} of its words are on the page in one window, {_MIN_COVERAGE:.0%} are needed"
            )
        return self._holders(window) or "its words are on the page but in no chunk"

    def _locate(self, wanted: Sequence[str], marked: MarkedText) -> Window | None:
        if marked.occurrence is not None:
            number, total = marked.occurrence
            there = occurrences(wanted, self._words.words)
            if len(there) == total:
                return Window(there[number], there[number] + len(wanted), 1.0)
        return self._words.locate(wanted, marked.place)

    def _holders(self, window: Window) -> tuple[int, ...]:
        """Return the numbers of the chunks that hold the window, without those that overlap it by only a word or two."""
        held = []
        for index, chunk in enumerate(self._chunks):
            shared = min(chunk.end, window.end) - max(chunk.start, window.start)
            if shared > _MIN_OVERLAP * min(chunk.end - chunk.start, window.end - window.start):
                held.append(index)
        return tuple(held)
