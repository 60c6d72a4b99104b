"""Caches the vectors of recent questions. An answer embeds its question in several steps, users search for a question
and then ask it, and services charge for every call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trivium.common.cache import LruCache
from trivium.embedding.embedder import Embedder, Vectors, embed_queries
from trivium.errors import InputError
from trivium.types import EmbedderIdentity

QUESTIONS = 1_000
"""Default capacity; 1.5 kB per question with 384 dimensions."""


class RememberedQuestions:
    """Cache of the vectors of the last ``capacity`` questions, for one embedder; 0 disables it. Thread-safe. Raises
    InputError for a negative capacity.
    """

    def __init__(self, capacity: int = QUESTIONS) -> None:
        if capacity < 0:
            raise InputError(f"expected at least 0 questions to remember, got {capacity}")
        self._vectors: LruCache[str, Vectors] | None = LruCache(capacity) if capacity else None

    def of(self, embedder: Embedder) -> RememberingEmbedder:
        """Return the embedder, with this cache in front of its questions."""
        return RememberingEmbedder(embedder, self)

    def vector(self, embedder: Embedder, text: str) -> Vectors:
        """Return the vector of a question (d,), read-only."""
        return self.vectors(embedder, [text])[0]

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
        """Return the vectors of questions (d,), read-only. Those that are not in the cache are embedded together."""
        if self._vectors is None:
            return embed_queries(embedder, texts)
        known = self._vectors.find(embedder.identity, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        found = {}
        for text, embedded in zip(missing, embed_queries(embedder, missing), strict=True):
            found[text] = np.array(embedded)  # a copy: the embedder may reuse its array
            found[text].flags.writeable = False
        if found:
            self._vectors.put(embedder.identity, found)
        known |= found
        return [known[text] for text in texts]


class RememberingEmbedder:
    """An embedder with a cache of question vectors. Closing it does not close ``inner``."""

    def __init__(self, inner: Embedder, questions: RememberedQuestions) -> None:
        self.inner = inner
        self._questions = questions

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of ``inner``."""
        return self.inner.identity

    def embed_query(self, text: str) -> Vectors:
        return self._questions.vector(self.inner, text)

    def embed_queries(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the vectors of several questions (d,), read-only."""
        return self._questions.vectors(self.inner, texts)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        return self.inner.embed(texts, progress)

    def close(self) -> None:
        """Do nothing: ``inner`` is shared."""
