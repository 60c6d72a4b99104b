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

_WORDS = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")
_PARTS = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_YEAR = re.compile(r"(?<!\d)(?:(?:[Ff][Yy] ?'?|[Qq][1-4])?((?:19|20)\d\d)|[Ff][Yy] ?'?(\d\d))(?!\d)")
_QUARTER = re.compile(
    r"(?<![A-Za-z])[Qq]([1-4])(?!\d(?!\d\d\d))|\b(first|second|third|fourth)[ -](?:fiscal )?quarter",
    re.IGNORECASE,
)
_QUARTERS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
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
    """The words of a question, also several written as one, in lower case; those in capitals; years and quarters."""

    words: frozenset[str]
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
        if asked.capitals or not asked.words.isdisjoint(title.parts)
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
    found = sum(len(part) for part in parts if len(part) > 2 and part in asked.words)
    return found / len(word)


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
    title = unescape(uri)
    written = _WORDS.findall(title)
    words = {word.lower(): _parts(word) for word in written}
    return _Title(words, frozenset(words).union(*words.values()), _years(title), _quarters(title))


@lru_cache(maxsize=64)
def _asked(question: str) -> _Asked:
    written = _WORDS.findall(question)
    lower = [word.lower() for word in written]
    joined = {
        "".join(lower[first : first + count])
        for count in range(1, _JOINED + 1)
        for first in range(len(lower) - count + 1)
    }
    parts = {part for word in written for part in _parts(word)}
    capitals = tuple(
        word.lower() for word in written if len(word) >= _SHORTENED and word.isalpha() and word.isupper()
    )
    return _Asked(frozenset(joined | parts), capitals, _years(question), _quarters(question))


def _parts(word: str) -> tuple[str, ...]:
    """Return the parts of a word with capitals or digits inside it; none of a number, such as 22.14.0."""
    return tuple(part.lower() for part in _PARTS.findall(word)) if any(map(str.isalpha, word)) else ()


def _years(text: str) -> frozenset[int]:
    """Return the years of a text, as in "2017", "FY2017", "FY17", "2023Q2" and "Q22023"."""
    return frozenset(int(whole) if whole else 2000 + int(short) for whole, short in _YEAR.findall(text))


def _quarters(text: str) -> frozenset[str]:
    return frozenset(match[1] or _QUARTERS[match[2].lower()] for match in _QUARTER.finditer(text))
