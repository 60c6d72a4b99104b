"""Counting what a language model reads and writes."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence

from trivium.errors import ChatModelError
from trivium.llm.base import ChatModel, Message, Reply, ReplyUsage, usage_of
from trivium.llm.json_replies import JsonSchema
from trivium.types import Usage


class CountingChatModel:
    """A chat model that counts its calls and the tokens that went each way: as the model reports them, and by its own
    count where it does not come to that. Threads may share it."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._usage = Usage()
        self.calls = 0

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    @property
    def context_tokens(self) -> int:
        """The model's own window."""
        return self._model.context_tokens

    @property
    def holds_lengths(self) -> bool:
        """Whether the model can be held to a schema that bounds lengths."""
        return bool(getattr(self._model, "holds_lengths", False))

    @property
    def usage(self) -> Usage:
        """The tokens read and written so far."""
        return self._usage

    @property
    def tokens(self) -> int:
        """Those read and written together."""
        return self._usage.total

    def count_tokens(self, text: str) -> int:
        """The model's own count; not a call."""
        return self._model.count_tokens(text)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> str:
        """The model's answer, streamed, since only a stream reports its tokens. Raises ChatModelError."""
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
        """The model's answer, counted as far as it is read; also a call that fails has been paid for. Raises
        ChatModelError."""
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
