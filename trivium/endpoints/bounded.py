"""Answers of endpoints that are no longer than they may be."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from types import AsyncGeneratorType

import httpx2

from trivium.endpoints.failures import EndpointError

MAX_BYTES = 256 << 20
"""The longest answer that is read."""
MAX_STREAM_BYTES = 64 << 20
"""The longest answer that is read event by event."""
_DONE = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
_DONE_BYTES = 32
"""In how many bytes at the end of a stream its last event is looked for."""


def is_stream(response: httpx2.Response) -> bool:
    """Whether an answer comes event by event."""
    return str(response.headers.get("Content-Type", "")).startswith("text/event-stream")


async def bound(response: httpx2.Response) -> None:
    """Keep an answer from being longer than it may be. Called before any of it is read."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise EndpointError(f"{response.url.host} compressed its answer although it was asked not to")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        limit = MAX_STREAM_BYTES if is_stream(response) else MAX_BYTES
        response.stream = BoundedStream(response.stream, response.url.host, limit)


class WrappedStream(httpx2.AsyncByteStream):
    """The bytes of another stream."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._pieces: AsyncIterator[bytes] | None = None

    def pieces(self) -> AsyncIterator[bytes]:
        """As they come."""
        # Left before its end it would be closed by the collector of garbage, in whatever thread that runs.
        self._pieces = aiter(self._stream)
        return self._pieces

    async def aclose(self) -> None:
        """Hang up, or give the connection back where the answer was read to its end."""
        pieces, self._pieces = self._pieces, None
        if isinstance(pieces, AsyncGeneratorType) and not pieces.ag_running:
            await pieces.aclose()
        await self._stream.aclose()


class BoundedStream(WrappedStream):
    """The bytes of an answer, up to a limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, host: str, limit: int) -> None:
        super().__init__(stream)
        self._host = host
        self._limit = limit
        self._end = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.pieces():
            size += len(piece)
            if size > self._limit:
                raise EndpointError(f"{self._host} answered with more than {self._limit >> 20} MiB", 200)
            self._end = (self._end + piece)[-_DONE_BYTES:]
            yield piece

    @property
    def said_done(self) -> bool:
        """Whether what has come so far ends as streams of this protocol do."""
        return _DONE.search(self._end) is not None
