"""What every store does with vectors alike: what is embedded of a passage and of a relation, the key that ties a vector
to its text, and the vectors of pictures as they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NoReturn, Protocol

import numpy as np

from trivium.common.arrays import dots
from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import Codes, Floats, Passage, SentenceVectors, Vectors
from trivium.graph.schema import embedding_text, mirror_type
from trivium.text.headings_in_passages import body_of
from trivium.text.normalise import sentences
from trivium.types import EmbedderIdentity

FILLED, EMBEDDED = "the store was filled by embedder", "the pictures of the store were embedded by"
"""What :func:`refuse_embedder` says of texts, and of pictures."""
UNIT_TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be: half-precision models end up within 5e-4."""


def text_hash(text: str) -> str:
    """The key of an embedded text: 128 bits of BLAKE2b, in hexadecimal.

    >>> text_hash("Phobos")
    'a765a8387881851e3a301818493cb448'
    """
    return blake2b(text.encode(), digest_size=16).hexdigest()


def refuse_embedder(what: str, stored: EmbedderIdentity, identity: EmbedderIdentity) -> NoReturn:
    """Raise EmbedderMismatchError: what the text ``what`` begins to say was done by another embedder."""
    raise EmbedderMismatchError(
        f"{what} {stored.name!r} (version {stored.version}, {stored.dimension} dimensions) and cannot take vectors of"
        f" {identity.name!r} (version {identity.version}, {identity.dimension} dimensions); use {stored.name!r} of that"
        " version, or build another store"
    )


def dimension_of(identity: EmbedderIdentity | None) -> int:
    """The dimension of a store's vectors. Raises StoreError if it has no embedder yet."""
    if identity is None:
        raise StoreError("the store has no embedder yet: call set_embedder before vectors are stored")
    return identity.dimension


def check_vectors(vectors: Vectors, count: int, dimension: int) -> None:
    """Raise StoreError unless these are ``count`` finite unit vectors of ``dimension`` numbers."""
    if vectors.shape != (count, dimension):
        raise StoreError(
            f"expected vectors of shape ({count}, {dimension}), one row a text, got {vectors.shape}"
        )
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE))
    if len(wrong):
        raise StoreError(
            f"expected vectors of unit length, got one of length {lengths[wrong[0]]:.6g} in row {wrong[0]}"
            f" ({len(wrong)} of {count} rows are off); normalise them, and look for NaN or infinity"
        )


def check_codes(codes: Sequence[Codes], count: int, dimension: int) -> None:
    """Raise StoreError unless there are ``count`` matrices of 8-bit directions of ``dimension`` numbers."""
    if len(codes) != count:
        raise StoreError(f"expected sentence vectors of {count} passages, got those of {len(codes)}")
    for row, matrix in enumerate(codes):
        if matrix.dtype != np.int8 or matrix.ndim != 2 or matrix.shape[1] != dimension:
            raise StoreError(
                f"expected sentence vectors of shape (m, {dimension}) and type int8, got {matrix.shape} of {matrix.dtype}"
                f" in place {row}"
            )
        if not matrix.any(axis=1).all():
            raise StoreError(f"expected sentence vectors with a direction, got one of zeros in place {row}")


def join_codes(data: Sequence[bytes], dimension: int) -> SentenceVectors:
    """Sentence vectors from what was kept of each chunk: numbers of a byte, ``dimension`` of them a sentence."""
    codes = np.frombuffer(b"".join(data), dtype=np.int8).reshape(-1, max(1, dimension))
    counts = [len(chunk_data) // max(1, dimension) for chunk_data in data]
    return SentenceVectors(codes, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64))


def check_query(vector: Vectors, dimension: int) -> None:
    """Raise StoreError unless this is a finite vector of ``dimension`` numbers."""
    if vector.shape != (dimension,):
        raise StoreError(f"expected a question vector of shape ({dimension},), got {vector.shape}")
    if not np.isfinite(vector).all():
        raise StoreError("expected a question vector of finite numbers, got NaN or infinity in it")


_SHORTEST = 8
"""Characters: what is shorter ("pp. 3.", a lone number of a list) says nothing by itself."""


def sentence_texts(passage: Passage, headings: Sequence[str] | None = None) -> list[str]:
    """Each sentence of its body under the headings of its passage, or under those given; none where there is only one,
    which is embedded as the passage.

    >>> sentence_texts(Passage(("Mars", "Moons"), "It has two moons. They are small."))
    ['Mars > Moons: It has two moons.', 'Mars > Moons: They are small.']
    >>> sentence_texts(Passage(("Mars", "Moons"), "It has two moons."))
    []
    """
    headings = passage.headings if headings is None else headings
    body = body_of(passage.text, passage.headings)
    found = sentences(body)
    if len(found) < 2:
        return []
    return [embedding_text(headings, body[start:end]) for start, end in found if end - start >= _SHORTEST]


class RelationReader(Protocol):
    """What is asked of a store."""

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]: ...

    def relation_vectors(self, types: Sequence[str]) -> Vectors: ...


def relation_embeddings(store: RelationReader, relations: Sequence[RelationEdge]) -> Vectors:
    """Embeddings (n x d) of relations, where the store keeps those of their types; see
    :meth:`trivium.graph.protocols.GraphStore.relation_embeddings`."""
    sources = list(dict.fromkeys(relation.source for relation in relations))
    stated = store.relations(sources)
    types = {mirrored(relation).triple: relation.type for relation in stated}
    # One that is stated comes before a mirror of its name.
    types |= {relation.triple: relation.type for relation in stated}
    kinds = sorted(set(types.values()))
    vectors = store.relation_vectors(kinds)
    row_of = {kind: row for row, kind in enumerate(kinds)}
    found = np.full((len(relations), vectors.shape[1]), np.nan, dtype=np.float32)
    for row, relation in enumerate(relations):
        kind = types.get(relation.triple)
        if kind is not None:
            found[row] = vectors[row_of[kind]]
    return found


def mirrored(relation: RelationEdge) -> RelationEdge:
    """The relation back.

    >>> mirrored(RelationEdge("Phobos", "discovered by", "Asaph Hall")).triple
    ('Asaph Hall', 'is_discovered by_of', 'Phobos')
    """
    return relation._replace(source=relation.target, type=mirror_type(relation.type), target=relation.source)


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
