"""The driver, on an event loop of its own, and what its errors mean to the user of a store.

Every call of the store is one or more queries that run on the loop's thread, so that threads which ask at the same
time share one pool of connections, and several questions of one caller can be under way at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import Any, LiteralString, TypeVar

from neo4j import (
    READ_ACCESS,
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    Query,
    RoutingControl,
    unit_of_work,
)
from neo4j.exceptions import ClientError, DriverError, Neo4jError

from trivium.errors import StoreError
from trivium.graph.neo4j.address import Address
from trivium.graph.neo4j.failures import is_out_of_memory, translated

Row = list[Any]
Rows = list[Row]
Work = Callable[[AsyncManagedTransaction], Awaitable[Any]]
T = TypeVar("T")

PATIENCE = 20.0
"""How many times as long as for a question the server may take for a write, or for reading the whole graph."""
_MADE_MEANWHILE = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
_POOL = 32
_FETCH_SIZE = 20_000
_CONNECT_SECONDS = 10.0


class _Values(list[Any]):
    """A list that is short in a log: the driver writes all parameters out for its own, even when nobody reads it,
    which takes longer than to send them."""

    def __repr__(self) -> str:
        return f"<{len(self)} values>"


class Connection:
    """A database of a server. Any number of threads may use it."""

    def __init__(self, address: Address, *, timeout: float) -> None:
        """``timeout`` is how many seconds the server may take for a read. Nothing is asked of the server yet."""
        self.address = address
        self._timeout = timeout
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="neo4j", daemon=True)
        self._closing = threading.Lock()
        self._closed = False
        self._answered = False
        self._thread.start()
        try:
            self._driver = self.run(self._connect())
        except BaseException:
            self._end_loop()
            raise
        # Reads on a cluster see what was written before; a single server needs no telling.
        clustered = address.uri.startswith("neo4j")
        self._bookmarks = self._driver.execute_query_bookmark_manager if clustered else None

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
        transaction back; so does closing the connection."""
        with self._closing:
            if self._closed:
                work.close()
                raise self._is_closed()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            with translated(self.address):
                return future.result()
        except CancelledError as error:
            raise self._is_closed() from error
        except BaseException:
            future.cancel()
            raise

    def read(
        self, query: LiteralString, parameters: Mapping[str, Any] | None = None, *, whole: bool = False
    ) -> Rows:
        """The rows of one reading query; of the ``whole`` graph it may take longer."""
        return self.run(self.fetch(query, parameters, whole=whole))

    def read_at_once(
        self,
        queries: Sequence[LiteralString],
        parameters: Sequence[Mapping[str, Any]] | None = None,
        *,
        whole: bool = False,
    ) -> list[Rows]:
        """The rows of each of several reading queries, which are under way together."""
        asked = zip(queries, parameters or [{}] * len(queries), strict=True)

        async def ask() -> list[Rows]:
            return await asyncio.gather(*(self.fetch(*one, whole=whole) for one in asked))

        return self.run(ask())

    async def fetch(
        self, query: LiteralString, parameters: Mapping[str, Any] | None = None, *, whole: bool = False
    ) -> Rows:
        """:meth:`read`, on the loop.

        A transaction of its own that the server opens and closes with the query costs a quarter less of a short
        query than a managed one, which it becomes when the first attempt meets what passes (a change of leader).
        """
        bounded = Query(query, timeout=self._timeout * (PATIENCE if whole else 1))
        asked = _prepared(parameters)
        try:
            async with self._driver.session(
                database=self.address.database,
                default_access_mode=READ_ACCESS,
                bookmark_manager=self._bookmarks,
            ) as session:
                values = await _values(await session.run(bounded, asked))
                self._answered = True
                return values
        except (DriverError, Neo4jError) as error:
            # A server that has never answered is not waited for, nor is memory that it does not have.
            if not (error.is_retryable() and self._answered) or is_out_of_memory(error):
                raise
        rows: Rows = await self._driver.execute_query(
            bounded,
            asked,
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
        bounded = unit_of_work(timeout=self._timeout * PATIENCE)(work)
        async with self._driver.session(
            database=self.address.database, bookmark_manager=self._bookmarks
        ) as session:
            return await session.execute_write(bounded)

    def change_schema(self, statement: LiteralString, parameters: Mapping[str, Any] | None = None) -> None:
        """Carry out a statement that changes the schema, in a transaction of its own. What somebody else makes at the
        same time is as good, though ``IF NOT EXISTS`` does not see it."""
        self.run(self._change_schema(statement, parameters))

    async def _change_schema(self, statement: LiteralString, parameters: Mapping[str, Any] | None) -> None:
        try:
            await self._driver.execute_query(
                statement, _prepared(parameters), database_=self.address.database
            )
        except ClientError as error:
            if error.code != _MADE_MEANWHILE:
                raise

    def _is_closed(self) -> StoreError:
        return StoreError(f"the store at {self.address} is closed")

    def close(self) -> None:
        """Give up what is under way, close the connections and end the loop. Closing twice is fine."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._disconnect(), self._loop).result()
        self._end_loop()

    async def _disconnect(self) -> None:
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._driver.close()

    def _end_loop(self) -> None:
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
    result = await transaction.run(query, _prepared(parameters))
    values: Rows = await result.values()
    return values


def _prepared(parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        name: _Values(value) if isinstance(value, list) else value
        for name, value in (parameters or {}).items()
    }
