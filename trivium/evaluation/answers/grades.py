"""Grades with reasons from any language model: relevancy, correctness, faithfulness, hallucination, specific
information.

Each measure is requested separately, so that they do not influence each other and small models have a single task.
Grades from 1 to 5 are mapped to [0, 1]; ``hallucination`` is inverted, so that 0 means that nothing is invented.

An answer that says nothing was found (a refusal) is neither relevant nor correct and invents nothing; this needs no
judge. It has no faithfulness, because it states nothing. Its specific information is judged by the passages: a correct
refusal counts.

A malformed reply is requested once more; a measure that cannot be obtained is missing, with the reason, and never zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from trivium.evaluation.answers import grade_prompts as prompts
from trivium.evaluation.answers.judged import NO_PASSAGES, Asked, JudgedAnswer, MalformedError, UnjudgedError
from trivium.llm.chat_model import ChatModel, Message
from trivium.llm.json_replies import json_objects, object_schema
from trivium.text.normalise import plain

MEASURES: Final = ("relevancy", "correctness", "faithfulness", "hallucination", "specific_information")
LOWER_IS_BETTER: Final = frozenset({"hallucination"})
_BY_PASSAGES = ("faithfulness", "hallucination", "specific_information")

_MOST_OF_A_REASON = 500
"""Maximum number of characters of a reason that are kept."""
_SHORT_REASON = 120
"""Maximum number of characters of a reason from a small model, which would otherwise never stop."""

_GRADE = {"type": "integer", "enum": list(range(prompts.WORST, prompts.BEST + 1))}
GRADE_SCHEMA = object_schema({"reason": {"type": "string"}, "grade": _GRADE})
SHORT_SCHEMA = object_schema({"reason": {"type": "string", "maxLength": _SHORT_REASON}, "grade": _GRADE})
"""For models that can be constrained to lengths."""


class Grade(BaseModel):
    """A grade from 1 to 5 (best), with its reason. ``asked`` is False if no judge was needed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    grade: int
    reason: str = ""
    asked: bool = True


class Graded(JudgedAnswer):
    """The grades of one answer, by measure."""

    grades: dict[str, Grade] = {}  # noqa: RUF012 - pydantic copies it

    def value(self, measure: str) -> float | None:
        """See :class:`~trivium.evaluation.answers.judged.JudgedAnswer`."""
        given = self.grades.get(measure)
        return None if given is None else as_value(measure, given.grade)


def as_value(measure: str, grade: int) -> float:
    """Convert a grade to the measure's value in [0, 1].

    >>> as_value("correctness", 4), as_value("hallucination", 4)
    (0.75, 0.25)
    """
    share = (grade - prompts.WORST) / (prompts.BEST - prompts.WORST)
    return 1.0 - share if measure in LOWER_IS_BETTER else share


class Grader:
    """Asks one language model for one grade at a time."""

    def __init__(self, model: ChatModel, measures: Sequence[str] = MEASURES) -> None:
        """``measures`` is a subset of :data:`MEASURES`."""
        self._asked = Asked(model)
        self._measures = tuple(measures)

    def grade(
        self, row: str, identifier: str, question: str, said: str, context: str, answers: Sequence[str]
    ) -> Graded:
        """Grade what was ``said`` in answer to a question (empty text: nothing was found), given the passages the
        reader received (empty text: none) and the known answers. Raises ChatModelError.
        """
        self._asked.forget()
        grades: dict[str, Grade] = {}
        missing: dict[str, str] = {}
        for measure in self._measures:
            if measure == "faithfulness" and not said:
                continue
            if measure in _BY_PASSAGES and not context:
                missing[measure] = NO_PASSAGES
                continue
            try:
                grades[measure] = self._grade(measure, question, said, context, answers)
            except UnjudgedError as why:
                missing[measure] = str(why)
        return Graded(
            row=row,
            question=identifier,
            grades=grades,
            missing=missing,
            **self._asked.counts,  # type: ignore[arg-type]
        )

    def _grade(self, measure: str, question: str, said: str, context: str, answers: Sequence[str]) -> Grade:
        if not said and measure != "specific_information":
            best = measure == "hallucination"
            return Grade(grade=prompts.BEST if best else prompts.WORST, reason="it says nothing", asked=False)
        prompt = _prompt(measure, question, said, context, answers)
        schema = SHORT_SCHEMA if self._asked.holds_lengths else GRADE_SCHEMA
        return self._asked.ask(prompt, schema, read_grade)


def _prompt(
    measure: str, question: str, said: str, context: str, answers: Sequence[str]
) -> tuple[Message, ...]:
    if measure == "relevancy":
        return prompts.grade_prompt(prompts.RELEVANCY, question, said)
    if measure == "correctness":
        return prompts.grade_prompt(prompts.CORRECTNESS, question, said, known=answers)
    if measure == "faithfulness":
        return prompts.grade_prompt(prompts.FAITHFULNESS, question, said, passages=context)
    if measure == "hallucination":
        return prompts.grade_prompt(prompts.HALLUCINATION, question, said, passages=context)
    if not said:
        return prompts.grade_prompt(prompts.REFUSAL, question, passages=context)
    return prompts.grade_prompt(prompts.SPECIFIC_INFORMATION, question, said, passages=context)


def read_grade(reply: str) -> Grade:
    """Parse ``{"reason": "...", "grade": 4}``. Raises MalformedError."""
    for value in json_objects(reply, ["grade"]):
        grade = value["grade"]
        if type(grade) is not int or not prompts.WORST <= grade <= prompts.BEST:
            raise MalformedError(f"a grade that is no whole number from {prompts.WORST} to {prompts.BEST}")
        return Grade(grade=grade, reason=_as_reason(value.get("reason")))
    raise MalformedError("no grade")


def _as_reason(value: object) -> str:
    """Return a reason on one line, truncated; empty if there is none."""
    return " ".join(plain(value).split())[:_MOST_OF_A_REASON] if isinstance(value, str) else ""
