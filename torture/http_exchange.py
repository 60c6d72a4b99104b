"""What a hostile client sends over a connection, and how the client ends it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Piece = bytes | float
"""What is sent, or a pause in seconds."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a client does. ``end`` says how: ``read`` (all that the server says), ``leave`` (close at once), ``reset``
    (the same, rudely), ``peek`` (a few bytes of the answer are read, then reset). ``heads`` says that answers have no
    body."""

    what: str
    pieces: tuple[Piece, ...]
    end: str = "read"
    heads: bool = False


Api = Mapping[str, Any]
"""The server's OpenAPI document."""

QUESTION = "Which moon is larger?"
JSON = "Content-Type: application/json\r\n"
TEXTS = (
    "",
    " ",
    "x" * 5000,
    "Mars" * 1000,
    "\x00",
    "\u202e\u0085",
    "%",
    "..",
    "../../../../etc/passwd",
    "a/b/c",
    "//",
    "a?b#c",
    "\\",
    "'; DROP TABLE page; --",
    "é" * 400,
    "\U0010ffff",
    "#chunk-1",
    "None",
    "nan",
    "1e9",
    "-1",
    "99999999999999999999999",
    "\r\nX-Injected: yes",
    "Mars\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
)


def request(
    method: str, path: str, host: str, body: bytes = b"", headers: str = "", length: object | None = None
) -> bytes:
    """Return the bytes of a request. ``length`` is the stated length of its body."""
    size = (
        f"Content-Length: {len(body) if length is None else length}\r\n" if body or length is not None else ""
    )
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}{size}\r\n"
    return head.encode("utf-8", "surrogateescape") + body


def search(host: str, headers: str = "") -> bytes:
    """Return an ordinary search request."""
    body = json.dumps({"question": QUESTION, "k": 2}).encode()
    return request("POST", "/search", host, body, JSON + headers)
