"""A collection that is read by tools: opened beside them, asked in threads, and its errors in words that help."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Self, TypeVar

from anyio import CapacityLimiter, to_thread
from mcp.server.mcpserver.exceptions import ToolError

from trivium.common.stopping import Stop
from trivium.embedding.workers import available_cores
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
        # What waits for a language model must not keep those waiting who only search.
        self._searching, self._answering = CapacityLimiter(self._workers), CapacityLimiter(ANSWERS)
        self._opening = self._opener.submit(self._collection.open)
        try:
            yield self
        finally:
            self._opener.shutdown(wait=True)
            self._collection.close()

    async def read(self, work: Callable[[Engine], T]) -> T:
        """What ``work`` finds, in a thread. Raises ToolError with what to do."""
        with explained():
            await self._opened()
            return await to_thread.run_sync(lambda: self._collection.read(work), limiter=self._searching)

    async def read_while_wanted(self, work: Callable[[Engine], T]) -> T:
        """:meth:`read` of what may take long: a cancelled request stops it (:mod:`trivium.common.stopping`) and does not
        wait for its thread. It is not done again where the store changes meanwhile."""
        stop = Stop()

        def once() -> T:
            with stop.in_force(), self._collection.reading() as engine:
                return work(engine)

        with explained():
            await self._opened()
            try:
                return await to_thread.run_sync(once, limiter=self._answering, abandon_on_cancel=True)
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
