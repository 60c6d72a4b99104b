"""What the driver's errors mean to the user of a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import (
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from trivium.errors import StoreBusyError, StoreError, StoreNotFoundError
from trivium.graph.neo4j.address import Address

_READ_ONLY = ("ForbiddenOnReadOnlyDatabase", "WriteOnReadOnlyAccessDatabase", "read-only", "read only")
_FULL = ("No space left on device", "Could not append transaction", "Could not apply the transaction")
"""The last two are what clients are told when the disk is full, or fails otherwise."""
_TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration", "LockAcquisitionTimeout")


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Turn what the driver raises into errors of this package. Parameters never appear in them."""
    try:
        yield
    except AuthError as error:
        raise StoreError(
            f"the server at {address.uri} refused user {address.user!r}: set NEO4J_USER and NEO4J_PASSWORD"
            f" ({error.message})"
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise StoreError(
            f"no Neo4j server answers at {address.uri} ({_one_line(error)}); start one with  make neo4j  and repeat the"
            " command: what was committed stays"
        ) from error
    except Neo4jError as error:
        raise _of_server(error, address) from error
    except DriverError as error:
        raise StoreError(f"the connection to {address.uri} failed: {_one_line(error)}") from error


def is_out_of_memory(error: Exception) -> bool:
    """Whether a query needed more memory than the server grants it: it will again."""
    return "OutOfMemory" in (getattr(error, "code", None) or "")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _of_server(error: Neo4jError, address: Address) -> StoreError:
    code, message = error.code or "", error.message or ""
    said = f"{code} {message}"
    if "DatabaseNotFound" in code:
        return StoreNotFoundError(
            f"the server at {address.uri} has no database {address.database!r}: name another, or none for the "
            "user's own"
        )
    if any(mark in said for mark in _READ_ONLY):
        return StoreError(f"the database at {address} is in read-only mode: nothing was changed")
    if any(mark in said for mark in _FULL):
        return StoreError(
            f"the server at {address} could not write to its disk, which is full or fails: make room, start the server "
            "again and repeat the command: what was committed stays"
        )
    if any(mark in said for mark in _TIMED_OUT):
        return StoreBusyError(
            f"the server at {address} gave the query up after its time limit ({message}); another process may be "
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
