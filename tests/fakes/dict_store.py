"""A store over a source of truth in dictionaries: for tests that need a store, whatever keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from trivium.graph.source_store import SourceStore, StoredPage


class DictSource:
    """See :class:`trivium.graph.source_store.SourceOfTruth`."""

    location = "memory"

    def __init__(self) -> None:
        self._changes = 0
        self._pages: dict[str, StoredPage] = {}
        self._types: dict[str, str] = {}
        self._settings: dict[str, str] = {}
        self._vectors: dict[str, dict[str, bytes]] = {}

    def state(self) -> int:
        return self._changes

    @contextmanager
    def writing(self) -> Iterator[None]:
        before = (
            dict(self._pages),
            self._types,
            dict(self._settings),
            {kind: dict(vectors) for kind, vectors in self._vectors.items()},
        )
        try:
            yield
        except BaseException:
            self._pages, self._types, self._settings, self._vectors = before
            raise
        self._changes += 1

    def pages(self) -> Iterable[StoredPage]:
        return self._pages.values()

    def put_pages(self, pages: Iterable[StoredPage]) -> None:
        self._pages.update((stored.page.uri, stored) for stored in pages)

    def delete_pages(self, uris: Iterable[str]) -> None:
        for uri in uris:
            del self._pages[uri]

    def types(self) -> Mapping[str, str]:
        return self._types

    def put_types(self, types: Mapping[str, str]) -> None:
        self._types = dict(types)

    def settings(self) -> Mapping[str, str]:
        return self._settings

    def put_setting(self, name: str, value: str | None) -> None:
        self._settings.pop(name, None)
        if value is not None:
            self._settings[name] = value

    def vectors(self, kind: str) -> Mapping[str, bytes]:
        return self._vectors.get(kind, {})

    def put_vectors(self, kind: str, vectors: Mapping[str, bytes]) -> None:
        self._vectors.setdefault(kind, {}).update(vectors)

    def delete_vectors(self, kind: str, keys: Iterable[str]) -> None:
        for key in keys:
            self._vectors.get(kind, {}).pop(key, None)

    def close(self) -> None:
        pass


class DictStore(SourceStore):
    """An empty store."""

    def __init__(self) -> None:
        super().__init__(DictSource())
