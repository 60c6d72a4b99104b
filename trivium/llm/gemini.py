"""Google's Gemini models, through the Gemini API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trivium.llm.base import Message
from trivium.llm.hosted import Delta, HostedChatModel, as_count
from trivium.llm.json_replies import JsonSchema

_SCHEMA = ("response_mime_type", "response_json_schema")
_AS_SENT = {"responseMimeType": "response_mime_type", "responseJsonSchema": "response_json_schema"}
"""The endpoint's names of parameters that the package names differently."""


class GeminiChatModel(HostedChatModel):
    """Sends requests to ``<base url>/v1beta/models/NAME:generateContent``; see
    :class:`~trivium.llm.hosted.HostedChatModel`.
    """

    expected = "candidates[0].content"
    optional = frozenset({"temperature", "seed", *_SCHEMA, *_AS_SENT})
    schema_parameters = frozenset({*_SCHEMA, *_AS_SENT})

    def path(self, stream: bool) -> str:  # noqa: ARG002 - the package knows both
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        return self.name

    def body(
        self, messages: Sequence[Message], max_tokens: int, temperature: float, schema: JsonSchema | None
    ) -> dict[str, Any]:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        config: dict[str, Any] = {
            "max_output_tokens": max_tokens,
            "temperature": temperature,
            "seed": self.seed,
            # One request per answer: no functions to call, and no automatic continuation of a long answer.
            "automatic_function_calling": {"disable": True},
            "automatic_continuation": False,
        }
        if system:
            config["system_instruction"] = system
        if schema is not None:
            config |= {"response_mime_type": "application/json", "response_json_schema": schema}
        contents = [
            {"role": "model" if message.role == "assistant" else "user", "parts": [{"text": message.content}]}
            for message in messages
            if message.role != "system"
        ]
        return {"contents": contents, "config": config}

    def without(self, body: dict[str, Any], refused: frozenset[str]) -> dict[str, Any]:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        names = {_AS_SENT.get(name, name) for name in refused}
        if not names.isdisjoint(_SCHEMA):
            names.update(_SCHEMA)
        return body | {"config": {name: value for name, value in body["config"].items() if name not in names}}

    def content(self, answer: dict[str, Any]) -> str:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        found = self.delta(answer)
        if found is None or not found.part:
            raise self.error(f"expected {self.expected}, got an answer without it{_why(answer)}")
        return found.text

    def delta(self, event: dict[str, Any]) -> Delta | None:
        """See :class:`~trivium.llm.hosted.HostedChatModel`."""
        candidates = event.get("candidates") or []
        read, wrote = _usage(event.get("usage_metadata") or {})
        if not candidates:
            if _why(event):
                raise self.error(f"the endpoint declined to answer{_why(event)}")
            return None if read is None else Delta(read=read, wrote=wrote, part=False)
        parts = (candidates[0].get("content") or {}).get("parts") or []
        texts = [(part.get("text") or "", bool(part.get("thought"))) for part in parts]
        reason = candidates[0].get("finish_reason")
        return Delta(
            "".join(text for text, thought in texts if not thought),
            progress=any(text for text, _ in texts),
            ended=reason is not None,
            cut=reason == "MAX_TOKENS",
            read=read,
            wrote=wrote,
        )


def _usage(usage: dict[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens of prompt and answer. Thinking tokens are reported separately and have to be added."""
    read, wrote = as_count(usage.get("prompt_token_count")), as_count(usage.get("candidates_token_count"))
    if read is None or wrote is None:
        return None, None
    return read, wrote + (as_count(usage.get("thoughts_token_count")) or 0)


def _why(answer: dict[str, Any]) -> str:
    reason = (answer.get("prompt_feedback") or {}).get("block_reason")
    return f" ({reason})" if isinstance(reason, str) else ""
