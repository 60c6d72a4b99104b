"""Chunks embedded without their headings: the vector of a chunk is that of its text alone.

By default a chunk is embedded under its headings ("Page > Section: text"), which tells vector search what page and
section say. Without them every view says something of its own, as in the thesis that Trivium started from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from trivium.embedding.base import Embedder, Vectors
from trivium.embedding.late import is_late
from trivium.errors import EmbedderMismatchError
from trivium.types import EmbedderIdentity

SUFFIX = "+no-headings"
"""What follows the version in the identity of an embedder that leaves headings out: vectors do not mix."""


class PlainEmbedder:
    """An embedder whose stores have chunks without headings: another identity, everything else as it is."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner

    @property
    def identity(self) -> EmbedderIdentity:
        """That of the embedder, its version marked."""
        own = self.inner.identity
        return replace(own, version=own.version + SUFFIX)

    def embed_query(self, text: str) -> Vectors:
        return self.inner.embed_query(text)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        return self.inner.embed(texts, progress)

    def close(self) -> None:
        self.inner.close()


def without_headings(embedder: Embedder) -> PlainEmbedder:
    """The embedder, leaving headings out. Raises EmbedderMismatchError for one that chunks late, which is to see what
    stands around a chunk."""
    if isinstance(embedder, PlainEmbedder):
        return embedder
    if is_late(embedder.identity):
        raise EmbedderMismatchError(
            f"{embedder.identity.name} chunks late, which puts the title before each text: expected one or the other"
        )
    return PlainEmbedder(embedder)


def is_plain(identity: EmbedderIdentity | None) -> bool:
    """Whether chunks of a store with this embedder are embedded without their headings."""
    return identity is not None and identity.version.endswith(SUFFIX)


def embedded_headings(identity: EmbedderIdentity, headings: Sequence[str]) -> tuple[str, ...]:
    """Those of a chunk's headings that are embedded with its text: all, or none."""
    return () if is_plain(identity) else tuple(headings)
