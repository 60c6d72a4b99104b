"""Aligns a text with a page that another program generated from the same source.

Both are compared as sequences of words. An exact occurrence is searched for first. Otherwise (tables and lists are
linearised differently, captions and reference marks differ), the most similar segment of the page is used: the word
range with the highest sum of log-likelihood ratios, "drawn from the text" against "drawn from the page", found as a
maximal-scoring segment (Karlin and Altschul, PNAS 1990).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")

# Expected share of the words in the right segment that are not from the text: few in prose, half of them in a table
# row, where every cell has its header. The second is tried if the coverage with the first is insufficient.
_NOISE = (0.1, 0.5)
_SUFFICIENT_COVERAGE = 0.75
# A page is assumed to be at least this many times longer than the text.
_MIN_LENGTH_RATIO = 4


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

    def characters(self, window: Window) -> tuple[int, int]:
        """Return the character range [start, end) of a non-empty window."""
        return self.starts[window.start], self.ends[window.end - 1]

    def between(self, start: int, end: int) -> Window:
        """Return the window of the words that start in a character range."""
        return Window(bisect_left(self.starts, start), bisect_left(self.starts, end), 1.0)

    def locate(self, text: Sequence[str], place: float, within: Window | None = None) -> Window | None:
        """Return the best window for the words of a text; None if nothing is similar.

        ``place``, in [0, 1], is the relative position in the page (or in ``within``) at which the text starts in the
        other source. Of several exact occurrences the nearest to it is returned.
        """
        start, end = (0, len(self.words)) if within is None else (within.start, within.end)
        starts = occurrences(text, self.words, start, end)
        if starts:
            expected = start + place * (end - start)
            best = min(starts, key=lambda position: (abs(position - expected), position))
            return Window(best, best + len(text), 1.0)
        best_window: Window | None = None
        for noise in _NOISE:
            window = self._best_segment(text, start, end, noise)
            if window is not None and (best_window is None or window.coverage > best_window.coverage):
                best_window = window
            if best_window is not None and best_window.coverage >= _SUFFICIENT_COVERAGE:
                break
        return best_window

    def _best_segment(self, text: Sequence[str], start: int, end: int, noise: float) -> Window | None:
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
        first, running = start, 0.0
        for position in range(start, end):
            running += score.get(self.words[position], foreign)
            if running < 0:
                first, running = position + 1, 0.0
            elif running > best_sum:
                best, best_sum = (first, position + 1), running
        if best is None:
            return None
        # Words of the text that are too common to score may be at either edge.
        first, last = best
        while first > start and self.words[first - 1] in wanted:
            first -= 1
        while last < end and self.words[last] in wanted:
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


def occurrences(wanted: Sequence[str], words: Sequence[str], start: int, end: int) -> list[int]:
    """Return the positions between ``start`` and ``end`` at which ``words`` contains the wanted sequence."""
    if not wanted:
        return []
    run = list(wanted)
    first, length = run[0], len(run)
    return [
        position
        for position in range(start, end - length + 1)
        if words[position] == first and list(words[position : position + length]) == run
    ]
