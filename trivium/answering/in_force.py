"""Which of several documents that answer a question is in force, by dates or versions in their names, and what the others
say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from trivium.answering.comparing_words import PRICE
from trivium.answering.judge_parts import Judged
from trivium.answering.passages import NumberedPassage
from trivium.answering.rarity import Rarity
from trivium.answering.stated_values import CHANGED, differ
from trivium.text.normalise import words
from trivium.types import Disagreement

_SHARE = 0.05
"""Of the probability of the best part that what another document says must have."""
_LESS_SAID = 0.15
"""How much less of the question's weight it may say."""
_PROBABLE, _MUCH_LESS_SAID = 0.12, 0.3
"""How much less it may say if it is so probable, as it must be if nothing tells which of the two is newer."""
_ALIKE = 0.3
"""Share of the weight of the terms of the shorter of two texts that both must say."""
_MOST = 3
"""Documents that are shown as disagreeing."""
_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d\d)(?:[-_.]?(0[1-9]|1[0-2])(?:[-_.]?([0-3]\d))?|[-–](1[3-9]|[2-9]\d))?(?!\d)"
)
"""A year, with its month and day if given, or two years: 2024-26."""
_VERSION = re.compile(
    r"(?<![\w.])(?:(?:v|version |rev |revision )(?=\d)|(?=\d{1,3}\.))(\d{1,3}(?:\.\d{1,3}){0,3})\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_DAYS = re.compile(r"\b(?:when|dates?|days?|until|till|deadline)\b", re.IGNORECASE)


def in_force(
    best: Judged, judged: Sequence[Judged], question: str, rarity_of: Callable[[Sequence[str]], Rarity]
) -> tuple[Judged, tuple[Disagreement, ...]]:
    """Return the part that answers, and what other documents say instead. It is the ``best`` one of those ``judged``, or,
    if a newer document says something else about the same, what it says. A question that names a year gets the best
    one. ``rarity_of`` weighs the terms of texts.
    """
    others = _others(best, judged, question, rarity_of)
    if not _DATE.search(question):
        newer = [one for one in others if why_newer(one.passage, one.text, best.passage, best.text)]
        if newer:
            best = newer[0]
            others = _others(best, judged, question, rarity_of)
    found = [(one, _disagreement(one, best)) for one in others]
    shown = [other for one, other in found if other.reason or one.probability >= _PROBABLE]
    return best, tuple(shown[:_MOST])


def why_newer(one: NumberedPassage, text: str, other: NumberedPassage, previous: str) -> str:
    """Return why the ``text`` of a passage replaces the ``previous`` one of another: by the dates in the names of their
    documents, their versions, or because it says what has changed; empty if it does not.
    """
    date, earlier = date_of(one), date_of(other)
    if date and earlier:
        return f"{_written(date)} is later than {_written(earlier)}" if date > earlier else ""
    (name, version), (other_name, other_version) = _version_of(one), _version_of(other)
    if not (date or earlier) and name == other_name and version > other_version and other_version:
        return f"version {_point(version)} is later than {_point(other_version)}"
    # "The price rises from 32 to 36 euros" speaks of what the other document says.
    shared = not frozenset(_NUMBER.findall(text)).isdisjoint(_NUMBER.findall(previous))
    named = words(_name(other))[-1:]  # "the 75 in the manual"
    changed = CHANGED.search(text) is not None or (
        bool(named) and f" the {named[0]} " in f" {' '.join(words(text))} "
    )
    announced = not earlier and changed and shared
    return "it says what was changed" if announced else ""


def date_of(passage: NumberedPassage) -> tuple[int, ...]:
    """Return the latest year, month and day (as far as given) in the name of a passage's document and in its title, or
    else in its metadata; empty if there is none.
    """
    hit = passage.hit
    found = _DATE.findall(f"{hit.document.rsplit('/', 1)[-1]} {hit.page}") or _DATE.findall(
        str(hit.metadata.get("date", ""))
    )
    return max(map(_as_numbers, found), default=())


def _as_numbers(date: tuple[str, str, str, str]) -> tuple[int, ...]:
    year, month, day, until = date
    return (int(f"{year[:2]}{until}"),) if until else tuple(int(part) for part in (year, month, day) if part)


def _written(date: tuple[int, ...]) -> str:
    return "-".join(f"{part:02}" for part in date)


def _point(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _version_of(passage: NumberedPassage) -> tuple[list[str], tuple[int, ...]]:
    """Return the words of the name of a passage's document before its version, and the version; empty if it has none."""
    name = _name(passage)
    found = _VERSION.search(name)
    return ([], ()) if found is None else (words(name[: found.start()]), tuple(map(int, found[1].split("."))))


def _name(passage: NumberedPassage) -> str:
    """Return the name of a passage's document, without its folder and its ending."""
    return passage.hit.document.rsplit("/", 1)[-1].rpartition(".")[0]


def _others(
    best: Judged, judged: Sequence[Judged], question: str, rarity_of: Callable[[Sequence[str]], Rarity]
) -> list[Judged]:
    """Return the most probable sentence or row of each other document that states another value of the same thing."""
    own = _sentence_in(best, judged)
    asked = frozenset(best.passage.analyzer.question_terms(question))
    about = own.passage.said_by(own.text) & asked
    prices = about.intersection(best.passage.analyzer.terms(PRICE))  # an amount need not say that it is one
    weigh = rarity_of([question]) if prices else None
    days = _DAYS.search(question) is not None
    found: dict[str, Judged] = {}
    for one in judged:
        less = own.covered - one.covered
        if weigh is not None:
            less -= 1 - weigh.covered(asked, asked - (prices - one.passage.said_by(one.text)))
        document = one.passage.hit.document
        if (
            document != best.passage.hit.document
            and document not in found
            and one.part.kind in ("sentence", "row")
            and one.probability >= _SHARE * best.probability
            and less <= (_MUCH_LESS_SAID if one.probability >= _PROBABLE else _LESS_SAID)
            and not about.isdisjoint(one.passage.said_by(one.text))
            and differ(own.text, one.text, days)
            and max(rarity_of([own.text, one.text]).alike(own.text, one.text)) >= _ALIKE
        ):
            found[document] = one
    return list(found.values())


def _sentence_in(best: Judged, judged: Sequence[Judged]) -> Judged:
    """Return the most probable sentence or row of a part."""
    inside = [
        one
        for one in (best, *judged)
        if one.part.kind in ("sentence", "row")
        and one.passage is best.passage
        and best.part.start <= one.part.start
        and one.part.end <= best.part.end
    ]
    return inside[0] if inside else best


def _disagreement(one: Judged, best: Judged) -> Disagreement:
    earlier = why_newer(best.passage, best.text, one.passage, one.text)
    later = why_newer(one.passage, one.text, best.passage, best.text)
    hit = one.passage.hit
    return Disagreement(
        one.passage.number,
        hit.uri,
        hit.document,
        one.part.text,
        "earlier" if earlier else "later" if later else "unknown",
        earlier or later,
    )
