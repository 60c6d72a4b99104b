"""The embedder of a store: opened at its first use, and refused where it is not the one that filled the store."""

from __future__ import annotations

import threading
from typing import Protocol

from trivium.embedding.base import Embedder
from trivium.embedding.device import parse_device
from trivium.embedding.late import LateEmbedder, is_late, late
from trivium.embedding.plain import PlainEmbedder, is_plain, without_headings
from trivium.embedding.registry import default_name, open_embedder
from trivium.errors import ConfigurationError, EmbedderMismatchError
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
    another one is refused with EmbedderMismatchError. One that was handed in is not closed here. ``device`` is where the
    embedder computes, whichever device filled the store; ConfigurationError is raised for an unknown one, and for one
    beside an embedder that was handed in.
    """

    def __init__(
        self, store: _Filled, given: str | Embedder | None = None, device: str | None = None
    ) -> None:
        if device is not None:
            parse_device(device)
            if given is not None and not isinstance(given, str):
                raise ConfigurationError(
                    f"the device {device} is for embedders that are named: {given.identity.name} has its own"
                )
        self._store = store
        self._given = given
        self.device = device
        self._opened: Embedder | None = None
        self._late = is_late(store.embedder)
        self._plain = is_plain(store.embedder)
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

    @property
    def name(self) -> str:
        """The embedder's name, which is known before it is opened."""
        stored = self._store.embedder
        if stored is not None:
            return stored.name
        if self._given is not None and not isinstance(self._given, str):
            return self._given.identity.name
        return self._given or default_name()

    @property
    def portable(self) -> str | Embedder:
        """What another process opens the same embedder by: its name, or the one that was handed in."""
        return self.name if self._given is None or isinstance(self._given, str) else self._given

    def get(self) -> Embedder:
        """The embedder, opened at the first call. Raises EmbedderMismatchError when the installed model is another
        version than the one that filled the store, and what opening it raises."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def chunk_late(self) -> None:
        """Fill an empty store by late chunking. Raises EmbedderMismatchError where the store was filled otherwise, and
        EmbeddingError where the embedder cannot."""
        stored = self._store.embedder
        if stored is not None and not is_late(stored):
            raise EmbedderMismatchError(
                f"the store {self._store.location} was filled by {stored.name} without late chunking: build another store"
            )
        with self._lock:
            if self._opened is not None:
                self._opened = late(self._opened)
            self._late = True
        self.get()

    def leave_out_headings(self) -> None:
        """Fill an empty store with vectors of chunks without their headings. Raises EmbedderMismatchError where the store
        was filled otherwise."""
        stored = self._store.embedder
        if stored is not None and not is_plain(stored):
            raise EmbedderMismatchError(
                f"the store {self._store.location} was filled by {stored.name} with headings: build another store"
            )
        with self._lock:
            if self._opened is not None:
                self._opened = without_headings(self._opened)
            self._plain = True
        self.get()

    def _is_given(self, embedder: Embedder) -> bool:
        given = self._given
        return embedder is given or (
            isinstance(embedder, LateEmbedder | PlainEmbedder) and embedder.inner is given
        )

    def on(self, store: _Filled) -> StoreEmbedder:
        """The same embedder for another snapshot of the store; only the first one closes it."""
        if store.embedder is None:
            return StoreEmbedder(store, self._given, self.device)
        return StoreEmbedder(store, self.get())

    def close(self) -> None:
        """Let go of the embedder, unless it was handed in."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None and not self._is_given(opened):
            opened.close()

    def _open(self) -> Embedder:
        stored = self._store.embedder
        if self._given is not None and not isinstance(self._given, str):
            embedder = self._given
        else:
            embedder = open_embedder(self._given if stored is None else stored.name, device=self.device)
        if self._late:
            embedder = late(embedder)
        if self._plain:
            embedder = without_headings(embedder)
        if stored is not None and stored != embedder.identity:
            if not self._is_given(embedder):
                embedder.close()
            raise EmbedderMismatchError(
                f"the store was filled by {stored.name} version {stored.version} ({stored.dimension} dimensions), "
                f"but version {embedder.identity.version} ({embedder.identity.dimension}) is installed: "
                f"install the version it was filled by, or build the store again"
            )
        return embedder
