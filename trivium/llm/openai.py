"""A chat model behind any OpenAI-compatible endpoint: OpenAI, Azure, llama.cpp, vLLM, Ollama, LM Studio ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trivium.endpoints.failures import EndpointError
from trivium.errors import ChatModelError
from trivium.llm.base import Message
from trivium.llm.hosted import Delta, HostedChatModel, as_count
from trivium.llm.json_replies import JsonSchema


class OpenAIChatModel(HostedChatModel):
    """Sends requests to ``<base url>/chat/completions``; see :class:`~trivium.llm.hosted.HostedChatModel`."""

    expected = "choices[0].delta"
    optional = frozenset({"temperature", "seed", "stream_options", "response_format"})
    schema_parameters = frozenset({"response_format"})

    def path(self, stream: bool) -> str:  # noqa: ARG002 - the same for both
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        return "/chat/completions"

    def body(
        self, messages: Sequence[Message], max_tokens: int, temperature: float, schema: JsonSchema | None
    ) -> dict[str, Any]:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        body = {
            "model": self.name,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": self.seed,
        }
        if schema is not None:
            described = {"name": "reply", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": described}
        return body

    def streaming(self, body: dict[str, Any]) -> dict[str, Any]:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        return body | {"stream": True, "stream_options": {"include_usage": True}}

    def without(self, body: dict[str, Any], refused: frozenset[str]) -> dict[str, Any]:
        """See :class:`~trivium.llm.hosted.HostedChatModel`. Reasoning models need ``max_completion_tokens`` instead of
        ``max_tokens``.
        """
        sent = super().without(body, refused)
        return sent | {"max_completion_tokens": body["max_tokens"]} if "max_tokens" in refused else sent

    def refused(self, error: EndpointError) -> frozenset[str]:
        """See :class:`~trivium.llm.hosted.HostedChatModel`. Reasoning models reject a temperature, others a seed or a
        schema. Most name the parameter, some only mention it.
        """
        if error.status in (400, 422) and error.parameter is not None:
            return frozenset({error.parameter.partition(".")[0]} & {"max_tokens", *self.optional})
        told = EndpointError(str(error).replace("json_schema", "response_format"), error.status)
        return super().refused(told)

    def content(self, answer: dict[str, Any]) -> str:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ChatModelError(
                f"{self.name}: expected choices[0].message.content, got an answer without it"
            ) from error
        if not isinstance(content, str):
            raise self.error(f"expected text, got {type(content).__name__} (a refusal?)")
        return content

    def delta(self, event: dict[str, Any]) -> Delta | None:
        """See :class:`~trivium.llm.hosted.HostedChatModel`. Events without a choice contain at most the usage."""
        read, wrote = _usage(event)
        choice = _choice(event)
        if choice is None:
            return None if read is None else Delta(read=read, wrote=wrote, part=False)
        reason = choice.get("finish_reason")
        return Delta(_text(choice), _adds(choice), reason is not None, reason == "length", read, wrote)


def _choice(event: dict[str, Any]) -> dict[str, Any] | None:
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _text(choice: dict[str, Any]) -> str:
    """Return the text that an event adds; the entire text if the endpoint does not stream."""
    message = choice.get("delta", choice.get("message"))
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def _adds(choice: dict[str, Any]) -> bool:
    """Whether a choice adds text of any kind: answer, thinking of a reasoning model, refusal ..."""
    delta = choice.get("delta")
    return isinstance(delta, dict) and any(
        isinstance(value, str) and value for name, value in delta.items() if name != "role"
    )


def _usage(event: dict[str, Any]) -> tuple[int | None, int | None]:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None, None
    read, wrote = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
    return (read, wrote) if read is not None and wrote is not None else (None, None)
