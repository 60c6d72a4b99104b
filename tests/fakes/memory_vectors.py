"""Vectors by the text they are of, in a dictionary."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.store import Vectors
from trivium.types import EmbedderIdentity


class MemoryVectors:
    """Unit vectors of one embedder."""

    def __init__(self) -> None:
        self.embedder: EmbedderIdentity | None = None
        self._vectors: dict[str, Vectors] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def __contains__(self, text: str) -> bool:
        return text in self._vectors

    def claim(self, identity: EmbedderIdentity) -> None:
        """Take vectors of this embedder from now on; refused once there are some of another."""
        if self._vectors and identity != self.embedder:
            raise EmbedderMismatchError(f"the store was filled by {self.embedder}, not {identity}")
        self.embedder = identity

    def put(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors (n x d) of texts."""
        if self.embedder is None:
            raise StoreError("set_embedder comes before put_vectors")
        if vectors.shape != (len(texts), self.embedder.dimension):
            raise StoreError(f"expected {(len(texts), self.embedder.dimension)}, got {vectors.shape}")
        if not np.all(np.abs(np.linalg.norm(vectors, axis=1) - 1) < 1e-3):
            raise StoreError("vectors must be finite and of unit length")
        self._vectors.update((text, vectors[i].copy()) for i, text in enumerate(texts))

    def keep(self, texts: Sequence[str]) -> None:
        """Forget the vectors of all other texts."""
        self._vectors = {text: self._vectors[text] for text in texts if text in self._vectors}

    def cosine(self, vector: Vectors, text: str) -> float:
        """Cosine of a unit vector with that of a text, NaN where the text has none."""
        mine = self._vectors.get(text)
        if mine is None:
            return math.nan
        return float(np.clip(mine.astype(np.float64) @ vector.astype(np.float64), -1.0, 1.0))

    def rows(self, texts: Sequence[str | None]) -> Vectors:
        """Vectors of texts (n x d), NaN rows where there is none."""
        dimension = 0 if self.embedder is None else self.embedder.dimension
        rows = np.full((len(texts), dimension), np.nan, dtype=np.float32)
        for i, text in enumerate(texts):
            if text is not None and text in self._vectors:
                rows[i] = self._vectors[text]
        return rows
