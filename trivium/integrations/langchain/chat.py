"""A chat model of LangChain as one that writes answers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from trivium.endpoints.token_counts import EstimatedCounter
from trivium.errors import ChatModelError
from trivium.llm.chat_model import CONTEXT_TOKENS, Message, Reply, ReplyUsage

_KINDS: dict[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}


class LangChainChatModel:
    """Implements :class:`~trivium.llm.chat_model.ChatModel` with a model of LangChain, which keeps its own temperature
    and maximum length: providers name these differently. Tokens are estimated where it does not report them.
    """

    context_tokens = CONTEXT_TOKENS

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self._counter = EstimatedCounter()

    @property
    def name(self) -> str:
        """The name of the model, or that of its class."""
        named = (getattr(self._model, field, None) for field in ("model_name", "model"))
        return next((name for name in named if isinstance(name, str) and name), self._model.get_name())

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return self._counter.count(text)

    def complete(self, messages: Sequence[Message], **_options: Any) -> str:
        """Return the model's answer. The options have no effect."""
        with self.stream(messages) as reply:
            return "".join(reply)

    def stream(self, messages: Sequence[Message], **_options: Any) -> Reply:
        """Stream the model's answer. The options have no effect."""
        return Reply(self._pieces(messages))

    def _pieces(self, messages: Sequence[Message]) -> Generator[str, None, ReplyUsage]:
        read = wrote = 0
        text = ""
        try:
            for chunk in self._model.stream([_KINDS[one.role](one.content) for one in messages]):
                used = getattr(chunk, "usage_metadata", None) or {}
                read += used.get("input_tokens", 0)
                wrote += used.get("output_tokens", 0)
                text += chunk.text
                yield chunk.text
        except Exception as error:  # each provider's package has errors of its own
            raise ChatModelError(f"{self.name}: {error}") from error
        if read and wrote:
            return ReplyUsage(read, wrote)
        asked = sum(self.count_tokens(one.content) for one in messages)
        return ReplyUsage(asked, self.count_tokens(text), "estimated")
