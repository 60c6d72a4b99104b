"""Read access for the tools: opens the collection in the background, queries it in threads, and translates errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Self, TypeVar

from anyio import CapacityLimiter, to_thread
from mcp.server.mcpserver.exceptions import ToolError

from trivium.common.idle_cores import available_cores
from trivium.common.stopping import Stop
from trivium.engine import Engine
from trivium.errors import (
    ChatModelError,
    FusionError,
    InputError,
    NotEmbeddedError,
    StoreBusyError,
    StoreChangedError,
    TriviumError,
)
from trivium.graph.records import StoreInfo
from trivium.server.collection import Collection

T = TypeVar("T")

ANSWERS = 4
"""Number of answers written at once."""


class Library:
    """An engine on a store, served at one committed state. Changes by other processes become visible once complete. It
    is opened once and is read-only.
    """

    _opening: Future[None]
    _searching: CapacityLimiter
    _answering: CapacityLimiter

    def __init__(self, engine: Engine) -> None:
        self._workers = available_cores()
        self._collection = Collection(engine, self._workers + ANSWERS)
        self._opener = ThreadPoolExecutor(1, thread_name_prefix="open")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Self]:
        """Open the store in the background, and close it at the end. Reads wait until it is open."""
        # Separate limits, so that calls waiting for a language model or live source do not hold up searches.
        self._searching, self._answering = CapacityLimiter(self._workers), CapacityLimiter(ANSWERS)
        self._opening = self._opener.submit(self._collection.open)
        try:
            yield self
        finally:
            self._opener.shutdown(wait=True)
            self._collection.close()

    async def read(self, work: Callable[[Engine], T]) -> T:
        """Return the result of ``work``, run in a thread. A cancelled request stops it (:mod:`trivium.common.stopping`)
        without waiting for the thread. Raises ToolError that suggests what to do.
        """
        return await self._in_thread(lambda: self._collection.read(work), self._searching)

    async def read_slowly(self, work: Callable[[Engine], T]) -> T:
        """Like :meth:`read`, for work that may wait for external services. It is not repeated when the store changes
        meanwhile.
        """

        def once() -> T:
            with self._collection.reading() as engine:
                return work(engine)

        return await self._in_thread(once, self._answering)

    async def _in_thread(self, work: Callable[[], T], limiter: CapacityLimiter) -> T:
        stop = Stop()

        def stoppable() -> T:
            with stop.in_force():
                return work()

        with explained():
            await self._opened()
            try:
                return await to_thread.run_sync(stoppable, limiter=limiter, abandon_on_cancel=True)
            finally:
                stop.ask()

    async def info(self) -> StoreInfo:
        """Return the counts of the collection."""
        return await self._in_thread(lambda: self._collection.info, self._searching)

    async def _opened(self) -> None:
        if not self._opening.done():
            await to_thread.run_sync(self._wait, abandon_on_cancel=True)
        self._opening.result()

    def _wait(self) -> None:
        self._opening.exception()


@contextmanager
def explained() -> Iterator[None]:
    """Translate errors of the package to tool errors, which the caller can read. The SDK hides and logs all others."""
    try:
        yield
    except TriviumError as error:
        raise ToolError(_words(error)) from error


def _words(error: TriviumError) -> str:
    match error:
        case InputError() | FusionError():
            return str(error)
        case NotEmbeddedError():
            return (
                "nothing is embedded yet (whoever runs the server does that:  trivium embed --store STORE): the tool"
                " `search` finds words where it is asked with the retrievers ['lexical'] only"
            )
        case StoreBusyError():
            return "another process is writing to the store: try again when it has finished"
        case StoreChangedError():
            return "the documents changed while they were read: ask again"
        case ChatModelError():
            return f"{error}; the tool `search` needs no language model"
        case _:
            return f"{error} (only whoever runs the server can mend this)"
