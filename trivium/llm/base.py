"""What a chat model is."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from trivium.llm.json_replies import JsonSchema
from trivium.types import Usage

CountedBy = Literal["reported", "tiktoken", "estimated"]
"""Who counted tokens: the endpoint itself, tiktoken's vocabulary, or a rule of thumb over the length."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ReplyUsage:
    """The tokens that an answer took, who counted them, and whether it was ``truncated`` at the limit."""

    prompt_tokens: int
    completion_tokens: int
    counted_by: CountedBy = "reported"
    truncated: bool = False


class Reply(Iterator[str]):
    """An answer while it is written: iterate over its pieces, once.

    ``usage`` is None until the last piece has been taken. Who stops before that closes it, which also stops the model;
    as a context manager it closes itself. Iterating raises ChatModelError when the model fails on the way.
    """

    def __init__(self, pieces: Generator[str, None, ReplyUsage]) -> None:
        """``pieces`` returns what it took."""
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
        """Stop; what was not written yet never will be."""
        self._pieces.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ChatModel(Protocol):
    """Answers a conversation with text. What it says is data, never an instruction.

    With temperature 0 it is asked to say the same again, with one seed; whether it does is up to whoever runs it (the
    local model does). Where a call names no temperature, the model's own holds, by default 0. Threads may share it."""

    @property
    def name(self) -> str: ...

    @property
    def context_tokens(self) -> int:
        """How many tokens fit, conversation and answer together."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens a text takes, or a guess that is rather too high."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> str:
        """The model's answer. Where a ``schema`` is given and the model can be held to it, the answer is JSON of that
        schema; it may still be something else, or cut off. Raises ChatModelError."""
        ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> Reply:
        """The model's answer piece by piece. Raises ChatModelError, here or while it is read."""
        ...


def usage_of(reply: Reply, model: ChatModel, messages: Sequence[Message], text: str) -> Usage:
    """The tokens of a reply to ``messages`` of which ``text`` was read: as reported, or, where it was stopped before its
    end, as the model counts them."""
    if reply.usage is not None:
        return Usage(reply.usage.prompt_tokens, reply.usage.completion_tokens)
    return Usage(sum(model.count_tokens(message.content) for message in messages), model.count_tokens(text))
