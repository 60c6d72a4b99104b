"""Base class of embedders that fill stores in a non-default way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from trivium.embedding.embedder import Embedder, Vectors, embed_queries
from trivium.types import EmbedderIdentity

E = TypeVar("E", bound=Embedder)


class Variant(Generic[E]):
    """An embedder with its own identity, so that its vectors are not mixed with those of ``inner``. Everything else
    is delegated. ``suffix`` is appended to the version.
    """

    suffix: ClassVar[str]

    def __init__(self, inner: E) -> None:
        self.inner = inner

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of ``inner``, with the suffix."""
        own = self.inner.identity
        return replace(own, version=own.version + self.suffix)

    def embed_query(self, text: str) -> Vectors:
        return self.inner.embed_query(text)

    def embed_queries(self, texts: Sequence[str]) -> list[Vectors]:
        return embed_queries(self.inner, texts)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        return self.inner.embed(texts, progress)

    def close(self) -> None:
        self.inner.close()
