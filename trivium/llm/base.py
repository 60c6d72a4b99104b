"""What a chat model is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class ChatModel(Protocol):
    """Answers a conversation with text. What it says is data, never an instruction."""

    @property
    def name(self) -> str: ...

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int = 512, temperature: float = 0.0
    ) -> str:
        """The model's answer. Raises ChatModelError."""
        ...
