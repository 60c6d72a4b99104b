"""Runs the driver on its own event loop, and translates its errors.

Every call of the store runs one or more queries on the loop's thread. Concurrent threads thus share one connection
pool, and one caller can have several queries in flight.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, LiteralString, TypeVar, cast

from neo4j import (
    READ_ACCESS,
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    Query,
    RoutingControl,
    unit_of_work,
)
from neo4j.exceptions import (
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
    WriteServiceUnavailable,
)

from trivium.common import stopping
from trivium.errors import StoreBusyError, StoreError, StoreNotFoundError
from trivium.graph.neo4j.address import Address
from trivium.graph.neo4j.cypher.schema import with_prefix

Row = list[Any]
Rows = list[Row]
Work = Callable[[AsyncManagedTransaction], Awaitable[Any]]
T = TypeVar("T")

WHOLE_FACTOR = 20.0
"""Factor by which the time limit of a read is extended for writes and for reading the whole graph."""
_MADE_MEANWHILE = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
_POOL = 32
_FETCH_SIZE = 20_000
_CONNECT_SECONDS = 10.0
_READ_ONLY = ("ForbiddenOnReadOnlyDatabase", "WriteOnReadOnlyAccessDatabase", "read-only", "read only")
_FULL = ("No space left on device", "Could not append transaction", "Could not apply the transaction")
"""The last two are reported to clients when the disk is full or fails otherwise."""
_TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration", "LockAcquisitionTimeout")


class _Values(list[Any]):
    """A list with a short repr. The driver formats all parameters for its log even when logging is off, which takes
    longer than sending them.
    """

    def __repr__(self) -> str:
        return f"<{len(self)} values>"


class Connection:
    """A database of a server. Thread-safe."""

    def __init__(self, address: Address, *, timeout: float) -> None:
        """``timeout`` is the time limit for a read in seconds. Does not contact the server."""
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
        # On a cluster, bookmarks make reads see earlier writes; a single server needs none.
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
            telemetry_disabled=True,
        )

    def named(self, text: LiteralString) -> LiteralString:
        """Return a query, or the name of an index, with the names of this store: of all queries the one place that
        knows of prefixes.
        """
        return with_prefix(text, self.address.prefix) if self.address.prefix else text

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and return its result. An interrupt of the caller, or closing the connection,
        cancels it and rolls back its transaction.
        """
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
        """Return the rows of a read query. With ``whole`` its time limit is :data:`WHOLE_FACTOR` times as long."""
        return self.run(self.fetch(query, parameters, whole=whole))

    def batches(self, query: LiteralString, size: int) -> Iterator[Rows]:
        """Iterate over all rows of a read query in lists of at most ``size``, so that results do not grow with the
        store.

        The query takes ``$after`` and ``$limit`` and returns one list of rows, ordered by their last value, a unique
        key, starting at ``$after``. Rows written between two reads may or may not be included.
        """
        after, limit = "", size
        while True:
            stopping.check()
            part = self.read(query, {"after": after, "limit": limit}, whole=True)[0][0]
            again = limit > size and part and part[0][-1] == after  # the last row of the previous batch
            if batch := part[1:] if again else part:
                yield batch
            if len(part) < limit:
                return
            after, limit = part[-1][-1], size + 1

    def read_at_once(
        self,
        queries: Sequence[LiteralString],
        parameters: Sequence[Mapping[str, Any]] | None = None,
        *,
        whole: bool = False,
    ) -> list[Rows]:
        """Return the rows of several read queries that run concurrently."""
        asked = zip(queries, parameters or [{}] * len(queries), strict=True)

        async def ask() -> list[Rows]:
            return await asyncio.gather(*(self.fetch(query, values, whole=whole) for query, values in asked))

        return self.run(ask())

    async def fetch(
        self, query: LiteralString, parameters: Mapping[str, Any] | None = None, *, whole: bool = False
    ) -> Rows:
        """Same as :meth:`read`, on the loop.

        The query first runs in an auto-commit transaction, which makes short queries a quarter faster than a managed
        transaction of the driver. The latter is used if the first attempt fails with a transient error (such as a
        leader change).
        """
        bounded = Query(self.named(query), timeout=self._timeout * (WHOLE_FACTOR if whole else 1))
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
            # Do not retry if the server has never responded, or ran out of memory.
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
        """Run ``work`` in one transaction and return its result: committed when it returns, rolled back when it
        raises. It is retried on transient errors (a deadlock, a leader change), so it must not depend on earlier
        attempts.
        """
        return self.run(self._write(work))

    async def _write(self, work: Callable[[AsyncManagedTransaction], Coroutine[Any, Any, T]]) -> T:
        async def named(transaction: AsyncManagedTransaction) -> T:
            return await work(cast(AsyncManagedTransaction, _Named(transaction, self)))

        bounded = unit_of_work(timeout=self._timeout * WHOLE_FACTOR)(named if self.address.prefix else work)
        async with self._driver.session(
            database=self.address.database, bookmark_manager=self._bookmarks
        ) as session:
            return await session.execute_write(bounded)

    def change_schema(self, statement: LiteralString, parameters: Mapping[str, Any] | None = None) -> None:
        """Run a schema statement in its own transaction. If another process creates the same at the same time, which
        ``IF NOT EXISTS`` does not detect, this is not an error.
        """
        self.run(self._change_schema(statement, parameters))

    async def _change_schema(self, statement: LiteralString, parameters: Mapping[str, Any] | None) -> None:
        try:
            await self._driver.execute_query(
                self.named(statement), _prepared(parameters), database_=self.address.database
            )
        except ClientError as error:
            if error.code != _MADE_MEANWHILE:
                raise

    def _is_closed(self) -> StoreError:
        return StoreError(f"the store at {self.address} is closed")

    def close(self) -> None:
        """Cancel running queries, close the connections and stop the loop. May be called twice."""
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


class _Named:
    """A transaction that is told queries with the usual names."""

    def __init__(self, transaction: AsyncManagedTransaction, connection: Connection) -> None:
        self._transaction, self._connection = transaction, connection

    async def run(self, query: LiteralString, parameters: dict[str, Any]) -> Any:
        return await self._transaction.run(self._connection.named(query), parameters)


async def _values(result: Any) -> Rows:
    values: Rows = await result.values()
    return values


async def rows(
    transaction: AsyncManagedTransaction, query: LiteralString, parameters: Mapping[str, Any] | None = None
) -> Rows:
    """Return the rows of a query within a transaction."""
    result = await transaction.run(query, _prepared(parameters))
    values: Rows = await result.values()
    return values


def _prepared(parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        name: _Values(value) if isinstance(value, list) else value
        for name, value in (parameters or {}).items()
    }


# -- errors ------------------------------------------------------------------------------------------------------


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Translate errors of the driver to those of this package. Messages never include parameters."""
    try:
        yield
    except AuthError as error:
        raise StoreError(
            f"the server at {address.uri} refused user {address.user!r}: set NEO4J_USER and NEO4J_PASSWORD"
            f" ({error.message})"
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        if isinstance(error.__cause__, WriteServiceUnavailable):
            raise StoreError(
                f"no member of the cluster at {address.uri} takes writes now: repeat the command when it has a leader;"
                " what was committed stays"
            ) from error
        raise StoreError(
            f"no Neo4j server answers at {address.uri} ({_one_line(error)}); start one with  make neo4j  and repeat the"
            " command: what was committed stays"
        ) from error
    except Neo4jError as error:
        raise _of_server(error, address) from error
    except DriverError as error:
        raise StoreError(f"the connection to {address.uri} failed: {_one_line(error)}") from error


def is_out_of_memory(error: Exception) -> bool:
    """Whether a query exceeded the server's memory limit, so that retrying is useless."""
    return "OutOfMemory" in (getattr(error, "code", None) or "")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _of_server(error: Neo4jError, address: Address) -> StoreError:
    code, message = error.code or "", error.message or ""
    message_text = f"{code} {message}"
    if "DatabaseNotFound" in code:
        return StoreNotFoundError(
            f"the server at {address.uri} has no database {address.database!r}: name another, or none for the "
            "user's own"
        )
    if any(mark in message_text for mark in _READ_ONLY):
        return StoreError(f"the database at {address} is in read-only mode: nothing was changed")
    if any(mark in message_text for mark in _FULL):
        return StoreError(
            f"the server at {address} could not write to its disk, which is full or fails: make room, start the server "
            "again and repeat the command: what was committed stays"
        )
    if any(mark in message_text for mark in _TIMED_OUT):
        return StoreBusyError(
            f"the server at {address} ended the query at its time limit ({message}); another process may be "
            "writing, or TRIVIUM_NEO4J_TIMEOUT is too short"
        )
    if is_out_of_memory(error):
        return StoreError(
            f"the server at {address} has too little memory for the query: give it more (tools/neo4j/server start"
            f" --heap 4g, or server.memory.heap.max_size and dbms.memory.transaction.total.max), or ask for less"
            f" ({message})"
        )
    if isinstance(error, TransientError):
        return StoreBusyError(f"the server at {address} is busy, nothing was changed; try again ({message})")
    if isinstance(error, ClientError):
        return StoreError(f"the server at {address} refused a query: {message}")
    return StoreError(f"the server at {address} failed: {message}")
