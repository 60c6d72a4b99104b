"""Parses the HTTP answers that a server sent over one connection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\x00]*)\r\n")


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer; header names in lower case. ``whole``: whether it is complete."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


def answers(received: bytes, *, heads: bool = False) -> Iterator[Answer]:
    """One after the other; ``heads`` says that they have no body, as to HEAD. Raises AssertionError for anything else."""
    while received:
        first = _STATUS.match(received)
        if first is None:
            assert received.startswith(b"HTTP/1.1 "[: len(received)]), f"not HTTP: {received[:200]!r}"
            return  # cut within the first line
        status, at = int(first[1]), first.end()
        headers: dict[str, str] = {}
        while (header := _HEADER.match(received, at)) is not None:
            headers[header[1].decode().lower()] = header[2].decode("latin-1")
            at = header.end()
        if received[at : at + 2] != b"\r\n":
            assert b"\r\n\r\n" not in received[at:], f"not a header: {received[at : at + 200]!r}"
            return
        at += 2
        # To what is no request at all the server cannot know that it was HEAD.
        if status < 200 or status in (204, 304) or (heads and status != 400):
            yield Answer(status, headers, b"", True)
            received = received[at:]
            continue
        if headers.get("transfer-encoding", "") == "chunked":
            body, at, whole = _chunks(received, at)
        elif "content-length" in headers:
            end = at + int(headers["content-length"])
            body, whole = received[at:end], end <= len(received)
            at = end
        else:  # to the end of the connection
            body, whole, at = received[at:], True, len(received)
        yield Answer(status, headers, body, whole)
        received = received[at:]


def _chunks(received: bytes, at: int) -> tuple[bytes, int, bool]:
    body = b""
    while True:
        line, found, _ = received[at:].partition(b"\r\n")
        if not found:
            return body, len(received), False
        size = int(line.partition(b";")[0], 16)
        at += len(line) + 2
        if size == 0:
            return body, at + 2, received[at : at + 2] == b"\r\n"
        body += received[at : at + size]
        if len(received) < at + size + 2:
            return body, len(received), False
        assert received[at + size : at + size + 2] == b"\r\n", "a chunk that does not end"
        at += size + 2
