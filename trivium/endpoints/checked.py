"""Answers of the Gemini API, looked at before Google's package reads them.

The package goes through them element by element, in Python, in the loop that all endpoints share: three megabytes of
``"candidates": "xxx..."``, or of empty candidates, hold it up for a minute, in which nothing can be stopped."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx2

from trivium.endpoints.bounded import WrappedStream, is_stream
from trivium.endpoints.failures import EndpointError

MAX_EVENT_BYTES = 8 << 20
"""The longest event, and the longest answer that comes in one."""
MAX_VALUES = 20_000
"""Values in an event or answer, however they are nested: the package takes some 30 microseconds for each."""

_OTHER_LINES = (b":", b"event", b"id", b"retry", b"data")
"""How lines of an event may begin that are none of its data."""


async def check_answers(response: httpx2.Response) -> None:
    """Have an answer checked as it is read. Called before any of it is."""
    if response.status_code == httpx2.codes.OK and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = CheckedStream(response.stream, response.url.host, in_events=is_stream(response))


class CheckedStream(WrappedStream):
    """The events of an answer, each on one line, or the answer that comes in one; only such as could be one."""

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
        """The event that a line ends, if it does. Comments and names of events are left out: the package knows none."""
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
        """The same JSON. Raises EndpointError where it cannot be an answer, or an error."""
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
    """Whether a value has the outline of an answer or an error, and no more in it than the package can take."""
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
    """A list as it is, nothing as an empty one; anything else as a list of something that nobody takes."""
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
