"""The embedder of a store: opened at its first use, and refused where it is not the one that filled the store."""

from __future__ import annotations

import threading
from typing import Protocol

from trivium.embedding.base import Embedder
from trivium.embedding.registry import open_embedder
from trivium.errors import EmbedderMismatchError
from trivium.types import EmbedderIdentity


class _Filled(Protocol):
    """What this needs of a store."""

    @property
    def embedder(self) -> EmbedderIdentity | None: ...

    @property
    def location(self) -> str: ...


class StoreEmbedder:
    """The embedder of one store. Threads may share it.

    ``given`` names who fills an empty store, or is an embedder of one's own; a filled store keeps its embedder, so that
    another one is refused with EmbedderMismatchError. One that was handed in is not closed here.
    """

    def __init__(self, store: _Filled, given: str | Embedder | None = None) -> None:
        self._store = store
        self._given = given
        self._opened: Embedder | None = None
        self._lock = threading.Lock()
        stored = store.embedder
        name = given if given is None or isinstance(given, str) else given.identity.name
        if stored is not None and name is not None and name != stored.name:
            raise EmbedderMismatchError(
                f"the store {store.location} was filled by {stored.name}, not by {name}: "
                f"open it without naming an embedder, or build another store"
            )

    @property
    def chosen(self) -> bool:
        """Whether an embedder was named or handed in."""
        return self._given is not None

    def get(self) -> Embedder:
        """The embedder, opened at the first call. Raises EmbedderMismatchError when the installed model is another
        version than the one that filled the store, and what opening it raises."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def on(self, store: _Filled) -> StoreEmbedder:
        """The same embedder for another snapshot of the store; only the first one closes it."""
        if store.embedder is None:
            return StoreEmbedder(store, self._given)
        return StoreEmbedder(store, self.get())

    def close(self) -> None:
        """Let go of the embedder, unless it was handed in."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None and opened is not self._given:
            opened.close()

    def _open(self) -> Embedder:
        stored = self._store.embedder
        if self._given is not None and not isinstance(self._given, str):
            embedder = self._given
        else:
            embedder = open_embedder(self._given if stored is None else stored.name)
        if stored is not None and stored != embedder.identity:
            if embedder is not self._given:
                embedder.close()
            raise EmbedderMismatchError(
                f"the store was filled by {stored.name} version {stored.version} ({stored.dimension} dimensions), "
                f"but version {embedder.identity.version} ({embedder.identity.dimension}) is installed: "
                f"install the version it was filled by, or build the store again"
            )
        return embedder
