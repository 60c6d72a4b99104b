"""Detects where a generated text begins to repeat itself. Small models that start to repeat never stop: generation is
ended there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from trivium.text.normalise import sentences

MIN_SENTENCE = 4
"""Sentences with fewer words may legitimately occur twice in an answer."""
_LAST_SENTENCES = 3
"""Number of last sentences examined each time, which covers what one piece may add."""
_LONG_END, _END_SHARE = 10, 0.8
"""A sentence repeats an earlier one if both end in the same words: at least this many, and this share of the
sentence.
"""
TAIL_CHARACTERS = 4_000
"""How far back phrases and lists are searched for, in characters."""
LONGEST_PHRASE = 40
"""Maximum length of a phrase in words."""
_PHRASE_TIMES, _PHRASE_WORDS = 3, 8
"""A phrase counts as repeated after this many consecutive occurrences with this many words in total: "very, very,
very" does not.
"""
_LONG_PHRASE = 12
"""Phrases of this many words count as repeated after two consecutive occurrences."""
_LIST_TIMES = 3
"""Required consecutive occurrences of one or two short lines; longer lists count as repeated after two."""
_LIST_ITEMS, _LIST_SHARE = 12, 3
"""A list of at least this many names is a repetition if at most one in this many is new."""
_EMPTY_ITEMS = 3
"""This many consecutive list numbers without any text are no list."""
_COUNTED = 20
"""Counting is a repetition from this many consecutive numbers on."""

_WORD = re.compile(r"[^\W_]+")
_MARK = re.compile(r"\[\d+\]")
_BULLET = re.compile(r"(?:[-*•–]|\(?\d{1,3}[.):])\s+")
_SEPARATOR = re.compile(r"[,;]|\b(?:and|or)\b")
_EMPTY = re.compile(rf"(?:(?<!\S)(?:\(?\d{{1,3}}[.):]|[-*•–](?=\s*\n))(?:\s*\[\d+\])*\s+){{{_EMPTY_ITEMS},}}")
_NUMBER = re.compile(r"(?<![\w.\[])\d{1,6}(?![\w\]])")
_BETWEEN_NUMBERS = re.compile(r"[\s,.;:()*•–-]{1,6}")
_ENDS = re.compile(r"[.!?…。！？\n:]\s")
_EACH_TIME, _GROWTH = 2_000, 16
"""Longer texts are examined again when they have grown by this fraction of what is beyond these characters, so that the
work is proportional to the text.
"""


class Repetition:
    """Looks for the beginning of a repetition (:func:`repeated_from`) in a text that grows."""

    def __init__(self) -> None:
        self._next = 0

    def start(self, text: str) -> int | None:
        """Return where the text repeats itself, or None."""
        if len(text) < self._next:
            return None
        self._next = len(text) + max(0, len(text) - _EACH_TIME) // _GROWTH
        return repeated_from(text)


def repeated_from(text: str) -> int | None:
    """Return where a text repeats itself, or None: an earlier sentence or line, a consecutive phrase without a full
    stop, a list that starts over, cycling names, list numbers without text, or counting.

    Citations and list numbers are ignored.

    >>> text = "Mars has two moons: the moon of Mars, the moon of Mars, the moon of Mars, the"
    >>> text[: repeated_from(text)]
    'Mars has two moons: the moon of Mars, '
    """
    found = [_sentence(text), _lines(text), _phrase(text), _names(text), _empty_items(text), _counting(text)]
    return min((start for start in found if start is not None), default=None)


def _said(text: str) -> list[str]:
    """Return the words of a text, without line numbering and citations."""
    return _WORD.findall(_MARK.sub("", _BULLET.sub("", text, count=1)).lower())


def _sentence(text: str) -> int | None:
    """Return the start of the first of the last sentences that repeats an earlier one. White space may arrive only
    with the next word, so the last complete sentence need not be the last one.
    """
    spans = sentences(text)
    whole = len(spans) if _ENDS.match(f"{text.rstrip()[-1:]}\n") else len(spans) - 1
    said = [_said(text[slice(*span)]) for span in spans[:whole]]
    for place in range(max(1, whole - _LAST_SENTENCES), whole):
        if any(_says_again(said[place], other) for other in said[:place]):
            return spans[place][0]
    return None


def _says_again(sentence: Sequence[str], other: Sequence[str]) -> bool:
    """Whether all of a sentence, or all but a few words at the beginning of a long one, occurred in another one."""
    if len(sentence) < MIN_SENTENCE or sentence == other:
        return len(sentence) >= MIN_SENTENCE
    same = 0
    for word, word_before in zip(reversed(sentence), reversed(other), strict=False):
        if word != word_before:
            break
        same += 1
    return same >= _LONG_END and same >= _END_SHARE * len(sentence)


def _lines(text: str) -> int | None:
    """Find consecutive repetitions of the last lines of a list."""
    tail = max(0, len(text) - TAIL_CHARACTERS)
    begin = text.rfind("\n", 0, tail) + 1
    starts = [begin, *(begin + found.end() for found in re.finditer(r"\n+", text[begin:]))]
    spans = [(start, end) for start, end in pairwise([*starts, len(text)]) if text[start:end].strip()]
    if spans and not text.endswith("\n"):
        spans.pop()  # still being written
    said = [" ".join(_said(text[slice(*span)])) for span in spans]
    for size in range(1, len(said) // 2 + 1):
        times = _LIST_TIMES if size < _LIST_TIMES else 2
        if size * times <= len(said) and any(said[-size:]) and _in_a_row(said, size, times):
            return spans[_second(said, size)][0]
    return None


def _phrase(text: str) -> int | None:
    """Find consecutive repetitions of the words at the end."""
    tail = max(0, len(text) - TAIL_CHARACTERS)
    found = [word for word in _WORD.finditer(text, tail) if not _is_mark(text, word)]
    said = [word[0].lower() for word in found]
    for size in range(1, min(LONGEST_PHRASE, len(said) // 2) + 1):
        times = 2 if size >= _LONG_PHRASE else max(_PHRASE_TIMES, -(-_PHRASE_WORDS // size))
        if size * times <= len(said) and _in_a_row(said, size, times):
            place = _second(said, size)
            start, last = found[place].start(), found[min(place + size, len(found)) - 1].start()
            # Do not split a sentence.
            return next((begin for begin, _ in sentences(text) if start <= begin <= last), start)
    return None


def _is_mark(text: str, word: re.Match[str]) -> bool:
    return (
        word[0].isdecimal() and text[word.start() - 1 : word.start()] == "[" and text[word.end() :][:1] == "]"
    )


def _names(text: str) -> int | None:
    """Return the start of the first name of a list that occurred in it before, if most of them did."""
    begin = max((found.end() for found in _ENDS.finditer(text)), default=0)
    items: list[tuple[int, str]] = []
    start = begin
    for separator in _SEPARATOR.finditer(text, begin):
        item = text[start : separator.start()]
        items.append((separator.start() - len(item.lstrip()), item.strip().lower()))
        start = separator.end()
    items = [item for item in items if item[1]]
    seen: set[str] = set()
    again: int | None = None
    for place, name in items:
        if name in seen and again is None:
            again = place
        seen.add(name)
    return again if len(items) >= _LIST_ITEMS and len(seen) * _LIST_SHARE <= len(items) else None


def _empty_items(text: str) -> int | None:
    """Return the start of the first consecutive list numbers or bullets without text ("1. 2. 3. ")."""
    found = _EMPTY.search(text, max(0, len(text) - TAIL_CHARACTERS))
    return None if found is None else found.start()


def _counting(text: str) -> int | None:
    """Return where a text begins to count: many consecutive numbers with nothing in between, each equal to the one
    before it or one more.
    """
    start = count = 0
    before: re.Match[str] | None = None
    for number in _NUMBER.finditer(text, max(0, len(text) - TAIL_CHARACTERS)):
        counts = (
            before is not None
            and int(number[0]) - int(before[0]) in (0, 1)
            and _BETWEEN_NUMBERS.fullmatch(text, before.end(), number.start()) is not None
        )
        start, count = (start, count + 1) if counts else (number.start(), 1)
        if count == _COUNTED:
            return start
        before = number
    return None


def _in_a_row(said: Sequence[str], size: int, times: int) -> bool:
    """Whether the last ``size`` elements occur ``times`` times in a row at the end."""
    if said[-1] != said[-1 - size]:
        return False
    last = said[-size:]
    return all(said[len(said) - size * (n + 1) : len(said) - size * n] == last for n in range(1, times))


def _second(said: Sequence[str], size: int) -> int:
    """Return the start of the second occurrence of the repeated sequence of length ``size`` at the end. The
    repetition may have started in the middle of the sequence.
    """
    first = len(said) - size
    while first > 0 and said[first - 1] == said[first - 1 + size]:
        first -= 1
    return first + size
