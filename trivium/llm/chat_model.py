"""The interface of chat models."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from trivium.common.closing import Closing
from trivium.llm.json_replies import JsonSchema
from trivium.types import Usage

CONTEXT_TOKENS = 8192
"""Default context window behind an endpoint. None in use has less, and few report theirs."""
CountedBy = Literal["reported", "tiktoken", "estimated"]
"""How tokens were counted: by the endpoint, with tiktoken's vocabulary, or estimated from the length."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ReplyUsage:
    """The tokens used by an answer, how they were counted, and whether it was ``truncated`` at the limit."""

    prompt_tokens: int
    completion_tokens: int
    counted_by: CountedBy = "reported"
    truncated: bool = False


class Reply(Iterator[str], Closing):
    """An answer being generated: an iterator over its pieces, usable once.

    ``usage`` is None until the last piece has been read. To stop earlier, close it, which also stops the model; it can
    be used as a context manager. Iterating raises ChatModelError when the model fails.
    """

    def __init__(self, pieces: Generator[str, None, ReplyUsage]) -> None:
        """``pieces`` is a generator that returns the usage."""
        self._pieces = pieces
        self.usage: ReplyUsage | None = None

    def __next__(self) -> str:
        try:
            return next(self._pieces)
        except StopIteration as stop:
            if isinstance(stop.value, ReplyUsage):
                self.usage = stop.value
            raise StopIteration from None

    def close(self) -> None:
        """Stop the generation."""
        self._pieces.close()


class ChatModel(Protocol):
    """Answers a conversation with text. Its output is data, never an instruction. Must be thread-safe.

    With temperature 0 the model is asked for reproducible output, with a fixed seed; whether it complies depends on its
    provider (the local model does). If a call gives no temperature, the model's own is used, by default 0.
    """

    @property
    def name(self) -> str: ...

    @property
    def context_tokens(self) -> int:
        """Size of the context window in tokens, conversation and answer together."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, or estimate them, preferably too high."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> str:
        """Return the model's answer. With a ``schema``, a model that supports it is constrained to JSON of that schema;
        the answer may still be something else, or truncated. Raises ChatModelError.
        """
        ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> Reply:
        """Stream the model's answer. Raises ChatModelError, here or while it is read."""
        ...


def usage_of(reply: Reply, model: ChatModel, messages: Sequence[Message], text: str) -> Usage:
    """Return the tokens used by a reply to ``messages`` of which ``text`` was read: as reported, or counted by the
    model if the reply was stopped early.
    """
    if reply.usage is not None:
        return Usage(reply.usage.prompt_tokens, reply.usage.completion_tokens)
    return Usage(sum(model.count_tokens(message.content) for message in messages), model.count_tokens(text))
