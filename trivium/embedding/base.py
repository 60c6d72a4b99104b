"""What an embedder is. One adapter a file beside this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.types import EmbedderIdentity

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. The same text gives the same vector, bit for bit, every time; on a graphics card, or
    from a service, within rounding."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (changes with the weights) and dimension."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """A question as one unit vector (d,), with the model's query prefix where it has one."""
        ...

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Passages as unit vectors (n x d). ``progress`` is called with the number of texts just done.
        Raises EmbeddingError."""
        ...

    def close(self) -> None:
        """Let go of workers and sessions."""
        ...
