"""Vectors by the text they are of, in a dictionary."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.records import Codes, SentenceVectors, Vectors
from trivium.types import EmbedderIdentity


class MemoryVectors:
    """Unit vectors of one embedder."""

    def __init__(self) -> None:
        self.embedder: EmbedderIdentity | None = None
        self._vectors: dict[str, Vectors] = {}
        self._sentences: dict[str, Codes] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def __contains__(self, text: str) -> bool:
        return text in self._vectors

    def claim(self, identity: EmbedderIdentity) -> None:
        """Take vectors of this embedder from now on; refused once there are some of another."""
        if (self._vectors or self._sentences) and identity != self.embedder:
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

    def put_sentences(self, texts: Sequence[str], codes: Sequence[Codes]) -> None:
        """Keep vectors of the sentences of texts."""
        if self.embedder is None:
            raise StoreError("set_embedder comes before put_sentences")
        if len(texts) != len(codes):
            raise StoreError(f"expected {len(texts)} arrays, got {len(codes)}")
        for one in codes:
            if (
                one.dtype != np.int8
                or one.shape[1:] != (self.embedder.dimension,)
                or not one.any(axis=1).all()
            ):
                raise StoreError(f"not sentence vectors: {one!r}")
        self._sentences.update((text, one.copy()) for text, one in zip(texts, codes, strict=True))

    def has_sentences(self, text: str) -> bool:
        """Whether sentence vectors of the text were put, even if there are none in it."""
        return text in self._sentences

    def sentences(self, texts: Sequence[str | None]) -> SentenceVectors:
        """Of texts, in their order."""
        dimension = 0 if self.embedder is None else self.embedder.dimension
        none = np.zeros((0, max(1, dimension)), dtype=np.int8)
        codes = [none if text is None else self._sentences.get(text, none) for text in texts]
        starts = np.cumsum([0, *(len(one) for one in codes)])
        return SentenceVectors(np.concatenate([none, *codes]), starts.astype(np.int64))

    def keep(self, texts: Sequence[str]) -> None:
        """Forget the vectors of all other texts."""
        self._sentences = {text: self._sentences[text] for text in texts if text in self._sentences}
        self._vectors = {text: self._vectors[text] for text in texts if text in self._vectors}

    def drop(self, texts: Sequence[str]) -> None:
        """Forget the vectors of these texts, and of their sentences."""
        for text in texts:
            self._vectors.pop(text, None)
            self._sentences.pop(text, None)

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
