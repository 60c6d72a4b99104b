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
        """Embed a question as a unit vector (d,), with the model's query prefix if it has one."""
        ...

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, d). ``progress`` is called with the number of texts just completed.
        Raises EmbeddingError.
        """
        ...

    def close(self) -> None:
        """Release workers and sessions."""
        ...
