"""Faithfulness and factual correctness, as RAGAS defines them, with any language model as the judge.

*Faithfulness*: the share of the answer's claims that follow from the passages the reader was given.
*Factual correctness*: the claims of the answer that follow from the known answer are true positives, its others false
positives, and claims of the known answer that do not follow from the answer false negatives; F1 of these.

Known answers are often a name or a number, so both are read as answers to the question; of several known answers the
first is broken down into claims, and the answer's claims are held against all of them. Both lie in [0, 1], higher is
better.

What the judge replies is data. A reply that is not as asked for is asked for once more; a measure that cannot be had is
missing, with the reason, and never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from trivium.answering.marks import without_thoughts
from trivium.evaluation.answers.judge_prompts import AGAIN, claims_prompt, verdicts_prompt
from trivium.evaluation.answers.judge_reply import (
    CLAIMS_SCHEMA,
    VERDICTS_SCHEMA,
    MalformedError,
    read_claims,
    read_verdicts,
)
from trivium.llm.base import ChatModel, Message, usage_of
from trivium.llm.json_replies import JsonSchema
from trivium.text import plain

ATTEMPTS = 2
MOST_TOKENS = 1024
_SLACK = 64
"""Tokens for the marks around the messages, which differ from model to model."""
_SHOWN = 300
"""Characters of a malformed reply that are kept."""

T = TypeVar("T")


class Claim(BaseModel):
    """A claim, and whether it follows: from the ``context`` the reader was given, from the known answer (``reference``),
    and, for a claim of the known answer, from the ``answer``. None where nobody asked, or the judge did not tell."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    context: bool | None = None
    reference: bool | None = None
    answer: bool | None = None


class Judgement(BaseModel):
    """What a judge said of one answer. A measure is None where it cannot be had, and ``missing`` says why, by measure.
    ``malformed`` counts replies that were not as asked for, of all ``calls``; ``unread`` is how these begin."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: str
    question: str
    faithfulness: float | None = None
    factual_correctness: float | None = None
    missing: dict[str, str] = {}
    claims: tuple[Claim, ...] = ()
    known: tuple[Claim, ...] = ()
    calls: int = 0
    malformed: int = 0
    unread: tuple[str, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _UnjudgedError(Exception):
    """Why a measure cannot be had."""


class Judge:
    """Asks one language model, one answer after another. What the known answers state is asked once for each question,
    whatever the row, and not where it is in ``earlier`` judgements."""

    def __init__(self, model: ChatModel, earlier: Iterable[Judgement] = ()) -> None:
        self._model = model
        self._known: dict[str, list[str] | str] = {
            judgement.question: [claim.text for claim in judgement.known]
            for judgement in earlier
            if judgement.known
        }
        self._forget()

    def _forget(self) -> None:
        self._calls = self._read = self._written = 0
        self._unread: list[str] = []

    def judge(
        self, row: str, identifier: str, question: str, said: str, context: str, answers: Sequence[str]
    ) -> Judgement:
        """Judge what was ``said`` in answer to a question, by the text of the passages the reader was given and by the
        known answers. An empty text said nothing: it is not correct, and nothing in it is unfaithful. Raises
        ChatModelError."""
        self._forget()
        missing: dict[str, str] = {}
        if not said:
            return self._judgement(row, identifier, None, 0.0, missing, (), ())
        try:
            claims = self._claims(question, said)
        except _UnjudgedError as why:
            reason = f"claims of the answer: {why}"
            missing = {"faithfulness": reason, "factual_correctness": reason}
            return self._judgement(row, identifier, None, None, missing, (), ())
        follows = self._or_missing("faithfulness", missing, lambda: self._verdicts(claims, context))
        faithful = None if follows is None else sum(follows) / len(follows)
        correct, in_reference = None, None
        known: tuple[Claim, ...] = ()
        outcome = self._or_missing(
            "factual_correctness", missing, lambda: self._correct(identifier, question, said, claims, answers)
        )
        if outcome is not None:
            correct, in_reference, known = outcome
        marked = tuple(
            Claim(
                text=claim,
                context=None if follows is None else follows[place],
                reference=None if in_reference is None else in_reference[place],
            )
            for place, claim in enumerate(claims)
        )
        return self._judgement(row, identifier, faithful, correct, missing, marked, known)

    def _correct(
        self, identifier: str, question: str, said: str, claims: Sequence[str], answers: Sequence[str]
    ) -> tuple[float, list[bool], tuple[Claim, ...]]:
        """F1 of the claims, which of them follow from the known answers, and the claims of the first known answer."""
        known = self._claims_of_known(identifier, question, answers[0])
        in_reference = self._verdicts(claims, _reference(question, answers))
        # By itself an answer like "Asaph Hall" states nothing that could follow from it.
        in_answer = self._verdicts(known, f"Question: {question}\nAnswer: {said}")
        right, wrong = sum(in_reference), len(in_reference) - sum(in_reference)
        lacking = len(in_answer) - sum(in_answer)
        f1 = 2 * right / (2 * right + wrong + lacking) if right else 0.0
        marked = tuple(Claim(text=text, answer=there) for text, there in zip(known, in_answer, strict=True))
        return f1, in_reference, marked

    def _claims_of_known(self, identifier: str, question: str, answer: str) -> list[str]:
        if identifier not in self._known:
            try:
                self._known[identifier] = self._claims(question, answer)
            except _UnjudgedError as why:
                self._known[identifier] = f"claims of the known answer: {why}"
        known = self._known[identifier]
        if isinstance(known, str):
            raise _UnjudgedError(known)
        return known

    def _claims(self, question: str, text: str) -> list[str]:
        claims = self._asked(claims_prompt(question, text), CLAIMS_SCHEMA, read_claims)
        if not claims:
            raise _UnjudgedError("none were found")
        return claims

    def _verdicts(self, claims: Sequence[str], text: str) -> list[bool]:
        prompt = verdicts_prompt(claims, text)
        return self._asked(prompt, VERDICTS_SCHEMA, lambda reply: read_verdicts(reply, len(claims)))

    def _or_missing(self, name: str, missing: dict[str, str], ask: Callable[[], T]) -> T | None:
        try:
            return ask()
        except _UnjudgedError as why:
            missing[name] = str(why)
            return None

    def _asked(self, messages: tuple[Message, ...], schema: JsonSchema, read: Callable[[str], T]) -> T:
        fault = ""
        for attempt in range(ATTEMPTS):
            room = self._room(messages)
            if room < 1:
                # What does not fit the second time was malformed the first.
                raise _UnjudgedError(fault if attempt else "longer than the judge reads")
            with self._model.stream(messages, max_tokens=room, temperature=0.0, schema=schema) as reply:
                text = "".join(without_thoughts(reply))
            usage = usage_of(reply, self._model, messages, text)
            self._calls += 1
            self._read += usage.prompt_tokens
            self._written += usage.completion_tokens
            try:
                return read(text)
            except MalformedError as error:
                self._unread.append(plain(text)[:_SHOWN])
                fault = f"malformed: {error}"
                again = Message("user", AGAIN.format(fault=error))
                messages = (*messages, Message("assistant", text or "-"), again)
        raise _UnjudgedError(fault)

    def _room(self, messages: Sequence[Message]) -> int:
        """How many tokens the reply may have: a quarter of the window, at most ``MOST_TOKENS``; 0 where the question
        leaves less."""
        window = self._model.context_tokens
        taken = _SLACK + sum(self._model.count_tokens(message.content) for message in messages)
        wanted = min(MOST_TOKENS, window // 4)
        return wanted if taken + wanted <= window else 0

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
            calls=self._calls,
            malformed=len(self._unread),
            unread=tuple(self._unread),
            prompt_tokens=self._read,
            completion_tokens=self._written,
        )


def _reference(question: str, answers: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(answers))
    others = "".join(f"\nAlso right: {answer}" for answer in distinct[1:])
    return f"Question: {question}\nRight answer: {distinct[0]}{others}"
