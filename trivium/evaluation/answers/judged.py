"""Common parts of all judges: their results, and how the language model is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from trivium.answering.citation_marks import without_thoughts
from trivium.llm.chat_model import ChatModel, Message, usage_of
from trivium.llm.json_replies import JsonSchema
from trivium.text.normalise import plain
from trivium.types import Usage

ATTEMPTS = 2
_AGAIN = "That was not the JSON that was asked for: {fault}. Reply with the JSON alone."
MOST_TOKENS = 1024
NO_PASSAGES = "the reader was given no passages"
"""Reason why an answer cannot be compared with its passages."""
_SLACK = 64
"""Tokens reserved for the markup around messages, which depends on the model."""
_SHOWN = 300
"""Maximum number of characters of a malformed reply that are kept."""

T = TypeVar("T")


class JudgedAnswer(BaseModel):
    """A judge's results for one answer. A measure that could not be obtained is None, and ``missing`` gives the
    reason. ``malformed`` counts malformed replies among all ``calls``; ``unread`` holds their beginnings.
    """

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
        """Tokens read and written."""
        return Usage(self.prompt_tokens, self.completion_tokens)

    def value(self, measure: str) -> float | None:
        """Return a measure; None if it could not be obtained."""
        raise NotImplementedError


class MalformedError(ValueError):
    """A malformed reply. The message says what is wrong with it."""


class UnjudgedError(Exception):
    """The reason why a measure could not be obtained."""


class Asked:
    """Asks a language model as a judge: with temperature 0, and once more after a malformed reply. Counts its usage
    until :meth:`forget`.
    """

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.forget()

    def forget(self) -> None:
        """Reset the counts."""
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        self.unread: list[str] = []

    @property
    def holds_lengths(self) -> bool:
        """Whether the model supports schemas that limit lengths. Endpoints reject them."""
        return bool(getattr(self.model, "holds_lengths", False))

    @property
    def counts(self) -> dict[str, object]:
        """The counts as fields of a :class:`JudgedAnswer`."""
        return {
            "calls": self.calls,
            "malformed": len(self.unread),
            "unread": tuple(self.unread),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
        }

    def ask(self, messages: tuple[Message, ...], schema: JsonSchema, read: Callable[[str], T]) -> T:
        """Return the reply parsed by ``read``. Raises UnjudgedError if it raises MalformedError twice, or the
        question is too long for the model, and ChatModelError.
        """
        fault = ""
        for attempt in range(ATTEMPTS):
            room = self._room(messages)
            if room < 1:
                # If only the second attempt does not fit, report why the first reply was malformed.
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
                again = Message("user", _AGAIN.format(fault=error))
                messages = (*messages, Message("assistant", text or "-"), again)
        raise UnjudgedError(fault)

    def _room(self, messages: Sequence[Message]) -> int:
        """Return the token limit of the reply: a quarter of the window, at most ``MOST_TOKENS``; 0 if the question
        leaves less.
        """
        window = self.model.context_tokens
        taken = _SLACK + sum(self.model.count_tokens(message.content) for message in messages)
        wanted = min(MOST_TOKENS, window // 4)
        return wanted if taken + wanted <= window else 0
