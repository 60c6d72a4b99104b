"""Which store a name means: a folder, or a database of a Neo4j server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.errors import StoreError, StoreNotFoundError
from trivium.graph.protocols import GraphStore
from trivium.graph.sqlite import EmbeddedStore

if TYPE_CHECKING:
    from trivium.graph.neo4j import Neo4jStore


def is_address(store: str | Path) -> bool:
    """Whether a store is named by a server's address rather than by a folder.

    >>> is_address("bolt://localhost:7687"), is_address("my-store")
    (True, False)
    """
    return isinstance(store, str) and "://" in store


def open_store(store: str | Path) -> GraphStore:
    """The store in a folder, or that in the database at a ``bolt://`` or ``neo4j://`` address. Raises StoreNotFoundError
    and StoreFormatError, ConfigurationError for another kind of address."""
    if is_address(store):
        return _neo4j().open(str(store))
    return EmbeddedStore.open(store)


def exists(store: str | Path) -> bool:
    """Whether there is a store in a folder."""
    return EmbeddedStore.exists(store)


def open_or_create_store(store: str | Path) -> GraphStore:
    """:func:`open_store`, or an empty store where there is nothing yet."""
    if is_address(store):
        try:
            return _neo4j().open(str(store))
        except StoreNotFoundError:
            return _neo4j().create(str(store))
    if not EmbeddedStore.exists(store):
        try:
            return EmbeddedStore.create(store)
        except StoreError:
            if not EmbeddedStore.exists(store):  # otherwise another process was first
                raise
    return EmbeddedStore.open(store)


def may_hold_something(store: str | Path) -> bool:
    """Whether there is a store in a folder; that of a server is not asked."""
    return is_address(store) or exists(store)


@contextmanager
def never_left_empty(store: str | Path) -> Iterator[None]:
    """Around what makes and fills a store, and closes it: where that fails before a page has come, a folder or database
    that was no store before is left as it was."""
    remove = _remover(store)
    try:
        yield
    except BaseException:  # also where it is interrupted
        with suppress(StoreError, OSError):
            remove()
        raise


def _remover(store: str | Path) -> Callable[[], object]:
    """What removes the store that is going to be made, as long as it is empty; nothing where there is one already."""
    if is_address(store):
        with suppress(StoreError):  # a server that is not there is said by whoever opens the store
            if not _neo4j().exists(str(store)):
                return lambda: _neo4j().discard_empty(str(store))
        return lambda: None
    if exists(store):
        return lambda: None
    with_folder = not Path(store).exists()
    return lambda: EmbeddedStore.exists(store) and EmbeddedStore.discard_empty(store, with_folder=with_folder)


def _neo4j() -> type[Neo4jStore]:
    from trivium.graph.neo4j import Neo4jStore  # the driver takes a while to load, and a folder needs none

    return Neo4jStore
