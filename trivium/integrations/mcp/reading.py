"""A collection that is read by tools: opened beside them, asked in threads, and its errors in words that help."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Self, TypeVar

from anyio import CapacityLimiter, to_thread
from mcp.server.mcpserver.exceptions import ToolError

from trivium.common.beside import available_cores
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
"""How many are written at once."""


class Library:
    """An engine on a store, served at one committed state; what other processes write shows when it is complete. It is
    opened once, and read only while it is."""

    _opening: Future[None]
    _searching: CapacityLimiter
    _answering: CapacityLimiter

    def __init__(self, engine: Engine) -> None:
        self._workers = available_cores()
        self._collection = Collection(engine, self._workers + ANSWERS, lambda _: None)
        self._opener = ThreadPoolExecutor(1, thread_name_prefix="open")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Self]:
        """Begin to open the store, and close it at the end. Whoever reads meanwhile waits."""
        # What waits for a language model or a live source must not keep those waiting who only search.
        self._searching, self._answering = CapacityLimiter(self._workers), CapacityLimiter(ANSWERS)
        self._opening = self._opener.submit(self._collection.open)
        try:
            yield self
        finally:
            self._opener.shutdown(wait=True)
            self._collection.close()

    async def read(self, work: Callable[[Engine], T]) -> T:
        """What ``work`` finds, in a thread. A cancelled request stops it (:mod:`trivium.common.stopping`) and does not
        wait for its thread. Raises ToolError with what to do."""
        return await self._in_thread(lambda: self._collection.read(work), self._searching)

    async def read_slowly(self, work: Callable[[Engine], T]) -> T:
        """:meth:`read` of what may wait for others, who are asked once: it is not done again where the store changes
        meanwhile."""

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
        """What the collection holds."""
        with explained():
            await self._opened()
            return self._collection.info

    async def _opened(self) -> None:
        if not self._opening.done():
            await to_thread.run_sync(self._wait, abandon_on_cancel=True)
        self._opening.result()

    def _wait(self) -> None:
        self._opening.exception()


@contextmanager
def explained() -> Iterator[None]:
    """Errors of the package as errors of a tool, which its caller reads. Any other is the SDK's to hide and to log."""
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
