"""Vectors as whole numbers of a byte, to find out which of many can be near at all: a quarter of the memory to read, and
products of whole numbers, of which a processor makes dozens at once. Loads numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats32
from trivium.common.compiled import compiled, compiled_sums
from trivium.common.prefetch import CACHE_LINE, prefetch
from trivium.graph.arrays.columns import Rows, Stacked
from trivium.graph.records import Codes, Vectors

_LARGEST = 127
_SINGLE = 1e-6
"""What single precision may be off in a cosine, beside."""
_TINY = np.finfo(np.float32).tiny
_LARGEST_16, _LARGEST_32 = int(np.iinfo(np.int16).max), int(np.iinfo(np.int32).max)
_FEW_SHARE = 4
"""Where fewer than one of so many vectors are asked for, they are read one by one, and not all from end to end."""
_AHEAD = 6
"""So many vectors before its turn one of some is fetched; see :mod:`trivium.common.prefetch`."""
_SCANNED_AHEAD = 20
"""The same where all are read from end to end."""
_BUCKETS = 8192
"""Of cosines, to find the k-th highest."""


@dataclass(frozen=True, slots=True)
class CoarseVectors:
    """Unit vectors as ``codes`` (n x d) times ``scales`` (n,), and the lengths of the ``errors`` (n,) that makes.
    Read-only, like arrays mapped from files: compiled loops differ by that."""

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
        _scan(self.codes, self.scales, question.codes, question.scale, scores)
        most = np.empty(len(self.codes), dtype=np.float32)
        least = _bound(scores, self.errors, question.length, question.missing, among, k, most)
        return (most >= least).nonzero()[0]

    def leading(self, question: Question, k: int, places: Rows) -> Rows:
        """Those of some places (m,), in this order, whose vectors may be among the k of highest cosine of these."""
        if k >= len(places):
            return places
        least, most = (np.empty(len(places), dtype=np.float32) for _ in range(2))
        _bounds(self.codes, self.scales, self.errors, places, *question, least, most)
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
        codes = np.empty(vector.size, dtype=np.int16)
        return cls(codes, *_quantise_question(vector, finest, codes))


def _empty(count: int, dimension: int) -> tuple[Codes, Floats32, Floats32]:
    """Room for codes, scales and errors."""
    scales, errors = (np.empty(count, dtype=np.float32) for _ in range(2))
    return np.empty((count, dimension), dtype=np.int8), scales, errors


@compiled_sums
def _quantise(values: Vectors, rows: Rows, codes: Codes, scales: Floats32, errors: Floats32) -> None:
    """Fill ``codes``, ``scales`` and ``errors`` with those of some rows of ``values``."""
    for place in range(len(rows)):
        row = rows[place]
        largest = np.float32(0)
        for k in range(values.shape[1]):
            largest = max(largest, abs(values[row, k]))
        scale = largest / np.float32(_LARGEST)
        scales[place] = scale
        times = np.float32(1) / max(scale, _TINY)
        error = np.float32(0)
        for k in range(values.shape[1]):
            code = np.rint(values[row, k] * times)
            codes[place, k] = np.int8(min(max(code, np.float32(-_LARGEST)), np.float32(_LARGEST)))
            off = values[row, k] - scale * code
            error += off * off
        errors[place] = np.sqrt(error)


@compiled
def _quantise_question(vector: Vectors, finest: int, codes: NDArray[np.int16]) -> tuple[float, float, float]:
    """Fill ``codes`` (d,) with those of a vector, at most ``finest``, and return their scale, the length of the vector,
    and that of what the codes leave out.
    """
    largest = length = missing = 0.0
    for k in range(len(vector)):
        largest = max(largest, np.float64(abs(vector[k])))
    scale = max(largest / finest, np.float64(_TINY))
    for k in range(len(vector)):
        number = np.float64(vector[k])
        code = np.rint(number / scale)
        codes[k] = np.int16(code)
        length += number * number
        missing += (number - scale * code) ** 2
    return scale, np.sqrt(length), np.sqrt(missing)


@compiled
def _prefetch_row(numbers: NDArray[np.int8], row: int, width: int) -> None:
    """Fetch a row of a matrix of bytes ahead, of which ``numbers`` (n * width,) are the rows one after another. It is in
    this module because a scan takes a fifth longer with the same function in another one, where it is not inlined."""
    for place in range(row * width, (row + 1) * width, CACHE_LINE):
        prefetch(numbers, place)


@compiled
def _scan(codes: Codes, scales: Floats32, question: NDArray[np.int16], scale: float, out: Floats32) -> None:
    """Fill ``out`` (n,) with scalar products of ``codes`` (n x d) and ``question`` (d,), both times their scales. A
    processor reads ahead to the end of a page of memory alone, which is ten vectors: the loop says what comes next."""
    numbers, width = codes.reshape(-1), codes.shape[1]
    for row in range(len(codes)):
        if row + _SCANNED_AHEAD < len(codes):
            _prefetch_row(numbers, row + _SCANNED_AHEAD, width)
        total = np.int32(0)
        for k in range(len(question)):
            # numba multiplies and adds integers in 64 bits unless told so each time, at a third of the speed
            total = np.int32(total + np.int32(np.int32(codes[row, k]) * np.int32(question[k])))
        out[row] = total * scales[row] * scale


@compiled
def _bounds(
    codes: Codes,
    scales: Floats32,
    errors: Floats32,
    places: Rows,
    question: NDArray[np.int16],
    scale: float,
    length: float,
    missing: float,
    least: Floats32,
    most: Floats32,
) -> None:
    """Fill ``least`` and ``most`` (m,) with bounds of the cosines of the vectors at ``places`` (m,)."""
    numbers, width = codes.reshape(-1), codes.shape[1]
    for number in range(len(places)):
        if number + _AHEAD < len(places):
            _prefetch_row(numbers, places[number + _AHEAD], width)
        row = places[number]
        total = np.int32(0)
        for k in range(len(question)):
            total = np.int32(total + np.int32(np.int32(codes[row, k]) * np.int32(question[k])))
        score = np.float32(total * scales[row] * scale)
        off = np.float32(errors[row] * length + (1 + errors[row]) * missing + _SINGLE)
        least[number], most[number] = score - off, score + off


@compiled
def _bound(
    scores: Floats32,
    errors: Floats32,
    length: float,
    missing: float,
    among: NDArray[np.bool_] | None,
    k: int,
    most: Floats32,
) -> float:
    """Fill ``most`` (n,) with the highest cosines that the ``scores`` (n,) leave room for, and answer one that at least
    ``k`` of them reach for certain. It is up to a bucket's width too low: counting takes one pass, sorting several."""
    counts = np.zeros(_BUCKETS, dtype=np.int64)
    for row in range(len(scores)):
        if among is not None and not among[row]:
            most[row] = -np.inf
            continue
        off = errors[row] * length + (1 + errors[row]) * missing + _SINGLE
        most[row] = scores[row] + off
        bucket = int((scores[row] - off + 1) * (_BUCKETS // 2))
        counts[min(max(bucket, 0), _BUCKETS - 1)] += 1
    found = 0
    for bucket in range(_BUCKETS - 1, 0, -1):
        found += counts[bucket]
        if found >= k:
            return bucket / (_BUCKETS // 2) - 1.0 - _SINGLE
    return -2.0
