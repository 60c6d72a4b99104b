"""What a database must do so that a store can be made of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from trivium.graph.page_graph import PageGraph

TEXTS, SENTENCES, PICTURES = "texts", "sentences", "pictures"
"""Kinds of vectors: of the texts of nodes, by text; of the sentences of chunks, by the text of the chunk; of pictures, by
the uri of their chunk."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page with all aliases, relations and questions that it has by now. ``added`` is when the store first got it (ISO
    8601, UTC); ``digest`` the :func:`~trivium.graph.page_facts.page_digest` of what was written.
    """

    page: PageGraph
    added: str
    digest: str


class SourceOfTruth(Protocol):
    """Keeps pages, types, settings and vectors, and returns them as they were written. It need not know what they mean,
    nor search them: :class:`~trivium.graph.source_store.SourceStore` does.

    Any number of threads read. Errors should be a :class:`~trivium.errors.StoreError`.
    """

    @property
    def location(self) -> str:
        """Where the database is, for display."""
        ...

    def state(self) -> Hashable:
        """Return the name of the committed state, another one after every change, whichever process made it. Asked
        before every read, so it should be quick.
        """
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Commit what is written in the block at its end, or nothing of it if an error is raised. Other writers wait."""
        ...

    def pages(self) -> Iterable[StoredPage]:
        """Return all pages, in any order."""
        ...

    def put_pages(self, pages: Iterable[StoredPage]) -> None:
        """Store pages, each in place of the one with its uri."""
        ...

    def delete_pages(self, uris: Iterable[str]) -> None:
        """Remove pages."""
        ...

    def types(self) -> Mapping[str, str]:
        """Return the types of entities by uri."""
        ...

    def put_types(self, types: Mapping[str, str]) -> None:
        """Replace all types."""
        ...

    def settings(self) -> Mapping[str, str]:
        """Return all settings by name."""
        ...

    def put_setting(self, name: str, value: str | None) -> None:
        """Replace a setting; None removes it."""
        ...

    def vectors(self, kind: str) -> Mapping[str, bytes]:
        """Return all vectors of a kind (:data:`TEXTS`, :data:`SENTENCES`, :data:`PICTURES`) by text or uri."""
        ...

    def put_vectors(self, kind: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors of a kind, each in place of the one with its text or uri."""
        ...

    def delete_vectors(self, kind: str, keys: Iterable[str]) -> None:
        """Remove vectors of a kind by text or uri. Unknown ones are skipped."""
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...
