"""Embedders that fill stores in another way than they do by default: what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from trivium.embedding.base import Embedder, Vectors
from trivium.types import EmbedderIdentity

E = TypeVar("E", bound=Embedder)


class Variant(Generic[E]):
    """An embedder under another identity, so that its vectors do not mix with those of ``inner``; everything else is as
    it is. ``suffix`` is what follows the version."""

    suffix: ClassVar[str]

    def __init__(self, inner: E) -> None:
        self.inner = inner

    @property
    def identity(self) -> EmbedderIdentity:
        """That of the embedder, its version marked."""
        own = self.inner.identity
        return replace(own, version=own.version + self.suffix)

    def embed_query(self, text: str) -> Vectors:
        return self.inner.embed_query(text)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        return self.inner.embed(texts, progress)

    def close(self) -> None:
        self.inner.close()
