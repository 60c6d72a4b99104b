"""Limits the size of endpoint responses."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from types import AsyncGeneratorType

import httpx2

from trivium.endpoints.endpoint_errors import EndpointError

MAX_BYTES = 256 << 20
"""Maximum size of a response in bytes."""
MAX_STREAM_BYTES = 64 << 20
"""Maximum size of a streamed response in bytes."""
_DONE = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
_DONE_BYTES = 32
"""Number of bytes at the end of a stream that are searched for its final event."""


def is_stream(response: httpx2.Response) -> bool:
    """Whether a response is an event stream."""
    return str(response.headers.get("Content-Type", "")).startswith("text/event-stream")


async def bound(response: httpx2.Response) -> None:
    """Limit the size of a response. Called before it is read."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise EndpointError(f"{response.url.host} compressed its answer although it was asked not to")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        limit = MAX_STREAM_BYTES if is_stream(response) else MAX_BYTES
        response.stream = BoundedStream(response.stream, response.url.host, limit)


class WrappedStream(httpx2.AsyncByteStream):
    """Wraps the bytes of another stream."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._pieces: AsyncIterator[bytes] | None = None

    def pieces(self) -> AsyncIterator[bytes]:
        """Iterate over the bytes as they arrive."""
        # An unfinished iterator would be closed by the garbage collector, in an arbitrary thread.
        self._pieces = aiter(self._stream)
        return self._pieces

    async def aclose(self) -> None:
        """Disconnect, or return the connection to the pool if the response was read completely."""
        pieces, self._pieces = self._pieces, None
        if isinstance(pieces, AsyncGeneratorType) and not pieces.ag_running:
            await pieces.aclose()
        await self._stream.aclose()


class BoundedStream(WrappedStream):
    """The bytes of a response, up to a limit."""

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
        """Whether the bytes so far end with the final event of this protocol."""
        return _DONE.search(self._end) is not None
