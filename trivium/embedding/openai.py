"""Embeddings from an OpenAI-compatible endpoint: batched, with retries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from trivium.embedding.embedder import Vectors, deduplicate, l2_normalize, to_valid_text
from trivium.endpoints.endpoint import Endpoint
from trivium.endpoints.endpoint_errors import EndpointError
from trivium.endpoints.token_counts import TokenCounter
from trivium.errors import EmbeddingError
from trivium.types import EmbedderIdentity

TEXT_TOKENS = 8191
"""Maximum tokens per text of OpenAI's embedding models."""

_BATCH_TEXTS = 2048
_BATCH_TOKENS = 250_000
"""An OpenAI request may hold 300,000 tokens; the margin allows for other tokenisers."""


class OpenAIEmbedder:
    """An embedder that calls ``<base url>/embeddings``.

    Dimension and version (the model name reported by the endpoint) are taken from the first response. Unlike those of
    local models, vectors of a service are not bitwise reproducible. Thread-safe.
    """

    def __init__(self, model: str, endpoint: Endpoint, counter: TokenCounter) -> None:
        self._model = model
        self._endpoint = endpoint
        self._counter = counter
        self._identity: EmbedderIdentity | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._model!r} at {self._endpoint.host})"

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity; queries the endpoint if nothing has been embedded yet. Raises EmbeddingError."""
        return self._ask(["dimension"])[0] if self._identity is None else self._identity

    def embed_query(self, text: str) -> Vectors:
        """Embed a question as a unit vector (d,). Raises EmbeddingError."""
        vector: Vectors = self.embed([text])[0]
        return vector

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, d). Equal texts are sent once. Raises EmbeddingError."""
        unique, places = deduplicate(texts)
        if not unique:
            return np.empty((0, self.identity.dimension), dtype=np.float32)
        parts: list[Vectors] = []
        for batch in self._batches(unique):
            parts.append(self._ask(batch)[1])
            if progress is not None:
                progress(len(batch))
        return np.concatenate(parts)[places]

    def close(self) -> None:
        """Close open connections."""
        self._endpoint.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Split texts into batches within the limits of a request."""
        batch: list[str] = []
        total = 0
        for text in texts:
            # The API rejects empty texts.
            cut, count = self._counter.truncate(to_valid_text(text) if text.strip() else " ", TEXT_TOKENS)
            if batch and (len(batch) == _BATCH_TEXTS or total + count > _BATCH_TOKENS):
                yield batch
                batch, total = [], 0
            batch.append(cut)
            total += count
        if batch:
            yield batch

    def _ask(self, batch: list[str]) -> tuple[EmbedderIdentity, Vectors]:
        body = {"model": self._model, "input": batch, "encoding_format": "float"}
        try:
            answer = self._endpoint.post("/embeddings", body)
            rows = _rows(answer, len(batch))
            with self._lock:
                vectors = l2_normalize(
                    rows, len(batch), self._identity.dimension if self._identity is not None else None
                )
                if self._identity is None:
                    reported = answer.get("model")
                    version = reported if isinstance(reported, str) and reported else self._model
                    self._identity = EmbedderIdentity(f"openai:{self._model}", version, vectors.shape[1])
                return self._identity, vectors
        except (EndpointError, EmbeddingError) as error:
            raise EmbeddingError(f"openai:{self._model}: {error}") from error


def _rows(answer: dict[str, Any], count: int) -> list[Any]:
    """Return the embeddings of a response in the order of the texts."""
    try:
        rows = {item["index"]: item["embedding"] for item in answer["data"]}
    except (KeyError, TypeError) as error:
        raise EmbeddingError(
            "expected data[].index and data[].embedding, got an answer without them"
        ) from error
    if len(answer["data"]) != count or rows.keys() != set(range(count)):
        raise EmbeddingError(f"expected one vector for each of {count} texts, got {len(rows)}")
    return [rows[index] for index in range(count)]
