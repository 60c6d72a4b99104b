"""The stream of JSON objects that an endpoint sends."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from trivium.endpoints import event_loop as loop
from trivium.endpoints.endpoint_errors import EndpointError, PassingEndpointError

if TYPE_CHECKING:
    from trivium.endpoints.endpoint import Endpoint


class JsonStream:
    """The objects of a stream as they arrive. The first one has arrived when the constructor returns. Not thread-safe.

    ``ended`` tells, after the last object, whether the endpoint marked the end (``[DONE]``). Iterating raises
    EndpointError. To stop early, close the stream, which disconnects.
    """

    def __init__(self, endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> None:
        """Send the request and wait for the first object. Raises EndpointError, or PassingEndpointError if a retry may
        succeed.
        """
        self.ended = False
        self._endpoint = endpoint
        self._until = time.monotonic() + endpoint.total
        self._objects = endpoint.objects(path, body, self._end)
        self._turn = asyncio.Lock()
        self._first = loop.run(self._next())
        if self._first is None:
            raise PassingEndpointError(f"{endpoint.host} ended its answer before it began")

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> dict[str, Any]:
        found, self._first = self._first, None
        if found is None:
            try:
                with self._endpoint.translating():
                    found = loop.run(self._next())
            except (EndpointError, PassingEndpointError) as error:
                raise EndpointError(f"{error}, in the middle of an answer", error.status) from error
        if found is None:
            raise StopIteration
        return found

    def close(self) -> None:
        """Disconnect unless everything has been read."""
        loop.begin(self._close())

    def _end(self) -> None:
        self.ended = True

    async def _next(self) -> dict[str, Any] | None:
        """Return the next object, None after the last. Raises TimeoutError."""
        left = self._until - time.monotonic()
        async with self._turn, self._endpoint.in_all(left), asyncio.timeout(self._endpoint.timeout):
            try:
                return await anext(self._objects, None)
            except BaseException as error:
                let_go(error)
                raise

    async def _close(self) -> None:
        async with self._turn:  # a cancelled call may still be disconnecting
            await self._objects.aclose()


def let_go(error: BaseException) -> None:
    """Clear the frames of an error and its causes, which hold unfinished generators of the client. This must happen in
    the event loop's thread: the garbage collector could otherwise finalise them in another thread while the loop is
    using some of them.
    """
    seen: set[int] = set()
    made_of: BaseException | None = error
    while made_of is not None and id(made_of) not in seen:
        seen.add(id(made_of))
        traceback.clear_frames(made_of.__traceback__)
        made_of = made_of.__cause__ or made_of.__context__
