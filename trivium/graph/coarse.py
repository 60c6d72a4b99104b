"""Vectors as whole numbers of a byte, to find out which of many can be near at all: a quarter of the memory to read, and
products of whole numbers, of which a processor makes dozens at once. Loads numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats32
from trivium.common.compiled import compiled
from trivium.graph.arrays import Rows, Stacked, find_sorted
from trivium.graph.records import Codes, Vectors

_LARGEST = 127
_SINGLE = 1e-6
"""What single precision may be off in a cosine, beside."""


@dataclass(frozen=True, slots=True)
class CoarseVectors:
    """Unit vectors as ``codes`` (n x d) times ``scales`` (n,), and the length of the largest ``error`` that makes."""

    codes: Codes
    scales: Floats32
    error: float

    @classmethod
    def of(cls, vectors: Stacked, rows: Rows) -> Self:
        """Those of some rows, in this order."""
        codes = np.empty((len(rows), vectors.upper.shape[1]), dtype=np.int8)
        scales = np.empty(len(rows), dtype=np.float32)
        error = 0.0
        for chosen, values, places in vectors.split(rows):
            part = (
                np.empty((len(places), codes.shape[1]), dtype=np.int8),
                np.empty(len(places), dtype=np.float32),
            )
            error = max(error, float(_quantise(values, places, *part)))
            codes[chosen], scales[chosen] = part
        return cls(codes, scales, error)

    def patched(self, old: Rows, vectors: Stacked, rows: Rows) -> Self:
        """Those of other ``rows`` (m,), ascending; what it has of them, of the rows ``old`` (n,), ascending,
        is taken over."""
        known = find_sorted(old, rows)
        new = np.flatnonzero(known < 0)
        more = type(self).of(vectors, rows[new])
        kept = known >= 0
        codes = np.empty((len(rows), self.codes.shape[1]), dtype=np.int8)
        scales = np.empty(len(rows), dtype=np.float32)
        codes[kept], codes[new] = self.codes[known[kept]], more.codes
        scales[kept], scales[new] = self.scales[known[kept]], more.scales
        return type(self)(codes, scales, max(self.error, more.error))

    def nearest(self, vector: Vectors, k: int, among: NDArray[np.bool_] | None = None) -> Rows:
        """Places of the vectors that may be among the k of highest cosine with a unit vector (d,), and more; where
        ``among`` (n,) is given, only those it is true of.

        With v = c + e of a vector and q = p + f of the question, c and p as whole numbers times a scale, the cosine v q
        is off from c p by at most |e| |q| + |c| |f|. Who is further behind than twice that is not among the k."""
        count = len(self.codes) if among is None else int(np.count_nonzero(among))
        if k >= count:
            return np.arange(len(self.codes)) if among is None else np.flatnonzero(among)
        if k <= 0:
            return np.empty(0, dtype=np.int64)
        # As fine as the sums of products of d of them leave room for in 32 bits.
        finest = min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // (_LARGEST * vector.size))
        scale = max(float(np.abs(vector).max()) / finest, float(np.finfo(np.float32).tiny))
        question = np.rint(vector / scale).astype(np.int16)
        scores = np.empty(len(self.codes), dtype=np.float32)
        _scan(self.codes, self.scales, question, scale, scores)
        if among is not None:
            scores[~among] = -np.inf
        missing = float(np.linalg.norm(vector - scale * question))
        off = self.error * float(np.linalg.norm(vector)) + (1 + self.error) * missing + _SINGLE
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        return np.flatnonzero(scores >= least - 2 * off)


@compiled
def _quantise(values: Vectors, rows: Rows, codes: Codes, scales: Floats32) -> float:
    """Fill ``codes`` and ``scales``; answers the length of the largest error."""
    most = 0.0
    for place in range(len(rows)):
        row = rows[place]
        largest = 0.0
        for k in range(values.shape[1]):
            largest = max(largest, abs(values[row, k]))
        scale = np.float32(largest / _LARGEST)
        scales[place] = scale
        error = 0.0
        for k in range(values.shape[1]):
            code = np.floor(values[row, k] / scale + 0.5) if scale > 0 else 0.0
            codes[place, k] = np.int8(min(max(code, -_LARGEST), _LARGEST))
            error += (values[row, k] - scale * codes[place, k]) ** 2
        most = max(most, error)
    return float(np.sqrt(most))


@compiled
def _scan(codes: Codes, scales: Floats32, question: NDArray[np.int16], scale: float, out: Floats32) -> None:
    """Fill ``out`` (n,) with scalar products of ``codes`` (n x d) and ``question`` (d,), both times their scales."""
    for row in range(len(codes)):
        total = np.int32(0)
        for k in range(len(question)):
            total += np.int32(codes[row, k]) * np.int32(question[k])
        out[row] = total * scales[row] * scale
