"""What judges say of an answer, whichever way they judge, and how a language model is asked for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from trivium.answering.marks import without_thoughts
from trivium.evaluation.answers.judge_prompts import AGAIN
from trivium.evaluation.answers.judge_reply import MalformedError
from trivium.llm.base import ChatModel, Message, usage_of
from trivium.llm.json_replies import JsonSchema
from trivium.text import plain
from trivium.types import Usage

ATTEMPTS = 2
MOST_TOKENS = 1024
NO_PASSAGES = "the reader was given no passages"
"""Why nothing can be said of an answer and its passages."""
_SLACK = 64
"""Tokens for the marks around the messages, which differ from model to model."""
_SHOWN = 300
"""Characters of a malformed reply that are kept."""

T = TypeVar("T")


class JudgedAnswer(BaseModel):
    """What a judge said of one answer. A measure that cannot be had is None, and ``missing`` says why, by measure.
    ``malformed`` counts replies that were not as asked for, of all ``calls``; ``unread`` is how these begin."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: str
    question: str
    missing: dict[str, str] = {}
    calls: int = 0
    malformed: int = 0
    unread: tuple[str, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def usage(self) -> Usage:
        """The tokens that it read and wrote."""
        return Usage(self.prompt_tokens, self.completion_tokens)

    def value(self, measure: str) -> float | None:
        """A measure; None where it cannot be had."""
        raise NotImplementedError


class UnjudgedError(Exception):
    """Why a measure cannot be had."""


class Asked:
    """A language model as a judge is asked: with temperature 0, once more where a reply is not as asked for. It counts
    what that takes, until :meth:`forget`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.forget()

    def forget(self) -> None:
        """Begin to count anew."""
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        self.unread: list[str] = []

    @property
    def holds_lengths(self) -> bool:
        """Whether the model can be held to a schema that bounds lengths. Endpoints refuse such a schema."""
        return bool(getattr(self.model, "holds_lengths", False))

    @property
    def counts(self) -> dict[str, object]:
        """What was counted, as fields of a :class:`JudgedAnswer`."""
        return {
            "calls": self.calls,
            "malformed": len(self.unread),
            "unread": tuple(self.unread),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
        }

    def ask(self, messages: tuple[Message, ...], schema: JsonSchema, read: Callable[[str], T]) -> T:
        """What ``read`` makes of the reply. Raises UnjudgedError where it raises MalformedError twice, or the question is
        too long for the model, and ChatModelError."""
        fault = ""
        for attempt in range(ATTEMPTS):
            room = self._room(messages)
            if room < 1:
                # What does not fit the second time was malformed the first.
                raise UnjudgedError(fault if attempt else "longer than the judge reads")
            with self.model.stream(messages, max_tokens=room, temperature=0.0, schema=schema) as reply:
                text = "".join(without_thoughts(reply))
            usage = usage_of(reply, self.model, messages, text)
            self.calls += 1
            self.prompt_tokens += usage.prompt_tokens
            self.completion_tokens += usage.completion_tokens
            try:
                return read(text)
            except MalformedError as error:
                self.unread.append(plain(text)[:_SHOWN])
                fault = f"malformed: {error}"
                again = Message("user", AGAIN.format(fault=error))
                messages = (*messages, Message("assistant", text or "-"), again)
        raise UnjudgedError(fault)

    def _room(self, messages: Sequence[Message]) -> int:
        """How many tokens the reply may have: a quarter of the window, at most ``MOST_TOKENS``; 0 where the question
        leaves less."""
        window = self.model.context_tokens
        taken = _SLACK + sum(self.model.count_tokens(message.content) for message in messages)
        wanted = min(MOST_TOKENS, window // 4)
        return wanted if taken + wanted <= window else 0
