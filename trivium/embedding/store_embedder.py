"""The embedder of a store: opened on first use, and checked against the embedder the store was built with. It caches the
vectors of recent questions: an answer embeds its question in several steps, users search for a question and then ask it,
and services charge for every call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from trivium.common.cache import LruCache
from trivium.embedding.device import parse_device
from trivium.embedding.embedder import Embedder, Vectors, embed_queries
from trivium.embedding.late_chunking import (
    LateEmbedder,
    PlainEmbedder,
    is_late,
    is_plain,
    late,
    without_headings,
)
from trivium.embedding.registry import default_name, open_embedder
from trivium.errors import ConfigurationError, EmbedderMismatchError, InputError
from trivium.text.languages import ENGLISH
from trivium.types import EmbedderIdentity


class _Filled(Protocol):
    """The part of a store that :class:`StoreEmbedder` uses."""

    @property
    def embedder(self) -> EmbedderIdentity | None: ...

    @property
    def location(self) -> str: ...


class StoreEmbedder:
    """The embedder of one store. Thread-safe.

    ``given`` is the embedder for an empty store, by name or as an object. A store with vectors keeps its embedder:
    another one raises EmbedderMismatchError. An embedder passed as an object is not closed by :meth:`close`.
    ``device`` is where the embedder runs, independent of the device the store was built on. Raises ConfigurationError
    for an unknown device, and for a device given together with an embedder object.
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
        """Whether an embedder was given, by name or as an object."""
        return self._given is not None

    @property
    def name(self) -> str:
        """The embedder's name, available before it is opened."""
        return self.name_for(ENGLISH)

    def name_for(self, language: str) -> str:
        """Return the embedder's name, which depends on the language of the documents (a code) if none was chosen."""
        stored = self._store.embedder
        if stored is not None:
            return stored.name
        if self._given is not None and not isinstance(self._given, str):
            return self._given.identity.name
        return self._given or default_name(language=language)

    def choose_for(self, language: str) -> None:
        """Choose the embedder for documents in a language (a code), unless one was chosen, or chunks late."""
        with self._lock:
            name = self.name_for(language)
            if name == self.name or self._late:
                return
            opened, self._opened, self._given = self._opened, None, name
        if opened is not None:
            opened.close()

    @property
    def portable(self) -> str | Embedder:
        """What another process needs to open the same embedder: its name, or the object that was given."""
        return self.name if self._given is None or isinstance(self._given, str) else self._given

    def get(self) -> Embedder:
        """Return the embedder, opened on the first call. Raises EmbedderMismatchError if the installed version of the
        model differs from the one the store was built with, and the errors of opening it.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def chunk_late(self) -> None:
        """Use late chunking for an empty store. Raises EmbedderMismatchError if the store was built without it, and
        EmbeddingError if the embedder does not support it.
        """
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
        """Embed the chunks of an empty store without their headings. Raises EmbedderMismatchError if the store was
        built with them.
        """
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
        """Return the embedder for another snapshot of the store. Only the original closes it."""
        if store.embedder is None:
            return StoreEmbedder(store, self._given, self.device)
        return StoreEmbedder(store, self.get())

    def close(self) -> None:
        """Close the embedder, unless it was passed as an object."""
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


QUESTIONS = 1_000
"""Default capacity; 1.5 kB per question with 384 dimensions."""


class RememberedQuestions:
    """Cache of the vectors of the last ``capacity`` questions, for one embedder; 0 disables it. Thread-safe. Raises
    InputError for a negative capacity.
    """

    def __init__(self, capacity: int = QUESTIONS) -> None:
        if capacity < 0:
            raise InputError(f"expected at least 0 questions to remember, got {capacity}")
        self._vectors: LruCache[str, Vectors] | None = LruCache(capacity) if capacity else None

    def of(self, embedder: Embedder) -> RememberingEmbedder:
        """Return the embedder, with this cache in front of its questions."""
        return RememberingEmbedder(embedder, self)

    def vector(self, embedder: Embedder, text: str) -> Vectors:
        """Return the vector of a question (d,), read-only."""
        return self.vectors(embedder, [text])[0]

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
        """Return the vectors of questions (d,), read-only. Those that are not in the cache are embedded together."""
        if self._vectors is None:
            return embed_queries(embedder, texts)
        known = self._vectors.find(embedder.identity, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        found = {}
        for text, embedded in zip(missing, embed_queries(embedder, missing), strict=True):
            found[text] = np.array(embedded)  # a copy: the embedder may reuse its array
            found[text].flags.writeable = False
        if found:
            self._vectors.put(embedder.identity, found)
        known |= found
        return [known[text] for text in texts]


class RememberingEmbedder:
    """An embedder with a cache of question vectors. Closing it does not close ``inner``."""

    def __init__(self, inner: Embedder, questions: RememberedQuestions) -> None:
        self.inner = inner
        self._questions = questions

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of ``inner``."""
        return self.inner.identity

    def embed_query(self, text: str) -> Vectors:
        return self._questions.vector(self.inner, text)

    def embed_queries(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the vectors of several questions (d,), read-only."""
        return self._questions.vectors(self.inner, texts)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        return self.inner.embed(texts, progress)

    def close(self) -> None:
        """Do nothing: ``inner`` is shared."""
