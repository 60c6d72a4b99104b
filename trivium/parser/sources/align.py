"""Where a text stands on a page that was made from the same source by another program.

Both sides are read as words. An exact run of the words is looked for first. Failing that (tables and lists
are linearised differently, captions and reference marks come or go), the stretch of the page is taken that
is most like the text: the run of words with the highest sum of log-likelihood ratios, "drawn from the text"
against "drawn from the page", as maximal-scoring segments are found in sequences (Karlin and Altschul, PNAS
1990).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")

# Share of the words within the right stretch that are expected not to be of the text: few in prose, half of
# them in the row of a table, where every cell brings its header. The second is tried when the first finds
# too little.
_NOISE = (0.1, 0.5)
_ENOUGH = 0.75
# How many times longer than the text a page is taken to be, at least.
_LONGER = 4


@dataclass(frozen=True, slots=True)
class Window:
    """The words ``start`` to ``end`` (half-open) of a page; ``coverage`` is the share of the text's words,
    repeats counted, that are among them, in [0, 1]."""

    start: int
    end: int
    coverage: float


def words_of(text: str) -> list[str]:
    """Lower-cased words, punctuation dropped."""
    return [found.group().lower() for found in _WORD.finditer(text)]


class PageWords:
    """The words of a page's text and where each stands, in characters."""

    def __init__(self, text: str) -> None:
        found = list(_WORD.finditer(text))
        self.words = [word.group().lower() for word in found]
        self.starts = [word.start() for word in found]
        self.ends = [word.end() for word in found]
        self._counts = Counter(self.words)

    def characters(self, window: Window) -> tuple[int, int]:
        """Where a window that is not empty stands in the text."""
        return self.starts[window.start], self.ends[window.end - 1]

    def between(self, start: int, end: int) -> Window:
        """The words that begin within a range of characters."""
        return Window(bisect_left(self.starts, start), bisect_left(self.starts, end), 1.0)

    def locate(self, text: Sequence[str], place: float, within: Window | None = None) -> Window | None:
        """The best window for the words of a text, None when nothing there is like it.

        ``place`` in [0, 1] says how far into the page (or into ``within``) the text began in the other
        source; of several equal windows the nearest to it is taken.
        """
        start, end = (0, len(self.words)) if within is None else (within.start, within.end)
        starts = occurrences(text, self.words, start, end)
        if starts:
            expected = start + place * (end - start)
            best = min(starts, key=lambda position: (abs(position - expected), position))
            return Window(best, best + len(text), 1.0)
        found: Window | None = None
        for noise in _NOISE:
            window = self._most_alike(text, start, end, noise)
            if window is not None and (found is None or window.coverage > found.coverage):
                found = window
            if found is not None and found.coverage >= _ENOUGH:
                break
        return found

    def _most_alike(self, text: Sequence[str], start: int, end: int, noise: float) -> Window | None:
        wanted = Counter(text)
        # On a page that is hardly more than the text, its words would say nothing.
        total = max(len(self.words), _LONGER * len(text))
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
        # Words of the text too common to score may stand at either edge.
        first, last = best
        while first > start and self.words[first - 1] in wanted:
            first -= 1
        while last < end and self.words[last] in wanted:
            last += 1
        return self._shortest(text, first, last)

    def _shortest(self, text: Sequence[str], start: int, end: int) -> Window:
        """The shortest window between two words that covers as much of the text as all of them; of several
        the one that begins as the text does, then the first."""
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
    """The positions in ``words[start:end]`` where all the wanted words follow one another."""
    if not wanted:
        return []
    run = list(wanted)
    first, length = run[0], len(run)
    return [
        position
        for position in range(start, end - length + 1)
        if words[position] == first and list(words[position : position + length]) == run
    ]
