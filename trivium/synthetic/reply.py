"""Parses model replies: the requested JSON, or the reason why a reply could not be parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trivium.llm.json_replies import json_objects, object_schema
from trivium.synthetic.records import CRITERIA
from trivium.text import plain

_MAX_CHARACTERS = 1000
"""Longer questions and answers are cut."""
_NUMBER = re.compile(r"\d{1,4}")

DRAFT_SCHEMA = object_schema(
    {
        "question": {"type": ["string", "null"]},
        "answer": {"type": ["string", "null"]},
        "passages": {"type": ["array", "null"], "items": {"type": "integer"}},
        "declined": {"type": ["string", "null"]},
    }
)
"""JSON schema of a writer's reply: what does not apply is null."""
SCORES_SCHEMA = object_schema({name: {"type": "integer", "enum": list(range(1, 11))} for name in CRITERIA})
"""JSON schema of a judge's reply."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as the model wrote it. ``numbers`` are the passages it says it used: distinct, in the model's order."""

    question: str
    answer: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Declined:
    """The model says that no question is possible."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The reply does not have the requested form."""

    reason: str


def read_draft(text: str) -> Draft | Declined | Unreadable:
    """Parse a writer's reply.

    >>> read_draft('Sure! {"question": "Who?", "answer": "Hall", "passages": [2, "1"]}')
    Draft(question='Who?', answer='Hall', numbers=(2, 1))
    >>> read_draft('{"declined": "nothing in common"}')
    Declined(reason='nothing in common')
    >>> read_draft('{"question": null, "answer": null, "passages": null, "declined": "nothing in common"}')
    Declined(reason='nothing in common')
    >>> read_draft("Who?")
    Unreadable(reason='no JSON object with question or declined')
    """
    value = next(json_objects(text, ("question", "declined")), None)
    if value is None:
        return Unreadable("no JSON object with question or declined")
    if value.get("question") is None:
        declined = value.get("declined")
        return Declined(_line(declined) if isinstance(declined, str) else "")
    question, answer, numbers = value["question"], value.get("answer"), value.get("passages")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = str(answer)
    if not isinstance(question, str) or not isinstance(answer, str) or not isinstance(numbers, list):
        return Unreadable("question and answer are not text, or passages is no list")
    parsed = [_whole(number) for number in numbers]
    if None in parsed:
        return Unreadable("passages are not numbers")
    return Draft(
        _line(question),
        _line(answer),
        tuple(dict.fromkeys(number for number in parsed if number is not None)),
    )


def read_scores(text: str) -> dict[str, int] | Unreadable:
    """Parse a judge's reply: the scores, 1 to 10, of all :data:`CRITERIA`.

    >>> read_scores('{"multi_hop": 9, "clear": "8", "unambiguous": 7.0, "one_answer": 10, "note": "fine"}')
    {'multi_hop': 9, 'clear': 8, 'unambiguous': 7, 'one_answer': 10}
    >>> read_scores('{"multi_hop": 11}')
    Unreadable(reason='no score from 1 to 10 for multi_hop, clear, unambiguous, one_answer')
    """
    value = next(json_objects(text, CRITERIA), None)
    if value is None:
        return Unreadable("no JSON object with scores")
    parsed = {name: _whole(value.get(name)) for name in CRITERIA}
    scores = {name: score for name, score in parsed.items() if score is not None and 1 <= score <= 10}
    missing = [name for name in CRITERIA if name not in scores]
    return Unreadable(f"no score from 1 to 10 for {', '.join(missing)}") if missing else scores


def _whole(value: object) -> int | None:
    """An integer from 0 to 9999, given as a number or as text; None for anything else."""
    if isinstance(value, str):
        return int(value) if _NUMBER.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10_000:
        return None
    return int(value) if value == int(value) else None


def _line(text: str) -> str:
    """A model's text as one line without control characters."""
    return " ".join(plain(text).split())[:_MAX_CHARACTERS]
