"""Names of documents found in running text: longest match, left to right, no model.

Text and names are compared lower-cased with punctuation as spaces (:func:`trivium.text.normalise_name`). A
dictionary of names and, for the first word of each, the numbers of words that names beginning with it have,
give the same matches as an Aho-Corasick automaton without building one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trivium.text import normalise_name, normalise_title, without_parenthesis

MAX_WORDS = 12
"""Longer names are not looked for."""

_MIN_LETTERS = 3
_MIN_DIGITS = 4
# A word with the accents that follow its letters as characters of their own.
_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*")

# Titles of documents as well, but in running text nearly always just words.
_COMMON = """
a about above across after again against all almost along already also although always am among an
and another any are around as at away back be became because become been before began behind being
below beside between beyond both but by came can could did do does done down during each either else
even ever every few first for from further get go goes going gone got had has have he her here hers
herself him himself his how however i if in inside into is it its itself just last later least less
like made make makes many may me might mine more most much must my near neither never new next no
non nor not now of off often on once one only onto or other others our out outside over own per
rather s said same say second see seen several shall she should since so some still such t taken
than that the their theirs them themselves then there these they third this those though three
through thus to too toward towards two under unless until up upon us used using very via was way we
well went were what when where whether which while who whom whose why will with within without would
yes yet you your
"""
_COMMON_WORDS = frozenset(_COMMON.split())


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text: ``text[start:end]`` normalises to ``name``, which stands for ``target``."""

    start: int
    end: int
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text and where each stands: lists, since a corpus has millions of words."""

    words: list[str]
    starts: list[int]
    ends: list[int]

    def name(self, start: int, count: int) -> str:
        return " ".join(self.words[start : start + count])


class Gazetteer:
    """The names of a collection.

    ``names`` are pairs (title or alias, target). A name is also known without its trailing parenthesis. Where
    several targets share a name, the target whose title it is wins, then one it is an alias of, then one
    whose title, then alias, shortens to it; among equals the first by code point, whatever the order given.
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        best: dict[str, tuple[int, str]] = {}
        for name, target in names:
            alias = int(normalise_title(name) != target)
            for shortened, form in ((0, name), (2, without_parenthesis(name))):
                key = normalise_name(normalise_title(form))
                rank = (shortened + alias, target)
                if is_name(key) and rank < best.get(key, (4, "")):
                    best[key] = rank
        self._targets = {name: target for name, (_, target) in best.items()}
        lengths: dict[str, set[int]] = {}
        for name in self._targets:
            parts = name.split(" ")
            lengths.setdefault(parts[0], set()).add(len(parts))
        self._lengths = {word: sorted(counts, reverse=True) for word, counts in lengths.items()}

    def __len__(self) -> int:
        return len(self._targets)

    def find(self, text: str) -> list[Mention]:
        """The names in a text, in order, not overlapping.

        >>> gazetteer = Gazetteer([("Mercury (planet)", "Mercury (planet)")])
        >>> [mention.target for mention in gazetteer.find("To Mercury!")]
        ['Mercury (planet)']
        """
        return _longest(_split(text), self._targets, lambda word: self._lengths.get(word, ()))


def find_names(text: str, lookup: Callable[[Sequence[str]], Mapping[str, str]]) -> list[Mention]:
    """The names in a short text, in order, not overlapping, when they are known to something that is asked
    once.

    ``lookup`` is given every distinct run of up to 12 words that can be a name, normalised, in order of
    appearance, and returns the targets of those it knows.
    """
    split = _split(text)
    size = len(split.words)
    lengths = range(min(MAX_WORDS, size), 0, -1)
    runs = (split.name(start, count) for start in range(size) for count in range(1, lengths.start + 1))
    asked = [name for name in dict.fromkeys(runs) if is_name(name)]
    if not asked:
        return []
    return _longest(split, lookup(asked), lambda _: lengths)


def is_name(name: str) -> bool:
    """Whether a normalised name is looked for: up to 12 words, at least 3 letters, no bare number under 4
    digits, not made of common words alone."""
    letters = name.replace(" ", "")
    if len(letters) < _MIN_LETTERS or (letters.isdecimal() and len(letters) < _MIN_DIGITS):
        return False
    parts = name.split(" ")
    return len(parts) <= MAX_WORDS and not all(part in _COMMON_WORDS for part in parts)


def _split(text: str) -> _Words:
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for found in _WORD.finditer(text):
        word = found.group()
        # A few letters become two words when they are lower-cased and stripped of marks.
        parts = (
            [word.lower()] if word.isascii() else normalise_name(unicodedata.normalize("NFC", word)).split()
        )
        for part in parts:
            words.append(part)
            starts.append(found.start())
            ends.append(found.end())
    return _Words(words, starts, ends)


def _longest(
    split: _Words, targets: Mapping[str, str], lengths: Callable[[str], Iterable[int]]
) -> list[Mention]:
    """At each word the longest known name beginning there; ``lengths`` are to be tried in falling order."""
    found = []
    position, size = 0, len(split.words)
    while position < size:
        for count in lengths(split.words[position]):
            if position + count > size:
                continue
            name = split.name(position, count)
            target = targets.get(name)
            if target is not None:
                last = position + count - 1
                found.append(Mention(split.starts[position], split.ends[last], name, target))
                position += count
                break
        else:
            position += 1
    return found
