"""What the providers' protocols call a question, a piece of an answer and its end, and what each must not be sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ANSWER = "Asaph Hall found the moons of Mars [1]."
KEY = "sk-torture-0123456789abcdef"
_DEEP = b"data: " + b"[" * 100_000 + b"\n\n"
_DEEP_OBJECT = b"data: " + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n\n"
_GIANT = "x" * 2_000_000
_NOT_JSON = (
    b"data: {\n\n",
    b"data: null\n\n",
    b"data: []\n\n",
    b"data: 7\n\n",
    b"data\n\n",
    b"id: 1\nevent: error\ndata: {}\n\n",
)
"""No objects, whatever the protocol."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """``kind`` is the name of the cases; ``model`` and ``settings`` (of an address) make a server ask it; ``path`` is
    where it is asked; ``streamed`` says of the head and the body of a request whether a stream is wanted.

    An answer as a whole is ``whole``, of any content; a stream begins with ``start``, has ``text`` in events and ends
    with ``stop`` and ``done``. ``beginning`` is a whole answer up to its text, ``text_beginning`` an event. ``wordless``
    are events that bring no text, ``broken`` such as there should not be, ``odd`` whole answers (of any content) that are
    none. ``fault`` is an error with a message, ``fault_name`` the name of its event."""

    kind: str
    model: str
    settings: Callable[[str], Mapping[str, str]]
    path: str
    streamed: Callable[[str, str], bool]
    whole: Callable[[Any], Any]
    start: bytes
    text: Callable[[Any], bytes]
    stop: bytes
    done: bytes
    beginning: bytes
    text_beginning: bytes
    wordless: tuple[bytes, ...]
    broken: tuple[bytes, ...]
    odd: Callable[[Any], tuple[Any, ...]]
    fault: Callable[[str], Any]
    fault_name: str | None = None

    def told(self, answer: str) -> Iterator[bytes]:
        """Return an answer as a stream, one word an event."""
        yield self.start
        for word in answer.split(" "):
            yield self.text(f"{word} ")
        yield self.stop + self.done


def event(value: Any, name: str | None = None) -> bytes:
    """A server-sent event with JSON, or with bytes as they are."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return (b"" if name is None else f"event: {name}\n".encode()) + b"data: " + data + b"\n\n"


def _says_stream(head: str, body: str) -> bool:  # noqa: ARG001 - others look there
    return '"stream": true' in body or '"stream":true' in body


def _delta(**delta: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def _openai_whole(content: Any) -> dict[str, Any]:
    return {
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        ]
    }


def _openai_odd(content: Any) -> tuple[Any, ...]:
    return (
        _openai_whole(content),
        {"choices": []},
        {"choices": None},
        {"choices": [7]},
        {"choices": [{"message": None}]},
        {},
        [],
        None,
        "text",
        {
            "choices": [{"message": {"content": ANSWER}}],
            "usage": {"prompt_tokens": -1, "completion_tokens": "many"},
        },
        {"choices": [{"message": {"content": ANSWER}}], "usage": {"prompt_tokens": 10**30}},
        {"error": {"message": "no"}},
    )


OPENAI = Protocol(
    kind="endpoints",
    model="openai:liar",
    settings=lambda address: {"TRIVIUM_CHAT_BASE_URL": f"{address}/v1", "TRIVIUM_CHAT_API_KEY": KEY},
    path="/v1/chat/completions",
    streamed=_says_stream,
    whole=_openai_whole,
    start=b"",
    text=lambda text: _delta(content=text),
    stop=event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    done=event(b"[DONE]"),
    beginning=b'{"choices": [{"message": {"content": "',
    text_beginning=b'data: {"choices": [{"delta": {"content": "',
    wordless=(
        _delta(content=""),
        _delta(content=None),
        _delta(role="assistant"),
        _delta(reasoning_content="hm "),
        event({"choices": []}),
        _delta(tool_calls=[{"index": 0, "function": {"name": "x", "arguments": ""}}]),
    ),
    broken=(
        *_NOT_JSON,
        b'data: {"choices": 7}\n\n',
        b'data: {"choices": [null]}\n\n',
        b'data: {"choices": [{"delta": "x"}]}\n\n',
        b'data: {"choices": [{"delta": {"content": 7}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "\\ud800"}}]}\n\n',
        b"data: \xff\xfe\n\n",
        b'data: {"error": {"message": "no", "code": "x"}}\n\n',
        b'data: {"error": "no"}\n\n',
        _DEEP,
        b"\r\r\r\n\x00",
    ),
    odd=_openai_odd,
    fault=lambda message: {"error": {"message": message}},
)


def _named(kind: Any, **fields: Any) -> bytes:
    """An event of Anthropic's protocol, which has its name in its data, too."""
    return event({"type": kind, **fields}, str(kind))


def _block(delta: Any, index: Any = 0) -> bytes:
    return _named("content_block_delta", index=index, delta=delta)


def _message(content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "liar",
        "content": content,
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 7, "output_tokens": 3},
        **fields,
    }


def _anthropic_whole(content: Any) -> dict[str, Any]:
    return _message([{"type": "text", "text": content}])


def _anthropic_odd(content: Any) -> tuple[Any, ...]:
    return (
        _anthropic_whole(content),
        _message(content),
        _message(None),
        _message([]),
        _message([None, 7, "x", {"type": "text"}, {"text": "x"}]),
        _message([{"type": ["text"], "text": ANSWER}]),
        _message([{"type": "text", "text": ANSWER}], type="mes\ud800sage"),
        _message([{"type": "text", "text": ANSWER}], usage={"input_tokens": -1, "output_tokens": "many"}),
        _message([{"type": "text", "text": ANSWER}], usage={"input_tokens": 10**30, "output_tokens": True}),
        _message([{"type": "text", "text": ANSWER}], stop_reason={"no": 1}, usage=7),
        {},
        [],
        None,
        "text",
        {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
        {"type": "error", "error": "no"},
        {"type": "error"},
    )


ANTHROPIC = Protocol(
    kind="anthropic",
    model="anthropic:liar",
    settings=lambda address: {"TRIVIUM_ANTHROPIC_BASE_URL": address, "TRIVIUM_ANTHROPIC_API_KEY": KEY},
    path="/v1/messages",
    streamed=_says_stream,
    whole=_anthropic_whole,
    start=_named("message_start", message=_message([], stop_reason=None))
    + _named("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    text=lambda text: _block({"type": "text_delta", "text": text}),
    stop=_named("content_block_stop", index=0)
    + _named("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 3}),
    done=_named("message_stop"),
    beginning=b'{"type": "message", "content": [{"type": "text", "text": "',
    text_beginning=b'event: content_block_delta\ndata: {"type": "content_block_delta", "delta": {"text": "',
    wordless=(
        _named("ping"),
        _block({"type": "text_delta", "text": ""}),
        _block({"type": "thinking_delta", "thinking": "hm "}),
        _block({"type": "input_json_delta", "partial_json": "{"}),
        _named("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        _named("message_start", message=_message([])),
        _named("message_delta", delta={"stop_reason": None}, usage={"output_tokens": 1}),
        _named("heartbeat"),
    ),
    broken=(
        *_NOT_JSON,
        _block({"type": "text_delta", "text": 7}),
        _block({"type": "text_delta", "text": "\ud800"}),
        _block({"type": "text_delta", "text": _GIANT}),
        _block({"type": "text_delta"}),
        _block({"type": "thinking_delta", "thinking": [1]}),
        _block("x"),
        _block(None, index="first"),
        _block({"type": "text_delta", "text": "x"}, index=10**30),
        _named("message_start", message=None),
        _named("message_start", message={"usage": {"input_tokens": "many"}}),
        _named("message_delta", delta={"stop_reason": ["end"]}, usage=7),
        _named("message_delta", delta=None, usage={"output_tokens": -1}),
        _named("message_delta", delta={"stop_reason": "max_tokens"}, usage={"output_tokens": 10**30}),
        _named("message_stop"),
        _named("content_block_stop", index=None),
        event({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}}),
        event({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}}, "ping"),
        event({"type": "ping"}, "content_block_delta"),
        event({"type": 7}, "message_stop"),
        event([], "content_block_delta"),
        event("x", "message_delta"),
        event(b"\xff\xfe", "content_block_delta"),
        event(b"", "message_stop"),
        event({"type": "message", "content": 7}, "message"),
        event({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}, "error"),
        event({"type": "error", "error": {"type": ["x"], "message": {"no": 1}}}, "error"),
        event({"type": "error", "error": "no"}, "error"),
        event({"type": "error"}, "error"),
        event(b"no", "error"),
        b"event: content_block_delta\n" + _DEEP,
        b"event: content_block_delta\n" + _DEEP_OBJECT,
        b"event: error\n" + _DEEP,
        b"event: " + b"y" * 100_000 + b"\ndata: {}\n\n",
        b"\r\r\r\n\x00",
    ),
    odd=_anthropic_odd,
    fault=lambda message: {"type": "error", "error": {"type": "invalid_request_error", "message": message}},
    fault_name="error",
)


def _candidate(parts: Any, **fields: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **fields}]}


def _gemini_whole(content: Any) -> dict[str, Any]:
    return _candidate([{"text": content}], finishReason="STOP") | _GEMINI_USAGE


_GEMINI_USAGE = {"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3}}
_SAID = [{"text": ANSWER}]


def _gemini_odd(content: Any) -> tuple[Any, ...]:
    return (
        _gemini_whole(content),
        _candidate(content),
        _candidate([content]),
        {"candidates": content},
        {"candidates": []},
        {"candidates": [None]},
        {"candidates": [{}]},
        {"candidates": [{"content": None, "finishReason": "SAFETY"}]},
        _candidate(_SAID, finishReason="NONSENSE"),
        _candidate(_SAID, finishReason=7),
        _candidate(_SAID, finishReason="STOP") | {"usageMetadata": {"promptTokenCount": -1}},
        _candidate(_SAID, finishReason="STOP") | {"usageMetadata": {"promptTokenCount": 10**30}},
        _candidate(_SAID, finishReason="STOP") | {"usageMetadata": "many"},
        _candidate([{"text": ANSWER, "thought": "yes"}, {"inlineData": {"data": "\x00", "mimeType": 7}}]),
        _candidate([{"functionCall": {"name": "x", "args": [1]}}, {"executableCode": None}]),
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"promptFeedback": {"blockReason": ["NEW"]}},
        {"promptFeedback": 7},
        {},
        [],
        None,
        "text",
        {"error": {"code": 400, "message": "no"}},
        {"error": {"code": "x", "message": {"no": 1}, "details": 7}},
        {"error": "no"},
    )


GEMINI = Protocol(
    kind="gemini",
    model="gemini:liar",
    settings=lambda address: {"TRIVIUM_GEMINI_BASE_URL": address, "TRIVIUM_GEMINI_API_KEY": KEY},
    path="/v1beta/models/liar:generateContent",
    streamed=lambda head, _: ":streamGenerateContent" in head.partition("\r\n")[0],
    whole=_gemini_whole,
    start=b"",
    text=lambda text: event(_candidate([{"text": text}])),
    stop=event(_candidate([{"text": ""}], finishReason="STOP") | _GEMINI_USAGE),
    done=b"",
    beginning=b'{"candidates": [{"content": {"parts": [{"text": "',
    text_beginning=b'data: {"candidates": [{"content": {"parts": [{"text": "',
    wordless=(
        event(_candidate([{"text": ""}])),
        event(_candidate([])),
        event(_candidate([{"text": "hm ", "thought": True}])),
        event({"candidates": []}),
        event({}),
        event(_GEMINI_USAGE),
        event(_candidate([{"functionCall": {"name": "x", "args": {}}}])),
    ),
    broken=(
        *_NOT_JSON,
        *(event(value) for value in _gemini_odd(7)),
        event(_candidate([{"text": "\ud800"}])),
        event(_candidate([{"text": _GIANT}])),
        event(_candidate([{"text": "x", "unknown": {"a": [1]}}], unknown=1)),
        event(_candidate([{"text": "x"}], index="first")),
        event(_candidate([{"inlineData": {"data": "!", "mimeType": "image/png"}}])),
        event(_gemini_whole("x"), "error"),
        b"data: \xff\xfe\n\n",
        b"data: [DONE]\n\n",
        b'[{"candidates": []},\n',
        b'{"error": {"code": 503, "message": "no"}}\n\n',
        _DEEP,
        _DEEP_OBJECT,
        b"\r\r\r\n\x00",
    ),
    odd=_gemini_odd,
    fault=lambda message: {"error": {"code": 400, "message": message, "status": "FAILED"}},
)
