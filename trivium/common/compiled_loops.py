"""Compiled loops over arrays: sums of rows, products, ranges, rounding. Imports numba, see
:mod:`trivium.common.compiled`: modules that a command may need without a search import this inside functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled, compiled_sums
from trivium.common.prefetch import CACHE_LINE, prefetch

_AHEAD = 4
"""So many rows before its turn a row is fetched. Rows of a large matrix are far apart and rarely in the processor's
caches: waiting for each in turn takes five times as long.
"""


@compiled_sums
def add_dots(matrix: NDArray[Any], places: Integers, vector: Floats, limit: float, out: Floats) -> bool:
    """Fill ``out`` (p,) with the dot products of ``vector`` (d,) and the rows of ``matrix`` (n, d) at ``places`` (p,),
    NaN where a place is -1, and at most ``limit`` from 0. Returns False for a row that does not exist.
    """
    numbers, width = matrix.reshape(-1), matrix.shape[1]
    step = CACHE_LINE // matrix.itemsize
    for number in range(len(places)):
        if number + _AHEAD < len(places):
            begin = places[number + _AHEAD] * width
            for place in range(begin, begin + width, step):
                prefetch(numbers, place)
        row = places[number]
        if row < -1 or row >= len(matrix):
            return False
        if row < 0:
            out[number] = np.nan
            continue
        total = 0.0
        for k in range(len(vector)):
            total += matrix[row, k] * vector[k]
        if abs(total) > limit:
            total = limit if total > 0 else -limit
        out[number] = total
    return True


@compiled_sums
def best_codes(codes: NDArray[np.int8], starts: Integers, vector: Floats, out: Floats) -> None:
    """Fill ``out`` (n,) with the highest cosine of ``vector`` (d,) and the rows ``starts[i]:starts[i + 1]`` of
    ``codes`` (s, d), leaving it unchanged for empty ranges.
    """
    for number in range(len(out)):
        for row in range(starts[number], starts[number + 1]):
            total = 0.0
            length = np.int32(0)
            for k in range(len(vector)):
                total += codes[row, k] * vector[k]
            for k in range(len(vector)):
                length += np.int32(codes[row, k]) * np.int32(codes[row, k])
            cosine = total / np.sqrt(length)
            if row == starts[number] or cosine > out[number]:
                out[number] = cosine


def product(rows: NDArray[Any], matrix: NDArray[Any]) -> Floats:
    """Return ``rows`` (n, k) times ``matrix`` (k, m) as (n, m) in double precision.

    A row of the result depends only on that row and the matrix, for the reasons given in :mod:`trivium.common.arrays`. At
    the sizes of a search (a few hundred rows and columns) this is about as fast as a single-threaded BLAS.
    """
    out = np.zeros((rows.shape[0], matrix.shape[1]))
    _add_product(
        np.ascontiguousarray(rows, dtype=np.float64), np.ascontiguousarray(matrix, dtype=np.float64), out
    )
    return out


@compiled
def _add_product(rows: Floats, matrix: Floats, out: Floats) -> None:
    """Compute ``out += rows @ matrix``, summed from the first to the last of the k numbers.

    Processes blocks of four rows by four numbers: each value read from the matrix is used for four rows, and sums stay
    in registers. Nothing is summed along a row of the matrix, so several columns can be vectorised.
    """
    count, inner = rows.shape
    width = matrix.shape[1]
    fours = count // 4 * 4
    whole = inner // 4 * 4
    for row in range(0, fours, 4):
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = rows[row, k], rows[row, k + 1], rows[row, k + 2], rows[row, k + 3]
            b0, b1, b2, b3 = (
                rows[row + 1, k],
                rows[row + 1, k + 1],
                rows[row + 1, k + 2],
                rows[row + 1, k + 3],
            )
            c0, c1, c2, c3 = (
                rows[row + 2, k],
                rows[row + 2, k + 1],
                rows[row + 2, k + 2],
                rows[row + 2, k + 3],
            )
            d0, d1, d2, d3 = (
                rows[row + 3, k],
                rows[row + 3, k + 1],
                rows[row + 3, k + 2],
                rows[row + 3, k + 3],
            )
            for column in range(width):
                m0, m1 = matrix[k, column], matrix[k + 1, column]
                m2, m3 = matrix[k + 2, column], matrix[k + 3, column]
                out[row, column] = (((out[row, column] + a0 * m0) + a1 * m1) + a2 * m2) + a3 * m3
                out[row + 1, column] = (((out[row + 1, column] + b0 * m0) + b1 * m1) + b2 * m2) + b3 * m3
                out[row + 2, column] = (((out[row + 2, column] + c0 * m0) + c1 * m1) + c2 * m2) + c3 * m3
                out[row + 3, column] = (((out[row + 3, column] + d0 * m0) + d1 * m1) + d2 * m2) + d3 * m3
        for k in range(whole, inner):
            for some in range(row, row + 4):
                for column in range(width):
                    out[some, column] += rows[some, k] * matrix[k, column]
    for row in range(fours, count):
        for k in range(inner):
            for column in range(width):
                out[row, column] += rows[row, k] * matrix[k, column]


@compiled
def expand(starts: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """See :func:`trivium.common.arrays.expand_ranges`."""
    if len(starts) != len(lengths):
        raise ValueError("starts and lengths must be equally many")
    count = 0
    for length in lengths:
        if length < 0:
            raise ValueError("lengths must not be negative")
        count += length
    of, places = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    place = 0
    for number in range(len(lengths)):
        for step in range(lengths[number]):
            of[place] = number
            places[place] = starts[number] + step
            place += 1
    return of, places


DIGITS = 6


@compiled
def round_digits(numbers: Floats, out: Floats, unsure: NDArray[np.bool_]) -> bool:
    """Fill ``out`` (n,) with the numbers (n,) rounded to six significant digits, as formatting and parsing them would.
    Set ``unsure`` (n,) where that is not certain: close to halfway between two results, close to a power of ten, or of
    unusual magnitude. Returns whether any is unsure.
    """
    some = False
    for place in range(len(numbers)):
        number = numbers[place]
        size = abs(number)
        if number == 0 or np.isnan(number):
            out[place] = number
            unsure[place] = False
            continue
        unsure[place] = not 1e-12 < size < 1e6
        if unsure[place]:
            out[place] = number
            some = True
            continue
        unit = 10.0 ** (DIGITS - 1 - np.floor(np.log10(size)))
        scaled = number * unit
        whole = np.rint(scaled)
        out[place] = whole / unit
        unsure[place] = abs(abs(scaled - whole) - 0.5) < 1e-6 or not 100_000 < abs(whole) < 999_999
        some = some or unsure[place]
    return some


@compiled
def fill_gaps(scores: Floats, below: float) -> None:
    """Fill NaN in each column of ``scores`` (n, m) with its lowest number minus ``below`` times its range, or with 0
    if the column has no number.
    """
    rows, columns = scores.shape
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    for row in range(rows):
        for column in range(columns):
            score = scores[row, column]
            if score < low[column]:
                low[column] = score
            if score > high[column]:
                high[column] = score
    for column in range(columns):
        known = np.isfinite(low[column])
        low[column] = low[column] - below * (high[column] - low[column]) if known else 0.0
    for row in range(rows):
        for column in range(columns):
            if np.isnan(scores[row, column]):
                scores[row, column] = low[column]


@compiled
def scale_columns(scores: Floats, constant: float, out: Floats) -> None:
    """Fill ``out`` (n, m) with the columns of ``scores`` scaled to mean 0 and deviation 1. Columns whose deviation is
    not above ``constant`` times their mean (or times 1, if that is larger) become 0.
    """
    rows, columns = scores.shape
    mean, deviation = np.zeros(columns), np.zeros(columns)
    for row in range(rows):
        for column in range(columns):
            mean[column] += scores[row, column]
    mean /= rows
    for row in range(rows):
        for column in range(columns):
            off = scores[row, column] - mean[column]
            deviation[column] += off * off
    deviation = np.sqrt(deviation / rows)
    for column in range(columns):
        if deviation[column] <= constant * max(1.0, abs(mean[column])):
            deviation[column] = 0.0
    for row in range(rows):
        for column in range(columns):
            spread = deviation[column]
            out[row, column] = (scores[row, column] - mean[column]) / spread if spread > 0 else 0.0
