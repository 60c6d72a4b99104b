"""Finds names of documents in running text by greedy longest match from left to right, without a model.

Text and names are compared lower-cased with punctuation as spaces (:func:`trivium.text.normalise.normalise_name`). The
index is a dictionary of names and, for each first word, the possible lengths of names in words; the matches are those of
an Aho-Corasick automaton.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trivium.text.folding import UNSEEN
from trivium.text.normalise import normalise_name, normalise_title, without_parenthesis

MAX_WORDS = 12
"""Longer names are ignored."""

_MIN_LETTERS = 3
_MIN_DIGITS = 4
# A word; its letters may be followed by combining accents and characters that are not seen.
_WORD = re.compile(rf"[^\W_]++(?:[\u0300-\u036f{UNSEEN}]++[^\W_]*+)*+")

# Words that are also titles of documents, but in running text almost always ordinary words.
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
    """The words of a text and their character offsets, as lists rather than objects because a corpus has millions of
    words.
    """

    words: list[str]
    starts: list[int]
    ends: list[int]

    def name(self, start: int, count: int) -> str:
        return " ".join(self.words[start : start + count])


class Gazetteer:
    """The names of a collection.

    ``names`` are pairs (title or alias, target). A name also matches without its trailing parenthesis. If several
    targets share a name, the order of preference is: its title, an alias, a title without parenthesis, an alias without
    parenthesis. Ties are broken by the code points of the targets, independent of the order of ``names``.
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

    def names(self) -> list[str]:
        """Return the normalised names.

        >>> Gazetteer([("Mercury (planet)", "Mercury (planet)")]).names()
        ['mercury planet', 'mercury']
        """
        return list(self._targets)

    def target(self, name: str) -> str | None:
        """Return what a name, as it is written, stands for; None if it is not known."""
        return self._targets.get(normalise_name(normalise_title(name)))

    def find(self, text: str) -> list[Mention]:
        """Return the non-overlapping mentions in a text, in order.

        >>> gazetteer = Gazetteer([("Mercury (planet)", "Mercury (planet)")])
        >>> [mention.target for mention in gazetteer.find("To Mercury!")]
        ['Mercury (planet)']
        """
        return _longest(_split(text), self._targets, lambda word: self._lengths.get(word, ()))


def find_names(text: str, lookup: Callable[[Sequence[str]], Mapping[str, str]]) -> list[Mention]:
    """Return the non-overlapping mentions in a short text, in order, of names stored elsewhere, for example in a
    database.

    ``lookup`` is called at most once, with every distinct normalised sequence of up to 12 words that can be a name, in
    order of appearance. It returns the targets of the known names.
    """
    split = _split(text)
    candidates = _candidates(split)
    if not candidates:
        return []
    known = lookup(candidates)
    lengths = sorted({name.count(" ") + 1 for name in known}, reverse=True)
    return _longest(split, known, lambda _: lengths)


def possible_names(text: str) -> list[str]:
    """Return every distinct normalised sequence of up to 12 words of a text that can be a name.

    >>> possible_names("To Mercury!")
    ['to mercury', 'mercury']
    """
    return _candidates(_split(text))


def distinct_words(text: str) -> set[str]:
    """Return the words of a text, as names are looked for in it. A text mentions a name only if it has all its words.

    >>> sorted(distinct_words("To MERCURY, to_mercury!"))
    ['mercury', 'to']
    """
    if text.isascii():
        return set(_WORD.findall(text.lower()))
    return set(_split(text).words)


def telling_words(name: str) -> list[str]:
    """Return the distinct words of a normalised name except common ones. A name has at least one.

    >>> telling_words("the moons of the moons")
    ['moons']
    """
    return [word for word in dict.fromkeys(name.split(" ")) if word not in _COMMON_WORDS]


def _candidates(split: _Words) -> list[str]:
    found: dict[str, None] = {}
    for start in range(len(split.words)):
        name, known = "", False
        for word in split.words[start : start + MAX_WORDS]:
            name = f"{name} {word}" if name else word
            known = known or is_name(name)  # what begins with a name is one, too
            if known:
                found[name] = None
    return list(found)


def is_name(name: str) -> bool:
    """Whether a normalised name is specific enough to match: up to 12 words, at least 3 characters (at least 4 for a
    number), and not made of common words only."""
    letters = name.replace(" ", "")
    if len(letters) < _MIN_LETTERS or (letters.isdecimal() and len(letters) < _MIN_DIGITS):
        return False
    parts = name.split(" ")
    return len(parts) <= MAX_WORDS and not all(part in _COMMON_WORDS for part in parts)


def _split(text: str) -> _Words:
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _WORD.finditer(text):
        word = match.group()
        # Some letters become two words when lower-cased and stripped of marks.
        parts = [word.lower()] if word.isascii() else normalise_name(word).split()
        for part in parts:
            words.append(part)
            starts.append(match.start())
            ends.append(match.end())
    return _Words(words, starts, ends)


def _longest(
    split: _Words, targets: Mapping[str, str], lengths: Callable[[str], Iterable[int]]
) -> list[Mention]:
    """Return the longest known name starting at each word. ``lengths`` returns the lengths to try, longest first."""
    mentions = []
    position, size = 0, len(split.words)
    while position < size:
        for count in lengths(split.words[position]):
            if position + count > size:
                continue
            name = split.name(position, count)
            target = targets.get(name)
            if target is not None:
                last = position + count - 1
                mentions.append(Mention(split.starts[position], split.ends[last], name, target))
                position += count
                break
        else:
            position += 1
    return mentions
