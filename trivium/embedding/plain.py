"""Chunks embedded without their headings: the vector of a chunk is that of its text alone.

By default a chunk is embedded under its headings ("Page > Section: text"), which tells vector search what page and
section say. Without them every view says something of its own, as in the thesis that Trivium started from.
"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.embedding.base import Embedder
from trivium.embedding.late import is_late
from trivium.embedding.variant import Variant
from trivium.errors import EmbedderMismatchError
from trivium.types import EmbedderIdentity

SUFFIX = "+no-headings"
"""What follows the version in the identity of an embedder that leaves headings out: vectors do not mix."""


class PlainEmbedder(Variant[Embedder]):
    """An embedder whose stores have chunks without headings: another identity, everything else as it is."""

    suffix = SUFFIX


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
