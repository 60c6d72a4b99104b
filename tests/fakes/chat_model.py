"""A chat model that says what a test wants it to say."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from trivium.llm.chat_model import Message, Reply, ReplyUsage
from trivium.llm.json_replies import JsonSchema

Say = str | Callable[[Sequence[Message]], str]


class ScriptedModel:
    """Gives its answers one after another, the last one for ever; one may be worked out from the conversation. They are
    streamed a few characters at a time. ``asked`` are the conversations it was given."""

    name = "scripted"

    def __init__(self, *answers: Say, context_tokens: int = 8192, cut: bool = False, step: int = 3) -> None:
        self._answers = answers
        self.context_tokens = context_tokens
        self._cut = cut
        self._step = step
        self.asked: list[tuple[Message, ...]] = []
        self.closed = 0

    def count_tokens(self, text: str) -> int:
        """A token is four characters."""
        return -(-len(text) // 4)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> str:
        """The next answer."""
        say = self._answers[min(len(self.asked), len(self._answers) - 1)]
        self.asked.append(tuple(messages))
        return say if isinstance(say, str) else say(messages)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> Reply:
        """The next answer, in pieces."""
        return Reply(self._pieces(self.complete(messages), messages))

    def _pieces(self, text: str, messages: Sequence[Message]) -> Generator[str, None, ReplyUsage]:
        try:
            for start in range(0, len(text), self._step):
                yield text[start : start + self._step]
        finally:
            self.closed += 1
        read = sum(self.count_tokens(message.content) for message in messages)
        return ReplyUsage(read, self.count_tokens(text), truncated=self._cut)
