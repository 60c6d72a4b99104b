"""The embedder protocol. Adapters are in the other modules of this package, one per file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.types import EmbedderIdentity

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. Results are bitwise reproducible on the CPU; on a GPU or from a service they
    agree within rounding errors.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (changes with the weights) and dimension."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a question as a unit vector (d,), with the model's query prefix if it has one. An embedder that takes
        less time for several may also have ``embed_queries``(texts), with unit vectors (n, d); see
        :func:`embed_queries`.
        """
        ...

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, d). ``progress`` is called with the number of texts just completed.
        Raises EmbeddingError.
        """
        ...

    def close(self) -> None:
        """Release workers and sessions."""
        ...


def embeds_together(embedder: Embedder) -> bool:
    """Whether the embedder, or the one that it wraps, takes several questions at once."""
    return callable(getattr(getattr(embedder, "inner", embedder), "embed_queries", None))


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
    """Return the vectors of questions (d,), embedded together if the embedder does that. Raises EmbeddingError."""
    if len(texts) > 1 and embeds_together(embedder):
        return list(embedder.embed_queries(texts))  # type: ignore[attr-defined]
    return [embedder.embed_query(text) for text in texts]
