"""Embedding chunks without their headings: the vector of a chunk is that of its text alone.

By default a chunk is embedded with its headings ("Page > Section: text"), so vector search also reflects the page and
section. Without headings the retrievers are more independent, as in the thesis that Trivium started from.
"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.embedding.embedder import Embedder
from trivium.embedding.late_chunking import is_late
from trivium.embedding.variant import Variant
from trivium.errors import EmbedderMismatchError
from trivium.types import EmbedderIdentity

SUFFIX = "+no-headings"
"""Suffix of the version in the identity of an embedder that omits headings, since its vectors cannot be mixed with
others.
"""


class PlainEmbedder(Variant[Embedder]):
    """An embedder for stores whose chunks are embedded without headings. Only its identity differs from that of
    ``inner``.
    """

    suffix = SUFFIX


def without_headings(embedder: Embedder) -> PlainEmbedder:
    """Return the variant of an embedder that omits headings. Raises EmbedderMismatchError for a late-chunking
    embedder, which is meant to use the context of a chunk.
    """
    if isinstance(embedder, PlainEmbedder):
        return embedder
    if is_late(embedder.identity):
        raise EmbedderMismatchError(
            f"{embedder.identity.name} chunks late, which puts the title before each text: expected one or the other"
        )
    return PlainEmbedder(embedder)


def is_plain(identity: EmbedderIdentity | None) -> bool:
    """Whether a store with this embedder embeds chunks without headings."""
    return identity is not None and identity.version.endswith(SUFFIX)


def embedded_headings(identity: EmbedderIdentity, headings: Sequence[str]) -> tuple[str, ...]:
    """Return the headings that are embedded with a chunk's text: all or none."""
    return () if is_plain(identity) else tuple(headings)
