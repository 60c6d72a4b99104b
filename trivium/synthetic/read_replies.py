"""Parses model replies: the requested JSON, or the reason why a reply could not be parsed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.answering.passage_prompts import SENTENCE_NUMBER
from trivium.llm.json_replies import (
    JsonSchema,
    json_objects,
    listed_objects,
    object_schema,
    one_line,
    whole_number,
)
from trivium.synthetic.records import CRITERIA

QUESTION_CHARACTERS, ANSWER_CHARACTERS = 300, 80
"""Maximum length of question and answer in a schema, because a small model may never end an unbounded string."""

DRAFT_SCHEMA = object_schema(
    {
        "question": {"type": ["string", "null"], "maxLength": QUESTION_CHARACTERS},
        "answer": {"type": ["string", "null"], "maxLength": ANSWER_CHARACTERS},
        "passages": {"type": ["array", "null"], "items": {"type": "integer"}, "maxItems": 8},
        "declined": {"type": ["string", "null"], "maxLength": ANSWER_CHARACTERS},
    }
)
"""JSON schema of a writer's reply. Values that do not apply are null."""


def scores_schema(criteria: Sequence[str] = CRITERIA) -> JsonSchema:
    """Return the JSON schema of a judge's reply."""
    return object_schema({name: {"type": "integer", "enum": list(range(1, 11))} for name in criteria})


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as written by the model. ``numbers`` are the passages it reports as used: distinct, in the model's
    order.
    """

    question: str
    answer: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlainDraft:
    """A plain question as written by the model. ``sentence`` is the number of the sentence it names, from 1; 0 for
    none.
    """

    question: str
    answer: str
    sentence: int


@dataclass(frozen=True, slots=True)
class Declined:
    """The model reports that no question is possible."""

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
        return Declined(one_line(declined) if isinstance(declined, str) else "")
    question, answer, numbers = value["question"], value.get("answer"), value.get("passages")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = str(answer)
    if not isinstance(question, str) or not isinstance(answer, str) or not isinstance(numbers, list):
        return Unreadable("question and answer are not text, or passages is no list")
    parsed = [whole_number(number) for number in numbers]
    if None in parsed:
        return Unreadable("passages are not numbers")
    return Draft(
        one_line(question),
        one_line(answer),
        tuple(dict.fromkeys(number for number in parsed if number is not None)),
    )


def plain_schema(count: int) -> JsonSchema:
    """Return the JSON schema of a writer's reply with up to ``count`` plain questions."""
    question = object_schema(
        {
            "question": {"type": "string", "maxLength": QUESTION_CHARACTERS},
            "answer": {"type": "string", "maxLength": ANSWER_CHARACTERS},
            "sentence": SENTENCE_NUMBER,
        }
    )
    return object_schema({"questions": {"type": "array", "items": question, "maxItems": count}})


def read_plain(text: str) -> list[PlainDraft] | Unreadable:
    """Parse a writer's reply with plain questions. Invalid ones are left out.

    >>> read_plain('{"questions": [{"question": "Who?", "answer": "Hall", "sentence": 2}, {"question": 1}]}')
    [PlainDraft(question='Who?', answer='Hall', sentence=2)]
    >>> read_plain('{"questions": []}')
    []
    >>> read_plain("Who?")
    Unreadable(reason='no JSON object with questions')
    """
    value = listed_objects(text, "questions", "question")
    if value is None:
        return Unreadable("no JSON object with questions")
    drafts = []
    for one in value:
        question, answer = one.get("question"), one.get("answer")
        answer = str(answer) if isinstance(answer, int | float) and not isinstance(answer, bool) else answer
        if isinstance(question, str) and isinstance(answer, str):
            drafts.append(
                PlainDraft(one_line(question), one_line(answer), whole_number(one.get("sentence")) or 0)
            )
    return drafts if drafts or not value else Unreadable("no question with an answer")


def read_scores(text: str, criteria: Sequence[str] = CRITERIA) -> dict[str, int] | Unreadable:
    """Parse a judge's reply: the scores, 1 to 10, of all criteria.

    >>> read_scores('{"multi_hop": 9, "clear": "8", "unambiguous": 7.0, "one_answer": 10, "note": "fine"}')
    {'multi_hop': 9, 'clear': 8, 'unambiguous': 7, 'one_answer': 10}
    >>> read_scores('{"multi_hop": 11}')
    Unreadable(reason='no score from 1 to 10 for multi_hop, clear, unambiguous, one_answer')
    """
    value = next(json_objects(text, criteria), None)
    if value is None:
        return Unreadable("no JSON object with scores")
    parsed = {name: whole_number(value.get(name)) for name in criteria}
    scores = {name: score for name, score in parsed.items() if score is not None and 1 <= score <= 10}
    missing = [name for name in criteria if name not in scores]
    return Unreadable(f"no score from 1 to 10 for {', '.join(missing)}") if missing else scores
