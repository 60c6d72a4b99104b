"""Parts of an export, each written unless it is there already and made from the same data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from trivium.graph.bulk import tables
from trivium.graph.bulk.folder import Folder
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.graph.schema import SCHEMA_VERSION

RULES = "11"
"""Bumped when the same store would give other files, so that those of an earlier export are not kept."""
LINES_A_WRITE = 20_000
Lines = Iterator[tuple[str, Iterable[str]]]
"""Lines of tables, by name."""
Embeddings = Mapping[str, Vectors]
_COUNTED = (tables.PAGES.name, tables.ENTITIES.name)
"""Tables whose lines are the progress."""


class Parts:
    """Writes parts into a folder. ``names`` are those that belong to the export, in order. Each part depends on those
    before it, so its digest continues theirs.
    """

    def __init__(self, folder: Folder) -> None:
        self.names: list[str] = []
        self._folder = folder
        self._hash = hashlib.blake2b(digest_size=16)

    @property
    def digest(self) -> bytes:
        """Identifies everything that was noted so far."""
        return self._hash.digest()

    def note(self, source: object) -> None:
        """Add to the digest something that the following parts are made from."""
        self._hash.update(source if isinstance(source, bytes) else repr(source).encode())

    def part(self, name: str, lines: Lines, size: int = 0) -> Iterator[int]:
        """Write a part, unless it is there already. Yields the progress, ``size`` in all."""
        self.names.append(name)
        digest = self.digest.hex()
        if self._folder.keeps(name, digest):
            yield size
            return
        with self._folder.part(name, digest) as part:
            for table, some in lines:
                rest = iter(some)
                while listed := list(islice(rest, LINES_A_WRITE)):
                    part.write(table, listed)
                    if table in _COUNTED:
                        yield len(listed)


def facts(store: GraphStore, types: Mapping[str, str]) -> tuple[object, ...]:
    """Return what all parts of a store depend on. ``types`` are those of its entities."""
    known = (store.chunker, list(types.items()), store.languages)
    return RULES, SCHEMA_VERSION, store.embedder, store.image_embedder, *known


def relation_vectors(store: GraphStore, kinds: Sequence[str]) -> Embeddings:
    """Return the vectors of relation types, none if the store has no embedder."""
    return {} if store.embedder is None else by(kinds, store.relation_vectors(kinds))


def by(names: Sequence[str], vectors: Vectors) -> Embeddings:
    """Return the vectors (n, d) of n names; none of a store that has no vectors at all."""
    return dict(zip(names, vectors, strict=True)) if vectors.shape[1] else {}
