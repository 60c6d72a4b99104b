"""Whether a part of a passage has what a question asks for: a time, a place, a number or a measure, by rules for English
(an amount in other languages, too: :mod:`trivium.answering.amounts`).

The trees and the reader (:mod:`trivium.answering.judge_parts`) take "The summer party is on 21 June" for an answer to
"How much does the summer party cost?", since it says all the rest. Only what is certain is told here: code and lists are
no prose, and cells of rows stand without words around them.
"""

from __future__ import annotations

import re

from trivium.answering.amounts import lacks_amount
from trivium.answering.answer_parts import Part
from trivium.text.normalise import NUMBER_WORDS
from trivium.types import ChunkKind

MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:r?uary|ch|il|ust|ober|ember)?\.?"
_WEEKDAY = r"(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)(?:[a-z]*days?)?"
_SPAN = (
    r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|quarters?|years?|century|morning|noon|midday"
    r"|afternoon|evening|midnight|spring|summer|autumn|winter|season|easter|christmas)"
)
_UNIT = (
    r"(?:s|min|h|mm|cm|m|km|ft|feet|foot|inch(?:es)?|miles?|yards?|(?:kilo|centi|milli)?met(?:er|re)s?|kg|g|mg|t|tons?"
    r"|tonnes?|lbs?|oz|ounces?|pounds?|(?:kilo)?grams?|kilos?|characters?|pages?|words?|units?|%|°|degrees?|times)"
)
_COUNT = rf"(?:{'|'.join(NUMBER_WORDS)}|half|hundreds?|thousands?|millions?|several|few)"
_YEAR = r"(?:1[0-9]|20)\d\d"
_DATES = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.?(?: of)? {MONTH}(?:,? \d{{4}})?\b|\b{MONTH} \d{{1,2}}\b(?:,? \d{{4}})?"
    rf"|\b\d{{4}}-\d\d(?:-\d\d)?\b|\b\d{{1,2}}:\d\d\b|\b(?:in|since|until|by|of|from|year|{MONTH}),? {_YEAR}\b",
    re.IGNORECASE,
)
"""Numbers that say when, and not how many."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_HEAD = r"(?i)\A\W{0,5}(?:(?:and|but|so|or|since|until|till|from|by|at|on|in|for|to|about|within|before|after)\s+){0,3}"
_NAMED = re.compile(rf"{_HEAD}(?:who(?:m|se)?|what (?:is|are|was|were))\b")
_COUNTED = re.compile(rf"{_HEAD}(?:how (?:many|much)\b|what (?:do|does|did) .*\bcost\b)")
_DATED = re.compile(rf"{_HEAD}(?:when|(?:what|which) (?:time|date|day|year|month))\b")
_PLACED = re.compile(rf"{_HEAD}where\b")
_KINDS = {
    re.compile(rf"{_HEAD}how old\b"): re.compile(
        rf"(?i)\b(?:{_SPAN}|old|aged?|born|since|built|founded|(?:in|from|of) {_YEAR})\b"
    ),
    re.compile(rf"{_HEAD}how (?:long|heavy|deep|high|tall|wide|far|thick)\b"): re.compile(
        rf"(?i)(?:\d|\b(?:{_COUNT}|an?))[\s-]?(?:[a-z]+ )?(?:{_SPAN}|{_UNIT})(?!\w)"
        rf"|(?:\A|[:;(] ?)(?:{_SPAN}|{_UNIT})(?!\w)"
        r"|\b(?:always|forever|permanent(?:ly)?|unlimited|until|daily)\b"
    ),
    _COUNTED: re.compile(
        rf"(?i)\d|\b(?:{_COUNT}|quarter|third|dozens?|double|twice|once|no|none|nothing|free|enough)\b"
    ),
    _DATED: re.compile(
        rf"(?i)\b(?:{MONTH}(?!\w)|{_WEEKDAY}\b|{_YEAR}\b|\d{{1,2}}[:.]\d\d\b|\d{{1,2}}\.\d{{1,2}}\."
        rf"|\d{{1,2}} ?[ap]\.?m\b|(?:{_SPAN}|o'clock|today|tomorrow|daily|weekly|monthly|yearly|annual(?:ly)?"
        r"|after|before|until|during|while|when(?:ever)?|once|as soon as|as long as|always|never|already"
        r"|immediately|at once)\b)"
    ),
    _PLACED: re.compile(
        r"(?i)\b(?:in|into|inside|at|on|onto|from|to|near|behind|beside|beneath|below|above|under|over|between|opposite"
        r"|outside|through|along|across|around|round|against|past|off|beyond|within|towards?|via)\s+"
        rf"(?!(?:the )?(?:{MONTH}|{_SPAN}|{_WEEKDAY}|time|\d+)\b)\w"
        r"|\b(?:here|there|upstairs|downstairs|next to|abroad|everywhere|anywhere|online|www|home)\b|@"
    ),
}
"""What questions ask for, and how values of that kind are written."""


def asks_for_one(question: str) -> bool:
    """Whether a question asks for one thing, which a sentence can say: a value, who, or what something is."""
    return any(asks.match(question) for asks in (_NAMED, *_KINDS))


def asks_when(question: str) -> bool:
    """Whether a question asks for a time or a day."""
    return _DATED.match(question) is not None


def lacks_kind(question: str, part: Part) -> bool:
    """Whether a question asks for a value of a kind that a part of prose, or a row, does not have. A number that only
    says when, or that the question says itself, is no amount.
    """
    asks = next((one for one in _KINDS if one.match(question)), None)
    boxed = part.kind in ("code", "list") or part.passage.hit.kind == ChunkKind.INFOBOX
    if boxed or "|" in part.text:
        return False
    text = part.shown
    if asks is None:
        return lacks_amount(question, text)
    if part.kind == "row" and (asks is _PLACED or (asks is _DATED and _NUMBER.search(text))):
        return False
    if asks is _COUNTED:
        said = set(_NUMBER.findall(question))
        text = _NUMBER.sub(lambda one: "" if one[0] in said else one[0], _DATES.sub(" ", text))
    return _KINDS[asks].search(text) is None
