"""Vectors of pictures, as every store hands them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trivium.common.arrays import dots
from trivium.errors import StoreError
from trivium.graph.records import Floats, Vectors
from trivium.graph.vectors import check_vectors
from trivium.types import EmbedderIdentity

EMBED_PICTURES = "trivium embed --store STORE --images clip"
"""The command that gives pictures their vectors, for messages."""
_BLOCK = 8192
"""Vectors in double precision at once."""


@dataclass(frozen=True)
class PictureVectors:
    """``vectors`` (n x d, unit rows) are those of the pictures that the chunks ``uris`` stand for, by uri."""

    uris: tuple[str, ...]
    vectors: Vectors

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """uri -> row."""
        return {uri: row for row, uri in enumerate(self.uris)}

    def cosines(self, vector: Vectors) -> Floats:
        """Of a unit vector (d,) with each picture (n,), in double precision."""
        starts = range(0, len(self.uris), _BLOCK)
        parts = [dots(self.vectors[start : start + _BLOCK], vector, limit=1.0) for start in starts]
        cosines: Floats = np.concatenate([np.empty(0), *parts])
        return cosines


def join_vectors(found: Mapping[str, bytes], dimension: int) -> PictureVectors:
    """Of the bytes (little-endian, single precision) of each vector by uri."""
    uris = tuple(sorted(found))
    data = b"".join(found[uri] for uri in uris)
    return PictureVectors(uris, np.frombuffer(data, dtype="<f4").reshape(len(uris), dimension))


def split_vectors(vectors: Vectors, count: int, identity: EmbedderIdentity | None) -> list[bytes]:
    """The inverse of :func:`join_vectors`: the bytes of each of ``count`` vectors of an image embedder. Raises StoreError
    where the store has none yet, and where the vectors are not such."""
    if identity is None:
        raise StoreError(
            "the store has no image embedder yet: call set_image_embedder before put_picture_vectors"
        )
    check_vectors(vectors, count, identity.dimension)
    return [row.tobytes() for row in np.ascontiguousarray(vectors, dtype="<f4")]
