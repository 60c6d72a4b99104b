"""Detects that a generated text repeats itself: small models that start to repeat never stop."""

from __future__ import annotations

import re

from trivium.text.normalise import sentences

MIN_SENTENCE = 4
"""Sentences with fewer words may legitimately occur twice in an answer."""
TAIL_CHARACTERS = 4_000
"""How far back phrases are searched for, in characters."""
LONGEST_PHRASE = 40
"""Maximum length of a phrase in words."""
_PHRASE_TIMES, _PHRASE_WORDS = 3, 8
"""A phrase counts as repeated after this many consecutive occurrences with this many words in total: "very, very,
very" does not.
"""
_LONG_PHRASE = 12
"""Phrases of this many words count as repeated after two consecutive occurrences."""

_WORD = re.compile(r"[^\W_]+")
_MARK = re.compile(r"\[\d+\]")
_ENDS = re.compile(r"[.!?…。！？\n:]\s")
_EACH_TIME, _GROWTH = 2_000, 16
"""Longer texts are examined again when they have grown by this fraction of what is beyond these characters, so that the
work is proportional to the text.
"""


class Repetition:
    """Looks for a repetition (:func:`repeats`) in a text that grows."""

    def __init__(self) -> None:
        self._next = 0

    def is_in(self, text: str) -> bool:
        """Whether the text, which is all that was written so far, repeats itself."""
        if len(text) < self._next:
            return False
        self._next = len(text) + max(0, len(text) - _EACH_TIME) // _GROWTH
        return repeats(text)


def repeats(text: str) -> bool:
    """Whether a text has the same sentence or line twice, or ends in a phrase that was said before it. Citations are
    ignored.

    >>> repeats("Mars has two moons: the moon of Mars, the moon of Mars, the moon of Mars")
    True
    """
    spans = sentences(text)
    if not _ENDS.match(f"{text.rstrip()[-1:]}\n"):
        spans = spans[:-1]  # still being written
    said = [one for start, end in spans if len(one := _words(text[start:end])) >= MIN_SENTENCE]
    last = _words(text[-TAIL_CHARACTERS:])
    return len(set(said)) < len(said) or any(_ends_in(last, size) for size in range(1, LONGEST_PHRASE + 1))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(_MARK.sub("", text).lower()))


def _ends_in(said: tuple[str, ...], size: int) -> bool:
    """Whether words end in the same ``size`` ones several times in a row."""
    times = 2 if size >= _LONG_PHRASE else max(_PHRASE_TIMES, -(-_PHRASE_WORDS // size))
    return size * times <= len(said) and said[-size * times :] == said[-size:] * times
