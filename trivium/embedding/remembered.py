"""The vectors of the questions asked last: an answer embeds its question again for each of its steps, people search and
then ask the same, and a service is paid for every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trivium.common.cache import LruCache
from trivium.embedding.base import Embedder, Vectors
from trivium.errors import InputError
from trivium.types import EmbedderIdentity

QUESTIONS = 1_000
"""So many are remembered: 1.5 kB each with 384 dimensions."""


class RememberedQuestions:
    """The vectors of the last ``capacity`` questions, of one embedder; 0: none. Any number of threads may use it. Raises
    InputError for fewer."""

    def __init__(self, capacity: int = QUESTIONS) -> None:
        if capacity < 0:
            raise InputError(f"expected at least 0 questions to remember, got {capacity}")
        self._vectors: LruCache[str, Vectors] | None = LruCache(capacity) if capacity else None

    def of(self, embedder: Embedder) -> RememberingEmbedder:
        """The embedder, which does not embed again what is remembered."""
        return RememberingEmbedder(embedder, self)

    def vector(self, embedder: Embedder, text: str) -> Vectors:
        """The vector of a question (d,), which cannot be written to."""
        if self._vectors is None:
            return embedder.embed_query(text)
        known = self._vectors.find(embedder.identity, [text])
        if text in known:
            return known[text]
        vector = np.array(embedder.embed_query(text))  # what an embedder gave stays its own
        vector.flags.writeable = False
        self._vectors.put(embedder.identity, {text: vector})
        return vector


class RememberingEmbedder:
    """An embedder beside the questions it has embedded before. It is closed where ``inner`` is."""

    def __init__(self, inner: Embedder, questions: RememberedQuestions) -> None:
        self.inner = inner
        self._questions = questions

    @property
    def identity(self) -> EmbedderIdentity:
        """That of the embedder."""
        return self.inner.identity

    def embed_query(self, text: str) -> Vectors:
        return self._questions.vector(self.inner, text)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        return self.inner.embed(texts, progress)

    def close(self) -> None:
        """Nothing: others use the embedder."""
