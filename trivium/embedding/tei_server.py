"""Embeddings from a Text Embeddings Inference server, which runs a model on a GPU for many clients.

Its API: https://huggingface.github.io/text-embeddings-inference/ (``/info``, ``/embed``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from trivium.common import stopping
from trivium.common.fetching import fetch
from trivium.common.iteration import batched
from trivium.common.retries import PassingError, retried, retry_after, wait_between
from trivium.embedding.embedder import Vectors, deduplicate, l2_normalize, to_valid_text
from trivium.embedding.registry import TEI
from trivium.errors import ConfigurationError, EmbeddingError, InputError
from trivium.types import EmbedderIdentity

_SECONDS = 120.0
_INFO_SECONDS = 10.0
_MAX_BYTES = 256 << 20
_RETRIES = 5
_LONGEST_WAIT = 20.0
_PASSING = frozenset((429, 502, 503, 504))
_REQUESTS = 8
"""Concurrent requests. The server combines concurrent requests into one batch."""
_MOST_TEXTS = 256
"""Maximum texts per request, even if the server allows more: an interrupt loses the requests in flight."""
_INSTRUCTION = "Represent this sentence for searching relevant passages: "
_PREFIXES = (
    ("e5-", "query: ", "passage: "),
    ("nomic-embed-text-", "search_query: ", "search_document: "),
    ("bge-small-en", _INSTRUCTION, ""),
    ("bge-base-en", _INSTRUCTION, ""),
    ("bge-large-en", _INSTRUCTION, ""),
    ("arctic-embed-", _INSTRUCTION, ""),
    ("mxbai-embed-large", _INSTRUCTION, ""),
)
"""Prefixes of questions and passages with which families of models were trained, by a part of the model's name."""


@dataclass(frozen=True, slots=True)
class _Served:
    """What the server reports about itself."""

    model: str
    version: str
    batch: int


class ServerEmbedder:
    """An embedder that sends concurrent requests to the server at ``address``.

    ``model`` is the model that the server is expected to serve. The server truncates texts that are too long for it.
    Vectors computed on a GPU are not bitwise reproducible. Thread-safe. Raises ConfigurationError if the server
    serves another model, EmbeddingError if its responses are invalid.
    """

    def __init__(self, address: str, model: str | None = None) -> None:
        self._address = address.rstrip("/")
        self._served = self._ask_info()
        if model is not None and model != self._served.model:
            raise ConfigurationError(
                f"expected {model} from the server {self._address}, but it serves {self._served.model}: name the address"
                f" of another (--embed-with or TRIVIUM_EMBED_WITH), or the embedder {TEI}{self._served.model}"
            )
        name = self._served.model.lower()
        prefixes = next(((before, own) for part, before, own in _PREFIXES if part in name), ("", ""))
        self._before_query, self._before_text = prefixes
        dimension = self._ask([f"{self._before_text}dimension"]).shape[1]
        self._identity = EmbedderIdentity(f"{TEI}{self._served.model}", self._served.version, dimension)

    def __repr__(self) -> str:
        return f"ServerEmbedder({self._address!r}, {self._served.model!r})"

    @property
    def identity(self) -> EmbedderIdentity:
        """Name (the server's name of the model, without the address), version (prefix of its commit) and dimension."""
        return self._identity

    def embed_query(self, text: str) -> Vectors:
        """Embed a question as a unit vector (d,), with the query prefix of the model's family. Raises EmbeddingError."""
        vector: Vectors = self._ask([self._before_query + text], self._identity.dimension)[0]
        return vector

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, d). Equal texts are sent once. Raises EmbeddingError."""
        unique, places = deduplicate(texts)
        if not unique:
            return np.empty((0, self._identity.dimension), dtype=np.float32)
        result = np.empty((len(unique), self._identity.dimension), dtype=np.float32)
        batches = list(batched([self._before_text + text for text in unique], self._served.batch))
        with ThreadPoolExecutor(min(_REQUESTS, len(batches)), thread_name_prefix="embed") as pool:
            asked = [
                pool.submit(copy_context().run, self._ask, batch, self._identity.dimension)
                for batch in batches
            ]
            row = 0
            try:
                for future in asked:
                    vectors = future.result()
                    result[row : row + len(vectors)] = vectors
                    row += len(vectors)
                    if progress is not None:
                        progress(len(vectors))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return result[places]

    def close(self) -> None:
        """Do nothing: no connection is kept open."""

    def _ask_info(self) -> _Served:
        said = self._answer("/info", None, _INFO_SECONDS)
        model = said.get("model_id") if isinstance(said, Mapping) else None
        if not isinstance(model, str) or not model:
            raise EmbeddingError(
                f"expected a Text Embeddings Inference server at {self._address}, got an answer without model_id from"
                f" {self._address}/info"
            )
        version, batch = said.get("model_sha"), said.get("max_client_batch_size")
        return _Served(
            model,
            version[:12] if isinstance(version, str) and version else "unversioned",
            min(batch, _MOST_TEXTS) if isinstance(batch, int) and batch > 0 else 1,
        )

    def _ask(self, texts: Sequence[str], dimension: int | None = None) -> Vectors:
        body = {"inputs": [to_valid_text(text) for text in texts], "truncate": True, "normalize": True}
        vectors = self._answer("/embed", body, _SECONDS)
        try:
            return l2_normalize(cast(Any, vectors), len(texts), dimension)
        except EmbeddingError as error:
            raise EmbeddingError(f"{self._address}: {error}") from error

    def _answer(self, path: str, body: object, seconds: float) -> Any:
        """Return the JSON response of the server. Raises EmbeddingError."""
        try:
            return retried(
                lambda: self._attempt(path, body, seconds),
                _RETRIES,
                wait_between(_LONGEST_WAIT),
                sleep=stopping.sleep,
            )
        except (PassingError, InputError) as error:
            raise EmbeddingError(f"the embeddings server {self._address} failed: {error}") from error

    def _attempt(self, path: str, body: object, seconds: float) -> Any:
        answer = fetch(self._address + path, json=body, seconds=seconds, max_bytes=_MAX_BYTES)
        try:
            said = json.loads(answer.body)
        except (ValueError, RecursionError):
            said = None
        if answer.status == 200 and said is not None:
            return said
        reason = said.get("error") if isinstance(said, Mapping) else None
        failure = f"HTTP {answer.status}" + (f": {str(reason)[:200]}" if reason else "")
        if answer.status in _PASSING:
            raise PassingError(failure, retry_after(answer.retry_after))
        raise InputError(failure if answer.status != 200 else "expected JSON, got something else")
