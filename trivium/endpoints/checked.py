"""Validates responses of the Gemini API before Google's package parses them.

The package processes them element by element in Python, in the event loop that all endpoints share: three megabytes of
``"candidates": "xxx..."``, or of empty candidates, would block it for a minute, during which nothing can be cancelled.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx2

from trivium.endpoints.bounded import WrappedStream, is_stream
from trivium.endpoints.failures import EndpointError

MAX_EVENT_BYTES = 8 << 20
"""Maximum size of an event, and of a response that is not a stream."""
MAX_VALUES = 20_000
"""Maximum number of nested values in an event or response. The package needs about 30 microseconds for each."""

_OTHER_LINES = (b":", b"event", b"id", b"retry", b"data")
"""Prefixes of event lines that are not data."""


async def check_answers(response: httpx2.Response) -> None:
    """Validate a response while it is read. Called before it is read."""
    if response.status_code == httpx2.codes.OK and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = CheckedStream(response.stream, response.url.host, in_events=is_stream(response))


class CheckedStream(WrappedStream):
    """The validated events of a response, each on one line, or a validated response that is not a stream."""

    def __init__(self, stream: httpx2.AsyncByteStream, host: str, *, in_events: bool) -> None:
        super().__init__(stream)
        self._host = host
        self._in_events = in_events
        self._data: list[bytes] = []
        self._size = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        waiting = bytearray()
        async for piece in self.pieces():
            waiting += piece
            if self._in_events and b"\n" in piece:
                *lines, rest = bytes(waiting).split(b"\n")
                waiting = bytearray(rest)
                for line in lines:
                    for event in self._line(line.removesuffix(b"\r")):
                        yield event
            if len(waiting) + self._size > MAX_EVENT_BYTES:
                raise EndpointError(
                    f"{self._host} answered with more than {MAX_EVENT_BYTES >> 20} MiB at once", 200
                )
        if not self._in_events:
            yield self._checked(bytes(waiting))
            return
        for line in (bytes(waiting), b""):
            for event in self._line(line):
                yield event

    def _line(self, line: bytes) -> list[bytes]:
        """Return the event that a line completes, if any. Comments and event names are dropped because the package does
        not support them.
        """
        if line.startswith(b"data:"):
            self._data.append(line.removeprefix(b"data:"))
            self._size += len(line)
        elif not line and self._data:
            data, self._data, self._size = b"\n".join(self._data), [], 0
            return [b"data: " + self._checked(data) + b"\n\n"]
        elif line and not line.startswith(_OTHER_LINES):
            raise self._unexpected()
        return []

    def _checked(self, data: bytes) -> bytes:
        """Re-serialise JSON. Raises EndpointError when it cannot be an answer or an error."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise self._unexpected() from None
        if not _answers(value):
            raise self._unexpected()
        return json.dumps(value).encode("ascii")

    def _unexpected(self) -> EndpointError:
        return EndpointError(f"{self._host} answered with something else than was expected", 200)


def _answers(value: object) -> bool:
    """Whether a value has the structure of an answer or an error, and not too many values for the package."""
    if not isinstance(value, dict) or _is_long(value):
        return False
    return all(
        isinstance(candidate, dict) and _has_content(candidate.get("content"))
        for candidate in _list(value.get("candidates"))
    )


def _has_content(content: object) -> bool:
    if content is None:
        return True
    return isinstance(content, dict) and all(isinstance(part, dict) for part in _list(content.get("parts")))


def _list(value: object) -> list[object]:
    """Return lists unchanged and None as an empty list; anything else becomes a list that fails validation."""
    if value is None:
        return []
    return value if isinstance(value, list) else [None]


def _is_long(value: object) -> bool:
    seen, waiting = 0, [value]
    while waiting:
        found = waiting.pop()
        inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
        seen += len(inner)
        if seen > MAX_VALUES:
            return True
        waiting.extend(inner)
    return False
