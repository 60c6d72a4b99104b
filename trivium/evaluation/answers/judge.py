"""Faithfulness and factual correctness as defined by RAGAS, with any language model as the judge.

*Faithfulness*: the share of the answer's claims that follow from the passages the reader was given.

*Factual correctness*: claims of the answer that follow from the known answer are true positives, its other claims
false positives, and claims of the known answer that do not follow from the answer false negatives. The measure is
their F1. Known answers are often a name or a number, so both are read as answers to the question. Of several known
answers the first is split into claims, and the answer's claims are compared with all of them. Both measures lie in
[0, 1], higher is better.

Replies of the judge are data. A malformed reply is requested once more; a measure that cannot be obtained is missing,
with the reason, and never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from trivium.evaluation.answers.judge_prompts import claims_prompt, verdicts_prompt
from trivium.evaluation.answers.judge_reply import (
    CLAIMS_SCHEMA,
    VERDICTS_SCHEMA,
    Verdict,
    bounded_verdicts_schema,
    read_claims,
    read_verdicts,
)
from trivium.evaluation.answers.judged import NO_PASSAGES, Asked, JudgedAnswer, UnjudgedError
from trivium.llm.base import ChatModel

MEASURES = ("faithfulness", "factual_correctness")

T = TypeVar("T")


class Claim(BaseModel):
    """A claim, and whether it follows from the ``context`` the reader was given, from the known answer
    (``reference``), and, for a claim of the known answer, from the ``answer``. None if it was not asked, or not
    answered. ``reasons`` are the judge's, under the same names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    context: bool | None = None
    reference: bool | None = None
    answer: bool | None = None
    reasons: dict[str, str] = {}


class Judgement(JudgedAnswer):
    """The judgement of one answer, claim by claim."""

    faithfulness: float | None = None
    factual_correctness: float | None = None
    claims: tuple[Claim, ...] = ()
    known: tuple[Claim, ...] = ()

    def value(self, measure: str) -> float | None:
        """See :class:`~trivium.evaluation.answers.judged.JudgedAnswer`."""
        return {"faithfulness": self.faithfulness, "factual_correctness": self.factual_correctness}[measure]


class Judge:
    """Asks one language model about one answer at a time. The claims of a known answer are requested once per
    question, whatever the row, unless they are in ``earlier`` judgements.
    """

    def __init__(self, model: ChatModel, earlier: Iterable[Judgement] = ()) -> None:
        self._asked = Asked(model)
        self._known: dict[str, list[str] | str] = {
            judgement.question: [claim.text for claim in judgement.known]
            for judgement in earlier
            if judgement.known
        }

    def judge(
        self, row: str, identifier: str, question: str, said: str, context: str, answers: Sequence[str]
    ) -> Judgement:
        """Judge what was ``said`` in answer to a question, given the text of the passages the reader received and the
        known answers. An empty text is not correct, and contains nothing unfaithful. Raises ChatModelError.
        """
        self._asked.forget()
        missing: dict[str, str] = {}
        if not said:
            return self._judgement(row, identifier, None, 0.0, missing, (), ())
        try:
            claims = self._claims(question, said)
        except UnjudgedError as why:
            reason = f"claims of the answer: {why}"
            missing = {"faithfulness": reason, "factual_correctness": reason}
            return self._judgement(row, identifier, None, None, missing, (), ())
        follows = None
        if context:
            follows = self._or_missing("faithfulness", missing, lambda: self._verdicts(claims, context))
        else:
            missing["faithfulness"] = NO_PASSAGES
        faithful = None if follows is None else sum(v.follows for v in follows) / len(follows)
        correct, in_reference = None, None
        known: tuple[Claim, ...] = ()
        outcome = self._or_missing(
            "factual_correctness", missing, lambda: self._correct(identifier, question, said, claims, answers)
        )
        if outcome is not None:
            correct, in_reference, known = outcome
        marked = tuple(
            _claim(
                claim,
                context=None if follows is None else follows[place],
                reference=None if in_reference is None else in_reference[place],
            )
            for place, claim in enumerate(claims)
        )
        return self._judgement(row, identifier, faithful, correct, missing, marked, known)

    def _correct(
        self, identifier: str, question: str, said: str, claims: Sequence[str], answers: Sequence[str]
    ) -> tuple[float, list[Verdict], tuple[Claim, ...]]:
        """Return the F1 of the claims, their verdicts against the known answers, and the claims of the first known
        answer.
        """
        known = self._claims_of_known(identifier, question, answers[0])
        in_reference = self._verdicts(claims, _reference(question, answers))
        # Without the question, an answer like "Asaph Hall" has no content that anything could follow from.
        in_answer = self._verdicts(known, f"Question: {question}\nAnswer: {said}")
        right = sum(verdict.follows for verdict in in_reference)
        wrong = len(in_reference) - right
        lacking = sum(not verdict.follows for verdict in in_answer)
        f1 = 2 * right / (2 * right + wrong + lacking) if right else 0.0
        marked = tuple(_claim(text, answer=there) for text, there in zip(known, in_answer, strict=True))
        return f1, in_reference, marked

    def _claims_of_known(self, identifier: str, question: str, answer: str) -> list[str]:
        if identifier not in self._known:
            try:
                self._known[identifier] = self._claims(question, answer)
            except UnjudgedError as why:
                self._known[identifier] = f"claims of the known answer: {why}"
        known = self._known[identifier]
        if isinstance(known, str):
            raise UnjudgedError(known)
        return known

    def _claims(self, question: str, text: str) -> list[str]:
        claims = self._asked.ask(claims_prompt(question, text), CLAIMS_SCHEMA, read_claims)
        if not claims:
            raise UnjudgedError("none were found")
        return claims

    def _verdicts(self, claims: Sequence[str], text: str) -> list[Verdict]:
        prompt = verdicts_prompt(claims, text)
        bounded = self._asked.holds_lengths
        schema = bounded_verdicts_schema(len(claims)) if bounded else VERDICTS_SCHEMA
        return self._asked.ask(prompt, schema, lambda reply: read_verdicts(reply, len(claims)))

    def _or_missing(self, name: str, missing: dict[str, str], ask: Callable[[], T]) -> T | None:
        try:
            return ask()
        except UnjudgedError as why:
            missing[name] = str(why)
            return None

    def _judgement(
        self,
        row: str,
        question: str,
        faithfulness: float | None,
        correctness: float | None,
        missing: dict[str, str],
        claims: tuple[Claim, ...],
        known: tuple[Claim, ...],
    ) -> Judgement:
        return Judgement(
            row=row,
            question=question,
            faithfulness=faithfulness,
            factual_correctness=correctness,
            missing=missing,
            claims=claims,
            known=known,
            **self._asked.counts,  # type: ignore[arg-type]
        )


def _claim(text: str, **verdicts: Verdict | None) -> Claim:
    told = {name: verdict for name, verdict in verdicts.items() if verdict is not None}
    return Claim(
        text=text,
        reasons={name: verdict.reason for name, verdict in told.items() if verdict.reason},
        **{name: verdict.follows for name, verdict in told.items()},
    )


def _reference(question: str, answers: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(answers))
    others = "".join(f"\nAlso right: {answer}" for answer in distinct[1:])
    return f"Question: {question}\nRight answer: {distinct[0]}{others}"
