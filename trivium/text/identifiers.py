"""Identifiers in questions: versions, part and case numbers, codes, addresses, paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from trivium.text.folding import composed, tokens
from trivium.text.languages import Analyzer

_NUMBERS = re.compile(r"(?<!\d)[A-Za-z]{0,4}\d++(?:[ ()]{1,2}\d++)++")
"""``+44 835 8650``, ``23(77)``, ``DE62 9071 2048``"""
_SPACED = re.compile(r"\b[A-Z]{1,5} \d{3,12}\b")
"""``UK 4202``"""
_CAPITALS = re.compile(r"\b[A-Z]{2,}+(?:[\-/.][A-Z]{2,}+)++\b")
"""``FUTR-JCR``"""
_MARKED = re.compile(r"[#№]\s?(\d++)")
_TOKEN = re.compile(r"[^\W\u3005-\ud7af]++(?:['\-./:^]{1,2}+[^\W\u3005-\ud7af]++)*+")
"""A token as for :func:`trivium.text.folding.tokens`, without characters of languages that have no spaces."""
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s|er)")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_FEWEST_DIGITS = 4
_FEWEST_SIGNS = 2


class Identifier(NamedTuple):
    """The search terms of an identifier: those of its joined form, any of which means it, and those of its words,
    which mean it together; empty if one of them could be about anything.
    """

    whole: frozenset[str]
    parts: frozenset[str]

    def is_in(self, terms: Collection[str]) -> bool:
        """Whether a passage with these search terms has the identifier."""
        return not self.whole.isdisjoint(terms) or (bool(self.parts) and self.parts.issubset(terms))


def is_code(token: str) -> bool:
    """Whether a token of a question is a code by its look: it has digits beside letters or signs, or is a number that is
    neither small nor a year; or it is joined by low lines or several slashes.

    >>> [is_code(token) for token in ("e4", "7.2", "0205", "8921", "get_size", "etc/cups/cupsd.conf")]
    [True, True, True, True, True, True]
    >>> [is_code(token) for token in ("1877", "20th", "1960s", "27", "moon", "table-tennis", "and/or")]
    [False, False, False, False, False, False, False]
    """
    if not any(map(str.isdigit, token)):
        return "_" in token.strip("_") or token.count("/") >= _FEWEST_SIGNS
    if token.isdigit():
        return len(token) >= _FEWEST_DIGITS and _YEAR.fullmatch(token) is None
    return _ORDINAL.fullmatch(token) is None


def identifiers_of(question: str, analyzer: Analyzer) -> list[Identifier]:
    """Return the identifiers of a question, in terms of ``analyzer``. Takes linear time."""
    text = composed(question)
    found = [
        _identifier([token], analyzer)
        for run in tokens(text)
        for token in _TOKEN.findall(run)
        if is_code(token)
    ]
    found += [_identifier([number], analyzer) for number in _MARKED.findall(text)]
    found += [_identifier(tokens(word), analyzer) for word in text.split() if "@" in word[1:-1]]
    for pattern, fits in _SEVERAL:
        found += [_identifier(tokens(run), analyzer) for run in pattern.findall(text) if fits(run)]
    return found


def _many_digits(run: str) -> bool:
    *_, last = re.findall(r"\d+", run)
    return sum(map(str.isdigit, run)) >= _FEWEST_DIGITS and _YEAR.fullmatch(last) is None  # 6 (1945)


_SEVERAL: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (_NUMBERS, _many_digits),
    (_SPACED, bool),
    (_CAPITALS, bool),
)


def _identifier(several: list[str], analyzer: Analyzer) -> Identifier:
    words = [word for token in several for word in analyzer.question_words(token)]
    parts = frozenset(term for word in words if not word.joined for term in word.main)
    if len(several) > 1:
        return Identifier(frozenset(), parts)
    whole = words[-1].main if words and words[-1].joined else ()
    # The numbers of a version that no passage has stand beside each other by chance.
    by_parts = not (whole and any(map(str.isdigit, several[0])))
    return Identifier(frozenset(whole), parts if by_parts else frozenset())
