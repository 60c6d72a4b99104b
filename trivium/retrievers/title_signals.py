"""Features of candidates from their titles: whether the question says which document it means.

Titles say it in their way (``AMERICANWATERWORKS_2020_10K``), questions in theirs ("American Water Works ... FY2020"), so
words that a title writes as one are looked for as one and in parts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.graph.schema import unescape
from trivium.text.function_words import FUNCTION_WORDS
from trivium.text.normalise import without_id

_WORDS = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")
_PARTS = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_YEAR = re.compile(
    r"(?<![^\W_])(?:(?:[A-Za-z]*|[Qq][1-4])((?:19|20)\d\d)(?=[QqHh][1-4]|[\W_]|$)|[Ff][Yy] ?'?(\d\d)(?!\d))"
)
"""``FY2017``, ``Q22023``, ``2023Q2``, ``report2017``, ``FY17``; not the digits of ``b2019a4f``."""
_QUARTER = re.compile(
    r"(?<![A-Za-z])[Qq]([1-4])(?!\d(?!\d\d\d))|\b(first|second|third|fourth)[ -](?:fiscal )?quarter",
    re.IGNORECASE,
)
_QUARTERS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
_FUNCTION_WORDS = frozenset(FUNCTION_WORDS["en"].split())
_JOINED = 4
"""Consecutive words of a question that a title may write as one."""
_SHORTENED = 3
"""Capitals of a question, at least so many, that a title's word may begin with ("JPM")."""


class _Title(NamedTuple):
    """A title's words, in lower case, each with its parts; words and parts; years, and quarters."""

    words: Mapping[str, tuple[str, ...]]
    parts: frozenset[str]
    years: frozenset[int]
    quarters: frozenset[str]


class _Asked(NamedTuple):
    """The words of a question, in lower case, also parts of one and several as one, each with what the question wrote;
    those in capitals; years and quarters.
    """

    words: Mapping[str, str]
    capitals: tuple[str, ...]
    years: frozenset[int]
    quarters: frozenset[str]


def of_titles(question: str, pages: Sequence[str]) -> Mapping[str, Floats]:
    """Return columns (n,) of n candidates on the ``pages`` (n,), by title: ``title_named`` is how many of the words that
    tell the titles apart the question has, each at most 1, by its rarity; ``title_time`` is about 1 if years and quarters
    are those asked for, -1 if the title has others, 0 if question or title have none.
    """
    distinct, page = numbered(pages)
    titles = [_title(title) for title in distinct]
    asked = _asked(question)
    time = np.zeros(len(titles))
    if asked.years or asked.quarters:
        time[:] = [_same_time(title, asked) for title in titles]
    return {"title_named": _named(titles, asked)[page], "title_time": time[page]}


def naming_words(question: str, page: str) -> tuple[str, ...]:
    """Return the words of a question that name a page by its title, as the question writes them and in its order: those
    with capitals or digits, or all words of the title in lower case. English function words are left out.

    >>> naming_words("How much did American Water Works owe in FY2020?", "AMERICANWATERWORKS_2020_10K")
    ('American Water Works', 'FY2020')
    """
    asked = _asked(question)
    found = [_written(word, parts, asked) for word, parts in _title(page).words.items()]
    said = {text for texts in found for text in texts if text.lower() not in _FUNCTION_WORDS}
    if not all(found):
        said = {text for text in said if not text.islower()}
    return tuple(sorted(said, key=lambda text: (question.find(text), text)))


def numbered(pages: Sequence[str]) -> tuple[list[str], Integers]:
    """Return the distinct pages in the order of their first candidates, and each candidate's place (n,) among them."""
    numbers: dict[str, int] = {}
    places = np.array([numbers.setdefault(page, len(numbers)) for page in pages], dtype=np.int64)
    return list(numbers), places


def _named(titles: Sequence[_Title], asked: _Asked) -> Floats:
    """Return for each title (d,) the rarity, among the titles, of its words that the question has, relative to that of a
    word of one title alone.
    """
    scores = np.zeros(len(titles))
    some = [
        (place, title.words)
        for place, title in enumerate(titles)
        if asked.capitals or not title.parts.isdisjoint(asked.words)
    ]
    said = {word: _share(word, parts, asked) for _, own in some for word, parts in own.items()}
    words = {word for word, share in said.items() if share}
    counts = Counter(word for _, own in some for word in own if word in words)
    most = math.log(max(1, len(titles))) or 1.0
    rarity = {word: said[word] * (1 - math.log(counts[word]) / most) for word in words}
    for place, own in some:
        scores[place] = math.fsum(rarity[word] for word in own if word in words)
    return scores


def _share(word: str, parts: Sequence[str], asked: _Asked) -> float:
    """Return how much of a title's word the question has, by letters."""
    if word in asked.words:
        return 1.0
    if any(word.startswith(short) for short in asked.capitals):
        return 0.5
    return sum(map(len, _said(parts, asked))) / len(word)


def _written(word: str, parts: Sequence[str], asked: _Asked) -> list[str]:
    """Return what the question wrote for a title's word, or for parts of it."""
    if word in asked.words:
        return [asked.words[word]]
    short = [capitals.upper() for capitals in asked.capitals if word.startswith(capitals)]
    return short or [asked.words[part] for part in _said(parts, asked)]


def _said(parts: Sequence[str], asked: _Asked) -> list[str]:
    """Return the parts of a title's word that the question has, without those of one or two letters."""
    return [part for part in parts if len(part) > 2 and part in asked.words]


def _same_time(title: _Title, asked: _Asked) -> float:
    """Return whether years and quarters are those asked for: 1, less for earlier ones of several, or -1."""
    score = 0.0
    if asked.years and title.years:
        latest = max(asked.years)
        score = 1.0 if latest in title.years else 0.5 if asked.years & title.years else -1.0
    if asked.quarters and title.quarters:
        if not asked.quarters & title.quarters:
            score = min(score, 0.0) - 0.5
        elif score >= 0:
            score += 0.5
    return score


@lru_cache(maxsize=100_000)
def _title(uri: str) -> _Title:
    title = unescape(without_id(uri))
    written = _WORDS.findall(title)
    words = {word.lower(): _parts(word) for word in written}
    return _Title(words, frozenset(words).union(*words.values()), _years(title), _quarters(title))


@lru_cache(maxsize=64)
def _asked(question: str) -> _Asked:
    written = _WORDS.findall(question)
    lower = [word.lower() for word in written]
    parts = {part: word for word in written for part in _parts(word)}
    joined = {
        "".join(lower[first : first + count]): " ".join(written[first : first + count])
        for count in range(1, _JOINED + 1)
        for first in range(len(lower) - count + 1)
    }
    capitals = tuple(
        word.lower() for word in written if len(word) >= _SHORTENED and word.isalpha() and word.isupper()
    )
    return _Asked(parts | joined, capitals, _years(question), _quarters(question))


def _parts(word: str) -> tuple[str, ...]:
    """Return the parts of a word with capitals or digits inside it; none of a number, such as 22.14.0."""
    return tuple(part.lower() for part in _PARTS.findall(word)) if any(map(str.isalpha, word)) else ()


def _years(text: str) -> frozenset[int]:
    """Return the years of a text, as in "2017", "FY2017", "FY17", "2023Q2" and "Q22023"."""
    return frozenset(int(whole) if whole else 2000 + int(short) for whole, short in _YEAR.findall(text))


def _quarters(text: str) -> frozenset[str]:
    return frozenset(match[1] or _QUARTERS[match[2].lower()] for match in _QUARTER.finditer(text))
