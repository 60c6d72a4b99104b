"""Scripted servers that speak as Anthropic's Messages API and as the Gemini API do.

They are scripted as :class:`~tests.fakes.openai_server.OpenAIServer` is. Without a script a chat answer repeats the last
message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.openai_server import OpenAIServer, Reply, Request, event, events


class AnthropicServer(OpenAIServer):
    """``/v1/messages``."""

    @property
    def base_url(self) -> str:
        """What a client takes as its base url."""
        return self.address

    def _reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.script:
            return self.script.popleft()
        if request.path != "/v1/messages":
            return anthropic_error(404, "no such path")
        said = request.body["messages"][-1]["content"]
        return anthropic_streamed(said) if request.body.get("stream") else anthropic_message(said)


def anthropic_message(*texts: str, reason: str = "end_turn", usage: tuple[int, int] = (7, 3)) -> Reply:
    """A whole answer."""
    return Reply(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [{"type": "text", "text": text} for text in texts],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": usage[0], "output_tokens": usage[1]},
        }
    )


def named(kind: str, **fields: Any) -> bytes:
    """An event with its name, which is also in its data."""
    return f"event: {kind}\n".encode() + event({"type": kind, **fields})


def anthropic_streamed(
    *pieces: str | float,
    usage: tuple[int, int] | None = (7, 3),
    reason: str = "end_turn",
    hang_up: bool = False,
) -> Reply:
    """An answer piece by piece; numbers are pauses."""
    counts = {} if usage is None else {"usage": {"input_tokens": usage[0], "output_tokens": 1}}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": None}
    chunks: list[bytes | float] = [
        named("message_start", message=message | counts),
        named("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        named("ping"),
    ]
    chunks += [piece if isinstance(piece, float) else anthropic_delta(piece) for piece in pieces]
    if not hang_up:
        counts = {} if usage is None else {"usage": {"output_tokens": usage[1]}}
        chunks.append(named("content_block_stop", index=0))
        chunks.append(named("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, **counts))
        chunks.append(named("message_stop"))
    return events(*chunks, hang_up=hang_up)


def anthropic_delta(text: str, kind: str = "text") -> bytes:
    """An event with text, or with a thought (``thinking``)."""
    return named("content_block_delta", index=0, delta={"type": f"{kind}_delta", kind: text})


def anthropic_error(status: int, message: str, *, headers: Mapping[str, str] | None = None) -> Reply:
    """An error as Anthropic words it."""
    return Reply(anthropic_fault(message), status, headers or {})


def anthropic_fault(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    """What an error says, whole or in a stream."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


class GeminiServer(OpenAIServer):
    """``/v1beta/models/NAME:generateContent`` and ``:streamGenerateContent?alt=sse``."""

    @property
    def base_url(self) -> str:
        """What a client takes as its base url."""
        return self.address

    def _reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.script:
            return self.script.popleft()
        said = request.body["contents"][-1]["parts"][-1]["text"]
        if request.path.endswith(":streamGenerateContent?alt=sse"):
            return gemini_streamed(said)
        return gemini_answer(said) if request.path.endswith(":generateContent") else gemini_error(404, "no")


def _candidate(text: str, reason: str | None = None, *, thought: bool = False) -> dict[str, Any]:
    part = {"text": text} | ({"thought": True} if thought else {})
    candidate = {"content": {"parts": [part], "role": "model"}, "index": 0}
    return candidate | ({} if reason is None else {"finishReason": reason})


def _counts(usage: tuple[int, int] | None) -> dict[str, Any]:
    if usage is None:
        return {}
    return {"usageMetadata": {"promptTokenCount": usage[0], "candidatesTokenCount": usage[1]}}


def gemini_answer(*texts: str, reason: str = "STOP", usage: tuple[int, int] | None = (7, 3)) -> Reply:
    """A whole answer."""
    content = {"parts": [{"text": text} for text in texts], "role": "model"}
    return Reply({"candidates": [{"content": content, "finishReason": reason}], **_counts(usage)})


def gemini_streamed(
    *pieces: str | float,
    usage: tuple[int, int] | None = (7, 3),
    reason: str = "STOP",
    hang_up: bool = False,
) -> Reply:
    """An answer piece by piece; numbers are pauses. The end comes with the last event."""
    chunks: list[bytes | float] = [
        piece if isinstance(piece, float) else gemini_delta(piece) for piece in pieces
    ]
    if not hang_up:
        chunks.append(event({"candidates": [_candidate("", reason)], **_counts(usage)}))
    return events(*chunks, hang_up=hang_up)


def gemini_delta(text: str, kind: str = "text") -> bytes:
    """An event with text, or with a thought (``thinking``)."""
    return event({"candidates": [_candidate(text, thought=kind == "thinking")]})


def gemini_error(status: int, message: str, *, headers: Mapping[str, str] | None = None) -> Reply:
    """An error as Google words it."""
    return Reply(gemini_fault(message, status), status, headers or {})


def gemini_fault(message: str, status: int = 500) -> dict[str, Any]:
    """What an error says, whole or in a stream."""
    return {"error": {"code": status, "message": message, "status": "FAILED"}}


def pieces_of(reply: Reply) -> list[bytes]:
    """The chunks of a scripted reply."""
    return [chunk for chunk in reply.chunks or () if isinstance(chunk, bytes)]


def fault_event(fault: Mapping[str, Any]) -> bytes:
    """An error in the middle of a stream."""
    return b"event: error\n" * ("type" in fault) + b"data: " + json.dumps(fault).encode() + b"\n\n"
