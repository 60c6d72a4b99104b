"""How one value of a document compares with the values of a condition.

A number and a text that holds one compare as numbers, two texts by code points. Of times the instants are compared, those
without a zone as UTC; a date of four, seven or ten characters (``2024``, ``2024-05``, ``2024-05-01``) is compared with
that much of a time. In ``=``, ``!=`` and ``in`` a text with ``*`` is a pattern; ``like`` is one that ignores case.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any as Any_

from trivium.graph.filter_conditions import Comparison, Field, Literal, Operator
from trivium.text.normalise import composed
from trivium.types import MetadataValue

Test = Callable[[MetadataValue], bool]
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_DATED = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d(:\d\d(:\d\d([.,]\d+)?)?)?(Z|[+-]\d\d(:?\d\d)?)?", re.IGNORECASE)
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_ORDER: dict[Operator, Callable[[Any_, Any_], bool]] = {
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.MORE: operator.gt,
    Operator.AT_LEAST: operator.ge,
}
PLACES = (Field.SOURCE, Field.PATH, Field.DOCUMENT)
"""Fields of which a folder, or a file in it, may be asked for without what is above it."""
_FOLDERS = 100


def compared(text: str) -> str:
    """Return a condition, or a value of a document, as it is compared: composed, and without the byte order marks that
    files and cells begin with.
    """
    return composed(text).replace("\ufeff", "")


def test_of(condition: Comparison) -> Test:
    """Whether a value, which there is, fulfils a comparison. Its time does not grow with the number of values, but with
    that of patterns, by some tenths of a microsecond each."""
    field, values = condition.field, condition.values
    match condition.operator:
        case Operator.EXISTS:
            return lambda _: True
        case Operator.LIKE:
            return _in_parts(
                field,
                values,
                lambda some: _patterns([str(text).casefold() for text in some], ignore_case=True),
            )
        case Operator.EQUAL | Operator.IN:
            return _in_parts(field, values, _equals)
        case Operator.UNEQUAL:
            equals = _in_parts(field, values, _equals)
            return lambda value: not equals(value)
        case _:
            return _ordered(_ORDER[condition.operator], values[0])


def _in_parts(
    field: Field | None, literals: Sequence[Literal], test_for: Callable[[Sequence[Literal]], Test]
) -> Test:
    """The same of parts of a value, too: of metadata the elements of a list, which is kept as a text, of a path what is
    below any of its folders where the condition does not begin at the top."""
    test = test_for(literals)
    if field is None:
        return lambda value: (
            test(value) or (isinstance(value, str) and ", " in value and any(map(test, value.split(", "))))
        )
    below = [
        literal
        for literal in literals
        if isinstance(literal, str) and not literal.startswith("/") and "://" not in literal
    ]
    if field in PLACES and below:
        test_below = test_for(below)
        return lambda value: test(value) or any(map(test_below, _below(str(value))))
    return test


def _below(path: str) -> Iterator[str]:
    """What is below each of the folders of a path, of its last :data:`_FOLDERS`.

    >>> list(_below("records:a/b/c.txt"))
    ['a/b/c.txt', 'b/c.txt', 'c.txt']
    """
    plain = path.removeprefix("records:")
    if plain != path:
        yield plain
    parts = plain.rsplit("/", _FOLDERS)
    for first in range(1, len(parts)):
        yield "/".join(parts[first:])


def _equals(literals: Sequence[Literal]) -> Test:
    """Whether a value equals one of the literals, looked up in sets; or has the pattern of one."""
    bools = {literal for literal in literals if isinstance(literal, bool)}
    numbers = {literal for literal in literals if not isinstance(literal, bool | str)}
    words = [literal for literal in dict.fromkeys(literals) if isinstance(literal, str)]
    texts = {word for word in words if "*" not in word}
    patterns = [word for word in words if "*" in word]
    fits = _patterns(patterns, ignore_case=False) if patterns else None
    flags = {text_of(literal) for literal in bools}
    # A year beside a date is a date of four characters.
    written = {_number(text) for text in texts if not _DATED.match(text)}
    dates = {text for text in texts if _DATE.fullmatch(text)}
    lengths = sorted(set(map(len, dates)))
    moments = {instant(text) for text in texts if _TIME.fullmatch(text)} - {None}

    def is_text(value: str) -> bool:
        return (
            value in texts
            or (bool(flags) and value.lower() in flags)
            or (bool(numbers) and _number(value) in numbers)
            or (bool(dates) and _DATED.match(value) is not None and any(value[:n] in dates for n in lengths))
            or (bool(moments) and instant(value) in moments)
        )

    def test(value: MetadataValue) -> bool:
        if isinstance(value, bool):
            found = value in bools or text_of(value) in texts
        elif isinstance(value, str):
            found = is_text(value)
        else:
            found = value in numbers or value in written
        return found or (fits is not None and fits(value))

    return test


def _ordered(compare: Callable[[Any_, Any_], bool], literal: Literal) -> Test:
    def test(value: MetadataValue) -> bool:
        ours, theirs = _comparable(value, literal)
        same = isinstance(ours, str) == isinstance(theirs, str)
        return same and not isinstance(ours, bool) and not isinstance(theirs, bool) and compare(ours, theirs)

    return test


def _comparable(value: MetadataValue, literal: Literal) -> tuple[MetadataValue, Literal]:
    """Both as values of one kind, where they can be."""
    if isinstance(value, bool) or isinstance(literal, bool):
        if isinstance(value, str):
            return value.lower(), text_of(literal)
        return (
            (value, literal)
            if isinstance(value, bool) == isinstance(literal, bool)
            else (text_of(value), text_of(literal))
        )
    if isinstance(value, str) and isinstance(literal, str):
        return _comparable_texts(value, literal)
    if isinstance(value, str):
        return _number(value), literal
    if isinstance(literal, str):
        # A year beside a date is a date of four characters.
        return (text_of(value), literal) if _DATED.match(literal) else (value, _number(literal))
    return value, literal


def _comparable_texts(value: str, literal: str) -> tuple[MetadataValue, Literal]:
    if _DATE.fullmatch(literal):
        return (value[: len(literal)] if _DATED.match(value) else value), literal
    if _TIME.fullmatch(literal):
        asked, ours = instant(literal), instant(value)
        if asked is not None and ours is not None:
            return ours, asked
    return value, literal


def instant(text: str) -> float | None:
    """The moment that a date or a time names, in seconds; None where a text is neither. A date is its first moment, and
    without a zone a time is UTC.

    >>> instant("1970-01-01T01:00:00+01:00"), instant("1970-01-02"), instant("1970-13-01")
    (0.0, 86400.0, None)
    """
    if _TIME.fullmatch(text) is None and _DATED.fullmatch(text) is None:
        return None
    try:
        moment = datetime.fromisoformat(text.upper().replace(",", "."))
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> MetadataValue:
    """The number that a text holds, the year of a date, or else the text."""
    if _DATED.match(text):
        return int(text[:4])
    return float(text) if _NUMBER.fullmatch(text) else text


def text_of(value: MetadataValue) -> str:
    """A value as it is written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _patterns(patterns: Sequence[str], *, ignore_case: bool) -> Test:
    """Whether a text fits one of the patterns: has the parts between the asterisks in this order, the first at its
    beginning, the last at its end. Takes time that grows with the text and the patterns, and no more: each part is looked
    for once (an atomic group), since a later place of it leaves less text for the others."""
    fits = re.compile("|".join(map(_expression, dict.fromkeys(patterns))), re.DOTALL).fullmatch
    if ignore_case:
        return lambda value: fits(text_of(value).casefold()) is not None
    return lambda value: fits(text_of(value)) is not None


def _expression(pattern: str) -> str:
    """A pattern as a regular expression."""
    first, *parts = map(re.escape, pattern.split("*"))
    if not parts:
        return first
    *middle, last = parts
    length = len(pattern) - pattern.rfind("*") - 1
    return f"{first}{''.join(f'(?>.*?{part})' for part in middle if part)}.{{{length},}}+(?<={last})"
