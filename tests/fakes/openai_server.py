"""A scripted OpenAI-compatible server: ``/v1/chat/completions`` and ``/v1/embeddings`` on a local port.

Without a script it works: a chat answer repeats the last message, an embedding is computed from the
characters of its text. Each scripted reply is used up by one request, in order."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.fakes.local_server import LocalServer, QuietHandler

DIMENSION = 8


@dataclass(frozen=True)
class Reply:
    """What the server says once. ``body`` is sent as JSON unless it is bytes; ``hang_up`` ends the connection
    in the middle of the body; ``delay`` is seconds before the answer."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_up: bool = False
    delay: float = 0.0


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: Any


def error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Reply:
    """An error as OpenAI words it; fields are ``code``, ``param``, ``type``."""
    return Reply({"error": {"message": message, **fields}}, status, headers or {})


def chat(content: str | None) -> Reply:
    """A chat answer."""
    return Reply({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})


def embedding(text: str, dimension: int = DIMENSION) -> list[float]:
    """The vector the server gives a text: how often each class of code points occurs, plus one."""
    counts = [1.0] * dimension
    for character in text:
        counts[ord(character) % dimension] += 1.0
    return counts


class OpenAIServer(LocalServer):
    """A context manager. ``requests`` are those received so far; ``script`` holds the replies to come."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: deque[Reply] = deque()
        super().__init__(self._handler())

    @property
    def base_url(self) -> str:
        """What a client takes as its base url."""
        return f"{self.address}/v1"

    def _reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.script:
            return self.script.popleft()
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
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reply = outer._reply(Request(self.path, dict(self.headers), body))
                time.sleep(reply.delay)
                content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                with suppress(ConnectionError):  # of a client that has given up, as in some tests
                    self.wfile.write(content[: len(content) // 2] if reply.hang_up else content)

        return Handler
