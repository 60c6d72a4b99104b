"""A scripted OpenAI-compatible server: ``/v1/chat/completions`` and ``/v1/embeddings`` on a local port.

Without a script it works: a chat answer repeats the last message, an embedding is computed from the
characters of its text. Each scripted reply is used up by one request, in order."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.fakes.local_server import LocalServer, QuietHandler

DIMENSION = 8


@dataclass(frozen=True)
class Reply:
    """What the server says once. ``body`` is sent as JSON unless it is bytes; ``hang_up`` ends the connection
    in the middle of the body; ``delay`` is seconds before the answer. Where there are ``chunks`` they are the body, sent
    one by one; a number is a pause of so many seconds, and ``hang_up`` comes after the last."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_up: bool = False
    delay: float = 0.0
    chunks: Sequence[bytes | float] | None = None


@dataclass(frozen=True)
class Request:
    """What a client sent; names of headers in any case."""

    path: str
    headers: Message
    body: Any


def error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Reply:
    """An error as OpenAI words it; fields are ``code``, ``param``, ``type``."""
    return Reply({"error": {"message": message, **fields}}, status, headers or {})


def chat(content: str | None) -> Reply:
    """A chat answer."""
    return Reply({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})


def event(value: Any) -> bytes:
    """A server-sent event."""
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


def streamed(
    *pieces: str | float, usage: tuple[int, int] | None = (7, 3), reason: str = "stop", hang_up: bool = False
) -> Reply:
    """A chat answer piece by piece; numbers are pauses."""
    chunks: list[bytes | float] = [_delta({"role": "assistant", "content": None}), b": ping\n\n"]
    chunks += [piece if isinstance(piece, float) else _delta({"content": piece}) for piece in pieces]
    if not hang_up:
        chunks.append(_delta({}, reason))
        if usage is not None:
            counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
            chunks.append(event({"choices": [], "usage": counts}))
        chunks.append(event(b"[DONE]"))
    return events(*chunks, hang_up=hang_up)


def events(*chunks: bytes | float, hang_up: bool = False) -> Reply:
    """An answer made of server-sent events, however they are cut."""
    return Reply(headers={"Content-Type": "text/event-stream; charset=utf-8"}, chunks=chunks, hang_up=hang_up)


def _delta(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def embedding(text: str, dimension: int = DIMENSION) -> list[float]:
    """The vector the server gives a text: how often each class of code points occurs, plus one."""
    counts = [1.0] * dimension
    for character in text:
        counts[ord(character) % dimension] += 1.0
    return counts


class OpenAIServer(LocalServer):
    """A context manager. ``requests`` are those received so far; ``script`` holds the replies to come,
    ``connections`` counts those that clients opened, ``abandoned`` streams whose client left. ``respond`` gives the reply
    where the script has none."""

    def __init__(self, respond: Callable[[Request], Reply] | None = None) -> None:
        self._respond = respond
        self.requests: list[Request] = []
        self.script: deque[Reply] = deque()
        self.connections = 0
        self.abandoned = 0
        super().__init__(self._handler())

    @property
    def base_url(self) -> str:
        """What a client takes as its base url."""
        return f"{self.address}/v1"

    def _reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.script:
            return self.script.popleft()
        if self._respond is not None:
            return self._respond(request)
        if request.path == "/v1/chat/completions":
            return chat(request.body["messages"][-1]["content"])
        if request.path == "/v1/embeddings":
            data = [
                {"object": "embedding", "index": i, "embedding": embedding(text)}
                for i, text in enumerate(request.body["input"])
            ]
            return Reply({"object": "list", "model": f"{request.body['model']}-v2", "data": data[::-1]})
        return error(404, f"no such path {request.path}")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"  # older ones know no chunks
            disable_nagle_algorithm = True  # a body after its headers would wait 40 ms on a kept connection

            def setup(self) -> None:
                outer.connections += 1
                super().setup()

            def handle(self) -> None:
                with suppress(ConnectionError):  # of a client that has given up, as in some tests
                    super().handle()

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reply = outer._reply(Request(self.path, self.headers, body))
                time.sleep(reply.delay)
                if reply.chunks is not None:
                    self._send_chunks(reply)
                    return
                content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in ({"Content-Type": "application/json"} | dict(reply.headers)).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.close_connection = reply.hang_up
                with suppress(ConnectionError):
                    self.wfile.write(content[: len(content) // 2] if reply.hang_up else content)

            def _send_chunks(self, reply: Reply) -> None:
                self.close_connection = True
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Transfer-Encoding", "chunked")
                self.send_header("Connection", "close")
                self.end_headers()
                try:
                    for chunk in reply.chunks or ():
                        if isinstance(chunk, bytes):
                            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                        else:
                            time.sleep(chunk)
                    if not reply.hang_up:
                        self.wfile.write(b"0\r\n\r\n")
                except ConnectionError:
                    outer.abandoned += 1

        return Handler
