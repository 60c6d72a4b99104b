"""Tracks which texts of a store have no vector yet, for embedding page by page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.graph.vectors import text_hash


class Waiting:
    """Texts without a vector, in nine bytes each: half of a text's hash identifies it. False when all texts have one."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._keys = np.unique(np.fromiter(map(_key, texts), dtype=np.uint64))
        self._waits = np.ones(len(self._keys), dtype=bool)

    def __bool__(self) -> bool:
        return bool(self._waits.any())

    def among(self, texts: Sequence[str]) -> list[int]:
        """Return the indices of the texts that have no vector yet."""
        places, known = self._find(texts)
        return np.flatnonzero(known & self._waits[places]).tolist() if len(self._keys) else []

    def remove(self, texts: Sequence[str]) -> None:
        """Record that these texts have vectors now."""
        places, known = self._find(texts)
        self._waits[places[known]] = False

    def _find(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        wanted = np.fromiter(map(_key, texts), dtype=np.uint64, count=len(texts))
        if not len(self._keys):
            return np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=bool)
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return places, self._keys[places] == wanted


def _key(text: str) -> int:
    return int(text_hash(text)[:16], 16)
