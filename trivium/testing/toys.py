"""Parts that need no model and no download: an embedder, a store with four pages, and a question to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
import orjson
from numpy.typing import NDArray

from trivium.embedding.embedder import Vectors
from trivium.engine import Engine
from trivium.retrievers.query import Query
from trivium.text.normalise import terms
from trivium.types import EmbedderIdentity

TOY_RECORDS = (
    ("Mars", "Mars is the fourth planet from the Sun. Its two moons are Phobos and Deimos."),
    ("Phobos", "Phobos is the larger moon of Mars. Asaph Hall discovered it in 1877."),
    ("Deimos", "Deimos is the smaller moon of Mars. It was found six days before Phobos."),
    ("Asaph Hall", "Asaph Hall was an American astronomer who discovered the moons of Mars."),
)
"""Titles and texts of the pages of :func:`toy_store`. Mentions of each other become links."""


class HashEmbedder:
    """An embedder for tests: each word contributes a pseudo-random direction, so texts that share words are similar. It
    loads nothing, is deterministic on every machine, and knows nothing about meaning.
    """

    def __init__(self, dimension: int = 64) -> None:
        self.identity = EmbedderIdentity("hash", "1", dimension)

    def embed_query(self, text: str) -> Vectors:
        """Return a unit vector (d,)."""
        vector = np.zeros(self.identity.dimension)
        for word in terms(text) or [text]:
            vector += _direction(word, self.identity.dimension)
        length = float(np.sqrt(np.sum(vector * vector)))
        return np.asarray(vector / length, dtype=np.float32)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Return unit vectors (n x d)."""
        rows = np.zeros((len(texts), self.identity.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = self.embed_query(text)
            if progress is not None:
                progress(1)
        return rows

    def close(self) -> None:
        """Do nothing."""


@lru_cache(1 << 14)
def _direction(word: str, dimension: int) -> NDArray[np.float64]:
    """Return a pseudo-random vector (dimension,) that depends only on the word."""
    numbers = np.random.default_rng(crc32(word.encode("utf-8", "surrogatepass")))
    return numbers.standard_normal(dimension)


def toy_store(folder: str | Path) -> Engine:
    """Create a store in ``folder`` with :data:`TOY_RECORDS`, embedded by :class:`HashEmbedder`. Close it when done."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "records.jsonl"
    source.write_bytes(
        b"\n".join(orjson.dumps({"title": title, "text": text}) for title, text in TOY_RECORDS)
    )
    engine = Engine.create(folder / "store", embedder=HashEmbedder())
    engine.build([source], workers=1)
    return engine


def toy_query(engine: Engine, text: str = "Who discovered the moons of Mars?") -> Query:
    """Return a question to a store, embedded, as retrievers receive it."""
    return engine.searcher.query(text)
