"""Anthropic's models, through their Messages API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trivium.llm.base import Message
from trivium.llm.hosted import Delta, HostedChatModel, as_count
from trivium.llm.json_replies import JsonSchema

_CUT = ("max_tokens", "model_context_window_exceeded")
"""Stop reasons of truncated answers."""


class AnthropicChatModel(HostedChatModel):
    """Sends requests to ``<base url>/v1/messages``; see :class:`~trivium.llm.hosted.HostedChatModel`. This API has no
    seed.
    """

    expected = "a message"
    optional = frozenset({"temperature", "output_config"})
    schema_parameters = frozenset({"output_config"})

    def path(self, stream: bool) -> str:  # noqa: ARG002 - the same for both
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        return "/v1/messages"

    def body(
        self, messages: Sequence[Message], max_tokens: int, temperature: float, schema: JsonSchema | None
    ) -> dict[str, Any]:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": max_tokens,
            "temperature": temperature,
            "messages": [
                {"role": message.role, "content": message.content}
                for message in messages
                if message.role != "system"
            ],
        }
        if system:
            body["system"] = system
        if schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body

    def streaming(self, body: dict[str, Any]) -> dict[str, Any]:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        return body | {"stream": True}

    def content(self, answer: dict[str, Any]) -> str:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        if not isinstance(answer.get("content"), list):
            raise self.error(f"expected {self.expected} with content, got an answer without it")
        return _text(answer)

    def delta(self, event: dict[str, Any]) -> Delta | None:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        match event:
            case {"type": "message_start", "message": {"usage": dict(usage)}}:
                return Delta(read=_read(usage))
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str(text)}}:
                return Delta(text)
            case {"type": "content_block_delta", "delta": dict(other)}:  # thinking and the like
                texts = (value for name, value in other.items() if name != "type")
                return Delta(progress=any(isinstance(text, str) and text for text in texts))
            case {"type": "message_delta", "delta": dict(change)}:
                return _counted(event, cut=change.get("stop_reason") in _CUT)
            case {"type": "message_stop"}:
                return Delta(ended=True)
            case {"type": "message", "content": list()}:  # from an endpoint that does not stream
                return _counted(event, _text(event), cut=event.get("stop_reason") in _CUT)
        return None


def _counted(event: dict[str, Any], text: str = "", *, cut: bool) -> Delta:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return Delta(text, cut=cut)
    return Delta(text, cut=cut, read=_read(usage), wrote=as_count(usage.get("output_tokens")))


def _text(message: dict[str, Any]) -> str:
    """Concatenate the texts of a message."""
    return "".join(
        block["text"]
        for block in message["content"]
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    )


def _read(usage: dict[str, Any]) -> int | None:
    """Return the number of prompt tokens. Cached tokens are reported separately and have to be added."""
    if as_count(usage.get("input_tokens")) is None:
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(as_count(usage.get(name)) or 0 for name in names)
