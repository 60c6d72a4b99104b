"""Counts the tokens read and written by a language model."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence

from trivium.errors import ChatModelError
from trivium.llm.chat_model import ChatModel, Message, Reply, ReplyUsage, usage_of
from trivium.llm.json_replies import JsonSchema
from trivium.types import Usage


class CountingChatModel:
    """A chat model that counts its calls and tokens, as reported by the wrapped model, or counted by it if a reply was
    not completed. Thread-safe.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._usage = Usage()
        self.calls = 0

    @property
    def name(self) -> str:
        """Name of the wrapped model."""
        return self._model.name

    @property
    def context_tokens(self) -> int:
        """Context window of the wrapped model."""
        return self._model.context_tokens

    @property
    def holds_lengths(self) -> bool:
        """Whether the model supports schemas that limit the length of texts."""
        return bool(getattr(self._model, "holds_lengths", False))

    @property
    def usage(self) -> Usage:
        """Tokens read and written so far."""
        return self._usage

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text. Does not count as a call."""
        return self._model.count_tokens(text)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> str:
        """Return the model's answer. It is streamed because only a stream reports its tokens. Raises ChatModelError."""
        with self.stream(messages, max_tokens=max_tokens, temperature=temperature, schema=schema) as reply:
            return "".join(reply)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> Reply:
        """Stream the model's answer and count what is read. Failed calls count as well because they are billed. Raises
        ChatModelError.
        """
        with self._lock:
            self.calls += 1
        try:
            reply = self._model.stream(
                messages, max_tokens=max_tokens, temperature=temperature, schema=schema
            )
        except ChatModelError:
            self._add(Usage(sum(self.count_tokens(message.content) for message in messages), 0))
            raise
        return Reply(self._counted(reply, messages))

    def _counted(self, reply: Reply, messages: Sequence[Message]) -> Generator[str, None, ReplyUsage]:
        read: list[str] = []
        try:
            with reply:
                for piece in reply:
                    read.append(piece)
                    yield piece
        finally:
            used = usage_of(reply, self._model, messages, "".join(read))
            self._add(used)
        if reply.usage is not None:
            return reply.usage
        return ReplyUsage(used.prompt_tokens, used.completion_tokens, "estimated")

    def _add(self, usage: Usage) -> None:
        with self._lock:
            self._usage += usage
