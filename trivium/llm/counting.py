"""What a language model was made to read and write."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from trivium.llm.base import ChatModel, Message

CHARACTERS_A_TOKEN = 4
"""The rule of thumb for English, where nothing says it better."""


class CountedModel:
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
    def tokens(self) -> int:
        """About how many tokens that was, questions and answers together."""
        return -(-self.characters // CHARACTERS_A_TOKEN)

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int = 512, temperature: float = 0.0
    ) -> str:
        """The model's answer; also a call that fails has been paid for. Raises ChatModelError."""
        with self._lock:
            self.calls += 1
            self.characters += sum(len(message.content) for message in messages)
        answer = self._model.complete(messages, max_tokens=max_tokens, temperature=temperature)
        with self._lock:
            self.characters += len(answer)
        return answer
