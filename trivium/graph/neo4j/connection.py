"""The driver, on an event loop of its own, and what its errors mean to the user of a store.

Every call of the store is one or more queries that run on the loop's thread, so that threads which ask at the same
time share one pool of connections, and several questions of one caller can be under way at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, LiteralString, TypeVar

from neo4j import (
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    Query,
    RoutingControl,
    unit_of_work,
)

from trivium.errors import StoreError
from trivium.graph.neo4j.address import Address
from trivium.graph.neo4j.failures import translated

Row = list[Any]
Rows = list[Row]
Work = Callable[[AsyncManagedTransaction], Awaitable[Any]]
T = TypeVar("T")

WRITE_PATIENCE = 20.0
"""How many times as long as a read a write may take before the server gives it up."""
_POOL = 32
_FETCH_SIZE = 20_000
_CONNECT_SECONDS = 10.0


class Connection:
    """A database of a server. Any number of threads may use it."""

    def __init__(self, address: Address, *, timeout: float) -> None:
        """``timeout`` is how many seconds the server may take for a read. Nothing is asked of the server yet."""
        self.address = address
        self._timeout = timeout
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="neo4j", daemon=True)
        self._thread.start()
        self._driver: AsyncDriver | None = None
        self._driver = self.run(self._connect())

    async def _connect(self) -> AsyncDriver:
        return AsyncGraphDatabase.driver(
            self.address.uri,
            auth=(self.address.user, self.address.password),
            max_connection_pool_size=_POOL,
            connection_timeout=_CONNECT_SECONDS,
            connection_acquisition_timeout=_CONNECT_SECONDS * 2,
            max_transaction_retry_time=_CONNECT_SECONDS,
            fetch_size=_FETCH_SIZE,
            notifications_min_severity="OFF",
            user_agent="trivium",
        )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns that runs on the loop. An interrupt of the caller cancels it, which rolls its
        transaction back."""
        if self._loop.is_closed() or not self._thread.is_alive():
            work.close()
            raise StoreError(f"the store at {self.address} is closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            with translated(self.address):
                return future.result()
        except BaseException:
            future.cancel()
            raise

    def read(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> Rows:
        """The rows of one reading query."""
        return self.run(self.fetch(query, parameters))

    async def fetch(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> Rows:
        """:meth:`read`, on the loop: for several at once with ``asyncio.gather``."""
        rows: Rows = await self._ready().execute_query(
            Query(query, timeout=self._timeout),
            dict(parameters or {}),
            routing_=RoutingControl.READ,
            database_=self.address.database,
            result_transformer_=_values,
        )
        return rows

    def write(self, work: Callable[[AsyncManagedTransaction], Coroutine[Any, Any, T]]) -> T:
        """What ``work`` returns, in one transaction: committed when it returns, rolled back when it raises. It runs
        again when the server asks for that (a deadlock, a change of leader), so it must start from nothing."""
        return self.run(self._write(work))

    async def _write(self, work: Callable[[AsyncManagedTransaction], Coroutine[Any, Any, T]]) -> T:
        bounded = unit_of_work(timeout=self._timeout * WRITE_PATIENCE)(work)
        async with self._ready().session(database=self.address.database) as session:
            return await session.execute_write(bounded)

    def execute(self, statements: Sequence[LiteralString]) -> None:
        """Statements that change the schema, one transaction each."""
        for statement in statements:
            self.run(self._execute(statement))

    async def _execute(self, statement: LiteralString) -> None:
        await self._ready().execute_query(statement, database_=self.address.database)

    def _ready(self) -> AsyncDriver:
        if self._driver is None:
            raise StoreError(f"the store at {self.address} is closed")
        return self._driver

    def close(self) -> None:
        """Close the connections and end the loop. Closing twice is fine."""
        if self._loop.is_closed():
            return
        if self._driver is not None:
            driver, self._driver = self._driver, None
            asyncio.run_coroutine_threadsafe(driver.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _values(result: Any) -> Rows:
    values: Rows = await result.values()
    return values


async def rows(
    transaction: AsyncManagedTransaction, query: LiteralString, parameters: Mapping[str, Any] | None = None
) -> Rows:
    """The rows of a query within a transaction."""
    result = await transaction.run(query, dict(parameters or {}))
    values: Rows = await result.values()
    return values
