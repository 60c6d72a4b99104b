"""Which of several documents that answer a question is in force: the newer one, by dates or versions in their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answering.judging import Judged, fitted
from trivium.answering.passages import NumberedPassage
from trivium.text.normalise import words

SHARE = 0.05
"""Of the probability of the best part that an answer of a newer document must have."""
_LESS_SAID = 0.15
"""How much less of the question's weight it may say."""
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[-_.]?(0[1-9]|1[0-2])(?:[-_.]?([0-3]\d))?)?(?!\d)")
_VERSION = re.compile(
    r"(?<![\w.])(?:(?:v|version |rev |revision )(?=\d)|(?=\d{1,3}\.))(\d{1,3}(?:\.\d{1,3}){0,3})\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CHANGED = re.compile(
    r"\b(?:from\b.{1,40}\bto\b|instead of|no longer|(?:rise|raise|lower|increase|reduce|replace)[sd]?\b|goes (?:up|down)"
    r"|(?:is|are) now\b|(?:it|they|this) (?:was|were)\b|previously|formerly|not\b.{1,40}\bas (?:printed|stated|written))",
    re.IGNORECASE,
)
"""How a text says that something else was true before."""


def in_force(judged: Sequence[Judged], question: str) -> Judged | None:
    """Return the part that answers: the most probable one, or, if a newer document says something else about the same,
    what it says. None if there are no parts. A question that names a year gets the most probable one.
    """
    if not judged or _DATE.search(question):
        return fitted(judged) if judged else None
    best = fitted(judged)
    newer = [
        one
        for one in judged
        if one.passage.hit.document != best.passage.hit.document
        and one.covered >= best.covered - _LESS_SAID
        and not _numbers(one) <= _numbers(best)
        and _replaces(one, best)
    ]
    return newer[0] if newer else best


def date_of(passage: NumberedPassage) -> tuple[int, ...]:
    """Return the latest year, month and day (as far as given) in the name of a passage's document and in its title;
    empty if there is none.
    """
    hit = passage.hit
    found = _DATE.findall(f"{hit.document.rsplit('/', 1)[-1]} {hit.page}")
    return max((tuple(int(part) for part in date if part) for date in found), default=())


def _version_of(passage: NumberedPassage) -> tuple[list[str], tuple[int, ...]]:
    """Return the words of the name of a passage's document before its version, and the version; empty if it has none."""
    name = passage.hit.document.rsplit("/", 1)[-1].rpartition(".")[0]
    found = _VERSION.search(name)
    return ([], ()) if found is None else (words(name[: found.start()]), tuple(map(int, found[1].split("."))))


def _replaces(one: Judged, best: Judged) -> bool:
    date, other = date_of(one.passage), date_of(best.passage)
    if not (date or other):
        (name, version), (other_name, other_version) = _version_of(one.passage), _version_of(best.passage)
        if name == other_name:
            date, other = version, other_version
    if one.probability < SHARE * best.probability or (other and date <= other):
        return False
    # "The price rises from 32 to 36 euros" speaks of what the other document says.
    announced = _CHANGED.search(one.text) is not None and not _numbers(one).isdisjoint(_numbers(best))
    return bool(other) or announced


def _numbers(one: Judged) -> set[str]:
    return set(_NUMBER.findall(one.text))
