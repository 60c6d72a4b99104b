"""One bit for each number of a vector, to find out which of many can be near: a 32nd of the memory that the numbers take.
Loads numba, see :mod:`trivium.common.compiled`.

The estimator is RaBitQ (Gao and Long 2024, https://arxiv.org/abs/2405.12497). What a vector differs from the mean of all
is turned in a random direction, and the signs of its numbers are kept. The turned vector is a multiple of its signs and
a rest at right angles to itself; what the signs alone say of the product with a question is off by the product with
the rest, whose direction is random: its standard deviation is known for every vector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Floats32
from trivium.common.compiled import compiled, compiled_sums
from trivium.graph.arrays import Rows
from trivium.graph.coarse import CoarseVectors, Question
from trivium.graph.records import Vectors
from trivium.graph.vectors import LANES, WORD, Words, words_shape

DEVIATIONS = 3.5
"""How many standard deviations an estimate may be too low. Of a vector that is just among the nearest one in 30,000 is
missed, of others fewer."""
_TRIED = 5
"""For each neighbour wanted, about how many vectors of the highest estimates are compared first: the nearest of them tell
what the others have to reach."""
_EVERY = 16
"""Of so many estimates one is looked at to know which are the highest."""
_PLANES = 4
"""Bits for each number of a question: its rounding adds a sixth of what the signs are off by."""
_ROUNDS = 4
"""Of turning: each mixes a power of two of the numbers, alternately from the beginning and up to the end."""
_SAMPLE = 20_000
"""Vectors of which the mean is made."""
_SEED = 20240521
_ABREAST = 16
"""Numbers that a processor compares at once."""
_SINGLE = 1e-5
"""What single precision may be off in an estimate."""


class _Turned(NamedTuple):
    """A question less the centre: ``planes`` (bits, words) of whole numbers times ``unit``, whose sum is ``total``; the
    squares of its ``length`` and of what is ``missing`` in these. ``constant`` is in the cosine of all vectors."""

    planes: Words
    unit: float
    total: int
    length: float
    missing: float
    constant: float


@dataclass(frozen=True, slots=True)
class SignVectors:
    """The signs of n vectors less the ``centre`` (d,). ``words`` (blocks, words, 64) has word w of vector i at
    [i // 64, w, i % 64]. The cosine with a question is about ``slopes`` (n,) times the product of the signs and the
    question, plus ``offsets`` (n,); ``rests`` (n,) are the squared lengths of what the signs leave out. Read-only, like
    arrays mapped from files: compiled loops differ by that."""

    centre: Floats32
    words: Words
    slopes: Floats32
    offsets: Floats32
    rests: Floats32

    def __post_init__(self) -> None:
        for array in (self.centre, self.words, self.slopes, self.offsets, self.rests):
            array.flags.writeable = False

    @classmethod
    def of(cls, vectors: Vectors, rows: Rows) -> SignVectors:
        """Those of some rows of ``vectors`` (m, d), in this order."""
        sample = rows[:: max(1, len(rows) // _SAMPLE)]
        centre = vectors[sample].mean(axis=0, dtype=np.float64) if len(rows) else np.zeros(vectors.shape[1])
        return _around(centre.astype(np.float32), vectors, rows)

    def taken(self, places: Rows, vectors: Vectors, rows: Rows) -> SignVectors:
        """Those of ``rows`` (m,) of ``vectors``; those of vectors that are here at ``places`` (m,), -1 for none, are
        taken over."""
        kept, new = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
        more = _around(self.centre, vectors, rows[new])
        words, factors = _empty(len(self.centre), len(rows))
        for source, here, there in ((self, places[kept], kept), (more, np.arange(len(new)), new)):
            _copy(source.words, here, words, there)
            for numbers, known in zip(factors, (source.slopes, source.offsets, source.rests), strict=True):
                numbers[there] = known[here]
        return SignVectors(self.centre, words, *factors)

    def nearest(
        self,
        coarse: CoarseVectors,
        cosines: Callable[[Rows], Floats],
        vector: Vectors,
        k: int,
        among: NDArray[np.bool_] | None = None,
    ) -> Rows:
        """Places of the vectors that may be among the k of highest cosine with a unit vector (d,), and more; where
        ``among`` (n,) is given, only those it is true of. ``coarse`` has the same vectors, and ``cosines`` are those of
        the vectors at some places. See :data:`DEVIATIONS` for how likely one is missing."""
        wanted = k * _TRIED
        count = len(self.slopes) if among is None else int(np.count_nonzero(among))
        if k <= 0 or wanted * _EVERY >= count:
            return coarse.nearest(vector, k, among)
        most, highest = self._bounds(vector)
        if among is not None:
            _leave(most, highest, among)
        some = most[::_EVERY]
        place = len(some) - -(-wanted // _EVERY)
        tried = _reaching(most, highest, np.partition(some, place)[place])
        if len(tried) < k:
            return coarse.nearest(vector, k, among)
        in_codes = Question.of(vector)
        reached = cosines(coarse.leading(in_codes, k, tried))
        least = np.partition(reached, len(reached) - k)[len(reached) - k] - _SINGLE
        return coarse.leading(in_codes, k, _reaching(most, highest, np.float32(least)))

    def _bounds(self, vector: Vectors) -> tuple[Floats32, Floats32]:
        """Return the cosines (n,) with a unit vector (d,) that are :data:`DEVIATIONS` above the estimates, and the
        highest of each block of vectors (blocks,)."""
        question = _question(np.ascontiguousarray(vector, dtype=np.float32), self.centre, _flips(vector.size))
        most = np.empty(len(self.slopes), dtype=np.float32)
        highest = np.empty(len(self.words), dtype=np.float32)
        # Off by the rest, and by what rounding the question left for each of the signs.
        rest = DEVIATIONS**2 * question.length / max(1, vector.size - 1)
        rounding = DEVIATIONS**2 * question.missing
        factors = (self.slopes, self.offsets, self.rests)
        _add_signs(self.words, *factors, question, rest, rounding, most, highest)
        return most, highest


def _around(centre: Floats32, vectors: Vectors, rows: Rows) -> SignVectors:
    """The signs of some rows around this centre."""
    words, factors = _empty(vectors.shape[1], len(rows))
    vectors = vectors.view()
    vectors.flags.writeable = False  # as one mapped from a file: one compiled loop instead of two
    _fill(vectors, rows, centre, _flips(vectors.shape[1]), words, *factors)
    return SignVectors(centre, words, *factors)


def _empty(dimension: int, count: int) -> tuple[Words, list[Floats32]]:
    """Room for the words, slopes, offsets and rests of so many vectors."""
    factors = [np.empty(count, dtype=np.float32) for _ in range(3)]
    return np.zeros(words_shape(count, dimension), dtype=np.uint64), factors


@cache
def _flips(dimension: int) -> Floats32:
    """Signs (rounds, d) that change the direction before each round, and with the size that keeps lengths after it."""
    mixed = 1 << (max(dimension, 1).bit_length() - 1)
    signs = np.random.default_rng(_SEED).integers(0, 2, size=(_ROUNDS, dimension)) * 2 - 1
    flips: Floats32 = (signs / np.sqrt(mixed)).astype(np.float32)
    return flips


@compiled_sums
def _turn(numbers: Floats32, flips: Floats32) -> None:
    """Turn a vector (d,) in place, in a random direction: random signs, then a Walsh-Hadamard transform of as many
    numbers as the highest power of two not above d, four times (Kac's walk of the RaBitQ library)."""
    dimension = len(numbers)
    mixed = 1
    while 2 * mixed <= dimension:
        mixed *= 2
    for turn in range(len(flips)):
        begin = 0 if turn % 2 == 0 else dimension - mixed
        some = numbers[begin : begin + mixed]
        for k in range(mixed):
            some[k] *= flips[turn, begin + k]
        half = 1
        while half < mixed:
            for first in range(0, mixed, 2 * half):
                for k in range(first, first + half):
                    upper, lower = some[k], some[k + half]
                    some[k] = upper + lower
                    some[k + half] = upper - lower
            half *= 2


@compiled_sums
def _fill(
    vectors: Vectors,
    rows: Rows,
    centre: Floats32,
    flips: Floats32,
    words: Words,
    slopes: Floats32,
    offsets: Floats32,
    rests: Floats32,
) -> None:
    """Fill the arrays of :class:`SignVectors` with those of some rows."""
    dimension = vectors.shape[1]
    turned = np.empty(dimension, dtype=np.float32)
    for place in range(len(rows)):
        row = rows[place]
        offset = np.float32(0)
        for k in range(dimension):
            offset += vectors[row, k] * centre[k]
            turned[k] = vectors[row, k] - centre[k]
        _turn(turned, flips)
        sizes, squares = np.float32(0), np.float32(0)
        for k in range(dimension):
            sizes += abs(turned[k])
            squares += turned[k] * turned[k]
        for word in range(words.shape[1]):
            bits = np.uint64(0)
            for k in range(word * WORD, min(dimension, (word + 1) * WORD)):
                bits |= np.uint64(turned[k] > 0) << np.uint64(k - word * WORD)
            words[place // LANES, word, place % LANES] = bits
        slope = squares / sizes if sizes > 0 else np.float32(0)
        slopes[place], offsets[place] = slope, offset
        rests[place] = max(slope * slope * dimension - squares, np.float32(0))


@compiled
def _question(vector: Floats32, centre: Floats32, flips: Floats32) -> _Turned:
    """Turn a question, and round its numbers to :data:`_PLANES` bits, the highest of which is negative."""
    turned = vector - centre
    # v q = (v - c)(q - c) + v c + c (q - c), and the offsets have v c.
    constant = 0.0
    for k in range(len(turned)):
        constant += centre[k] * turned[k]
    _turn(turned, flips)
    largest, length = 0.0, 0.0
    for number in turned:
        largest = max(largest, abs(float(number)))
        length += number * number
    highest = (1 << (_PLANES - 1)) - 1
    unit = max(largest / (highest + 0.5), 1e-30)
    planes = np.zeros((_PLANES, -(-len(vector) // WORD)), dtype=np.uint64)
    total = 0
    missing = 0.0
    for k in range(len(turned)):
        code = min(max(int(np.rint(turned[k] / unit)), -highest - 1), highest)
        total += code
        missing += (turned[k] - unit * code) ** 2
        for plane in range(_PLANES):
            planes[plane, k // WORD] |= np.uint64((code >> plane) & 1) << np.uint64(k % WORD)
    return _Turned(planes, unit, total, length, missing, constant)


@compiled
def _ones(word: np.uint64) -> np.uint64:
    """How many bits of a word are 1. LLVM knows these steps, and makes one instruction of them where there is one."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _add_signs(
    words: Words,
    slopes: Floats32,
    offsets: Floats32,
    rests: Floats32,
    question: _Turned,
    rest: float,
    rounding: float,
    most: Floats32,
    highest: Floats32,
) -> None:
    """Fill ``most`` (n,) with estimated cosines and what these may be too low, the squares of which are ``rest`` times
    ``rests`` and ``rounding`` times the squared ``slopes``; ``highest`` (blocks,) with the highest of each block. With
    bits b, signs are 2 b - 1."""
    planes = question.planes
    unit, constant = np.float32(question.unit), np.float32(question.constant)
    of_rest, of_slope = np.float32(rest), np.float32(rounding)
    sums = np.empty(LANES, dtype=np.int64)
    bests = np.empty(_ABREAST, dtype=np.float32)
    for block in range(len(words)):
        sums[:] = 0
        for word in range(words.shape[1]):
            first, second, third, negative = (
                planes[0, word],
                planes[1, word],
                planes[2, word],
                planes[3, word],
            )
            for lane in range(LANES):
                bits = words[block, word, lane]
                sums[lane] += np.int64(
                    _ones(bits & first)
                    + (_ones(bits & second) << np.uint64(1))
                    + (_ones(bits & third) << np.uint64(2))
                ) - np.int64(_ones(bits & negative) << np.uint64(3))
        begin = block * LANES
        for lane in range(min(LANES, len(most) - begin)):
            place = begin + lane
            slope = slopes[place]
            product = np.float32(2 * sums[lane] - question.total) * unit
            off = np.sqrt(of_rest * rests[place] + of_slope * slope * slope)
            most[place] = slope * product + offsets[place] + constant + off
        highest[block] = _highest(most[begin : begin + LANES], bests)


@compiled
def _leave(most: Floats32, highest: Floats32, among: NDArray[np.bool_]) -> None:
    """Leave only the bounds ``most`` (n,) of those vectors that ``among`` (n,) is true of."""
    bests = np.empty(_ABREAST, dtype=np.float32)
    for place in range(len(most)):
        if not among[place]:
            most[place] = -np.inf
    for block in range(len(highest)):
        highest[block] = _highest(most[block * LANES : (block + 1) * LANES], bests)


@compiled
def _highest(numbers: Floats32, bests: Floats32) -> np.float32:
    """Return the highest of some numbers (m,). Several at a time, for which ``bests`` is scratch space: otherwise each
    comparison would wait for the one before."""
    bests[:] = -np.inf
    whole = len(numbers) // _ABREAST * _ABREAST
    for begin in range(0, whole, _ABREAST):
        for lane in range(_ABREAST):
            number = numbers[begin + lane]
            bests[lane] = number if number > bests[lane] else bests[lane]
    best = np.float32(-np.inf)
    for place in range(whole, len(numbers)):
        best = max(best, numbers[place])
    for lane in range(_ABREAST):
        best = max(best, bests[lane])
    return best


@compiled
def _reaching(most: Floats32, highest: Floats32, least: np.float32) -> Rows:
    """Places of the vectors whose cosine may be ``least``, without those that are left out."""
    places = np.empty(len(most), dtype=np.int64)
    count = 0
    for block in range(len(highest)):
        if highest[block] >= least:
            for place in range(block * LANES, min((block + 1) * LANES, len(most))):
                if most[place] >= least and most[place] > -np.inf:
                    places[count] = place
                    count += 1
    return places[:count].copy()


@compiled
def _copy(words: Words, places: Rows, out: Words, rows: Rows) -> None:
    """Copy the words of vectors at ``places`` (m,) to ``rows`` (m,)."""
    for number in range(len(places)):
        place, row = places[number], rows[number]
        for word in range(words.shape[1]):
            out[row // LANES, word, row % LANES] = words[place // LANES, word, place % LANES]
