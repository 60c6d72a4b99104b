"""Vectors as whole numbers of a byte, to find out which of many can be near at all: a quarter of the memory to read, and
products of whole numbers, of which a processor makes dozens at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats32
from trivium.graph.arrays.columns import Rows, Stacked
from trivium.graph.records import Codes, Vectors
from trivium.native.loops import loops

_LARGEST = 127
_TINY = np.finfo(np.float32).tiny
_LARGEST_16, _LARGEST_32 = int(np.iinfo(np.int16).max), int(np.iinfo(np.int32).max)
_FEW_SHARE = 4
"""Where fewer than one of so many vectors are asked for, they are read one by one, and not all from end to end."""


@dataclass(frozen=True, slots=True)
class CoarseVectors:
    """Unit vectors as ``codes`` (n x d) times ``scales`` (n,), and the lengths of the ``errors`` (n,) that makes.
    Read-only, like arrays mapped from files."""

    codes: Codes
    scales: Floats32
    errors: Floats32

    def __post_init__(self) -> None:
        for array in (self.codes, self.scales, self.errors):
            array.flags.writeable = False

    @classmethod
    def of(cls, vectors: Stacked, rows: Rows) -> Self:
        """Those of some rows, in this order."""
        dimension = vectors.upper.shape[1]
        codes, scales, errors = _empty(len(rows), dimension)
        if vectors.are_above(rows):
            _quantise(vectors.upper, rows, codes, scales, errors)
            return cls(codes, scales, errors)
        for chosen, values, places in vectors.split(rows):
            parts = _empty(len(places), dimension)
            _quantise(values, places, *parts)
            codes[chosen], scales[chosen], errors[chosen] = parts
        return cls(codes, scales, errors)

    def taken(self, known: Rows, vectors: Stacked, rows: Rows) -> Self:
        """Those of other ``rows`` (m,); those of vectors that are here at the places ``known`` (m,), -1 for none, are
        taken over."""
        kept, new = known >= 0, np.flatnonzero(known < 0)
        more = type(self).of(vectors, rows[new])
        codes, scales, errors = _empty(len(rows), self.codes.shape[1])
        codes[kept], codes[new] = self.codes[known[kept]], more.codes
        scales[kept], scales[new] = self.scales[known[kept]], more.scales
        errors[kept], errors[new] = self.errors[known[kept]], more.errors
        return type(self)(codes, scales, errors)

    def nearest(self, vector: Vectors, k: int, among: NDArray[np.bool_] | None = None) -> Rows:
        """Places of the vectors that may be among the k of highest cosine with a unit vector (d,), and more; where
        ``among`` (n,) is given, only those it is true of. Where these are few, only they are read.

        With v = c + e of a vector and q = p + f of the question, c and p as whole numbers times a scale, the cosine v q
        is off from c p by at most |e| |q| + |c| |f|. Who cannot reach what k others reach at least is not among the k."""
        count = len(self.codes) if among is None else int(np.count_nonzero(among))
        if k >= count:
            return np.arange(len(self.codes)) if among is None else np.flatnonzero(among)
        if k <= 0:
            return np.empty(0, dtype=np.int64)
        question = Question.of(vector)
        if among is not None and count * _FEW_SHARE < len(among):
            return self.leading(question, k, np.flatnonzero(among))
        scores = np.empty(len(self.codes), dtype=np.float32)
        loops.scan(self.codes, self.scales, question.codes, question.scale, scores)
        most, least = np.empty(len(self.codes), dtype=np.float32), np.empty(1)
        some, chosen = (0, np.empty(0, np.bool_)) if among is None else (1, np.ascontiguousarray(among))
        loops.bound(scores, self.errors, question.length, question.missing, some, chosen, k, most, least)
        kept: Rows = (most >= least[0]).nonzero()[0]
        return kept

    def leading(self, question: Question, k: int, places: Rows) -> Rows:
        """Those of some places (m,), in this order, whose vectors may be among the k of highest cosine of these."""
        if k >= len(places):
            return places
        least, most = (np.empty(len(places), dtype=np.float32) for _ in range(2))
        loops.bounds(
            self.codes, self.scales, self.errors, np.ascontiguousarray(places), *question, least, most
        )
        kth = len(places) - k
        kept: Rows = places[most >= np.partition(least, kth)[kth]]
        return kept


class Question(NamedTuple):
    """A unit vector (d,) as whole numbers times a scale, its length, and that of what these leave out."""

    codes: NDArray[np.int16]
    scale: float
    length: float
    missing: float

    @classmethod
    def of(cls, vector: Vectors) -> Question:
        """The codes of a vector."""
        # As fine as the sums of products of d of them leave room for in 32 bits.
        finest = min(_LARGEST_16, _LARGEST_32 // (_LARGEST * vector.size))
        numbers = vector.astype(np.float64)
        scale = max(float(abs(numbers).max(initial=0.0)) / finest, float(_TINY))
        codes = np.rint(numbers / scale)
        missing = numbers - scale * codes
        lengths = (float(np.sqrt((part * part).sum())) for part in (numbers, missing))
        return cls(codes.astype(np.int16), scale, *lengths)


def _empty(count: int, dimension: int) -> tuple[Codes, Floats32, Floats32]:
    """Room for codes, scales and errors."""
    scales, errors = (np.empty(count, dtype=np.float32) for _ in range(2))
    return np.empty((count, dimension), dtype=np.int8), scales, errors


def _quantise(values: Vectors, rows: Rows, codes: Codes, scales: Floats32, errors: Floats32) -> None:
    """Fill ``codes``, ``scales`` and ``errors`` with those of some rows of ``values``."""
    loops.quantise(np.ascontiguousarray(values), np.ascontiguousarray(rows, np.int64), codes, scales, errors)
