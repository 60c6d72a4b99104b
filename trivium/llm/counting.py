"""Counting what a language model reads and writes."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence

from trivium.llm.base import ChatModel, Message, Reply, ReplyUsage
from trivium.llm.json_replies import JsonSchema

CHARACTERS_A_TOKEN = 4
"""The rule of thumb for English, where nothing says it better."""


class CountingChatModel:
    """A chat model that counts its calls and the characters that went each way. Threads may share it."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self.calls = 0
        self.characters = 0

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    @property
    def context_tokens(self) -> int:
        """The model's own window."""
        return self._model.context_tokens

    @property
    def tokens(self) -> int:
        """About how many tokens that was, questions and answers together."""
        return -(-self.characters // CHARACTERS_A_TOKEN)

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
        """The model's answer; also a call that fails has been paid for. Raises ChatModelError."""
        self._count_call(messages)
        answer = self._model.complete(messages, max_tokens=max_tokens, temperature=temperature, schema=schema)
        self._count(answer)
        return answer

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> Reply:
        """The model's answer, counted as far as it is read. Raises ChatModelError."""
        self._count_call(messages)
        reply = self._model.stream(messages, max_tokens=max_tokens, temperature=temperature, schema=schema)
        return Reply(self._counted(reply))

    def _counted(self, reply: Reply) -> Generator[str, None, ReplyUsage]:
        with reply:
            for piece in reply:
                self._count(piece)
                yield piece
        return reply.usage if reply.usage is not None else ReplyUsage(0, 0, "estimated")

    def _count_call(self, messages: Sequence[Message]) -> None:
        with self._lock:
            self.calls += 1
        for message in messages:
            self._count(message.content)

    def _count(self, text: str) -> None:
        with self._lock:
            self.characters += len(text)
