"""What the providers' protocols call a question, a piece of an answer and its end, and what each must not be sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ANSWER = "Asaph Hall discovered the moons of Mars [1]."
KEY = "sk-torture-0123456789abcdef"
_DEEP = b"data: " + b"[" * 100_000 + b"\n\n"
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
