"""Where the rows of a sorted table go when some are removed and others inserted.

A few changes leave long runs of rows together, so that a column is copied in a few blocks, and row numbers are mapped
by comparing them with the places where something changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Integers, expand_ranges

_RowNumber = TypeVar("_RowNumber", bound=np.integer[Any])
_Value = TypeVar("_Value", bound=np.generic)

MOST_COMPARED = 32
"""With more places of change than this, row numbers are looked up in a table."""
FEW = 1024
"""Up to this many row numbers are looked up one by one: comparing has a cost for each place of change."""
SHORTEST_COPIED, SHORTEST_FOLLOWED = 128, 2048
"""A column is copied in blocks while runs have so many rows on average, else by row numbers; the second where what it
holds is mapped, too, which costs more for each block."""
_BLOCK = 1 << 18
"""Row numbers mapped at once, with temporary arrays that fit into the cache of a processor."""


class Moves:
    """``before`` and ``after`` are the numbers of rows. The old rows ``begins[i]:ends[i]`` (r,) stay together and move
    by ``shifts[i]``, all ascending; the others are removed. ``added`` are the rows of new ones, ascending.
    """

    def __init__(
        self, before: int, after: int, begins: Integers, ends: Integers, shifts: Integers, added: Integers
    ) -> None:
        self.before, self.after = before, after
        self.begins, self.ends, self.shifts, self.added = begins, ends, shifts, added
        one = len(begins) == 1 and (begins[0], ends[0], shifts[0]) == (0, before, 0)
        self.stays = before == 0 or one
        """Whether all old rows keep their numbers."""
        self.unchanged = self.stays and after == before
        """Whether nothing was removed or added."""
        self._table: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, count: int, gone: Integers, places: Integers) -> Moves:
        """Return the moves of ``count`` rows when the rows ``gone`` are removed, and new ones are inserted before the
        old rows ``places`` (``count``: at the end). Both are ascending.

        >>> moves = Moves.of(4, np.array([1]), np.array([0, 4]))
        >>> moves.follow(np.array([0, 1, 2, 3, -1])).tolist(), moves.added.tolist()
        ([1, -1, 2, 3, -1], [0, 4])
        """
        bounds = np.unique(np.concatenate([[0, count], gone, gone + 1, places]))
        begins, ends = bounds[:-1], bounds[1:]
        kept = np.ones(len(begins), dtype=bool)
        kept[np.searchsorted(begins, gone)] = False
        begins, ends = begins[kept], ends[kept]
        shifts = np.searchsorted(places, begins, side="right") - np.searchsorted(gone, begins)
        added = np.arange(len(places)) + places - np.searchsorted(gone, places)
        return cls(count, count - len(gone) + len(places), *_joined(begins, ends, shifts), added)

    def beside(self, other: Moves) -> Moves:
        """Return the moves of a table that has the rows of ``other`` below these."""
        return Moves(
            self.before + other.before,
            self.after + other.after,
            *_joined(
                np.concatenate([self.begins, other.begins + self.before]),
                np.concatenate([self.ends, other.ends + self.before]),
                np.concatenate([self.shifts, other.shifts + (self.after - self.before)]),
            ),
            np.concatenate([self.added, other.added + self.after]),
        )

    def replacing(self, rows: Integers) -> Moves:
        """Return the same moves, except that these new ``rows`` (n,), ascending, count as removed and added."""
        was = self.back(rows)
        was = was[was >= 0]
        begins, ends = np.sort(np.append(self.begins, was + 1)), np.sort(np.append(self.ends, was))
        begins, ends = begins[begins < ends], ends[begins < ends]
        return Moves(
            self.before, self.after, begins, ends, self.follow(begins) - begins, np.union1d(self.added, rows)
        )

    def pieces(self) -> Iterator[tuple[int, int, int]]:
        """Iterate over the new rows in order: (row, begin, end) is the first row of those in which the old rows
        ``begin:end`` are now, and (row, -1, -1) one that was added.
        """
        rows = np.concatenate([self.begins + self.shifts, self.added])
        none = np.full(len(self.added), -1, dtype=np.int64)
        begins, ends = np.concatenate([self.begins, none]), np.concatenate([self.ends, none])
        order = np.argsort(rows, kind="stable")
        return zip(rows[order].tolist(), begins[order].tolist(), ends[order].tolist(), strict=True)

    @property
    def gone(self) -> Integers:
        """The old rows that are removed, ascending."""
        firsts, lasts = self._gaps()
        return firsts[:0] if not len(firsts) else expand_ranges(firsts, lasts - firsts)[1]

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """Iterate over (begin, end, shift) of the runs."""
        return zip(self.begins.tolist(), self.ends.tolist(), self.shifts.tolist(), strict=True)

    def back(self, rows: Integers) -> Integers:
        """Return the old rows of new ones, -1 for those added and for row -1."""
        return _find(self.begins + self.shifts, self.ends + self.shifts, -self.shifts, rows)

    def follow(
        self, rows: NDArray[_RowNumber], out: NDArray[_RowNumber] | None = None
    ) -> NDArray[_RowNumber]:
        """Return the new rows of old ones (n,), -1 for those removed and for row -1, in ``out`` if it is given."""
        if out is None:
            out = np.empty_like(rows)
        if self.stays:
            out[...] = rows
        elif len(rows) <= FEW:
            out[...] = _find(self.begins, self.ends, self.shifts, rows)
        elif len(self.begins) <= MOST_COMPARED:
            self._compare(rows, out)
        else:
            table = self._whole()
            for begin in range(0, len(rows), _BLOCK):
                some = slice(begin, begin + _BLOCK)
                out[some] = table[rows[some]]
        return out

    def carry(self, column: NDArray[_Value], new: object = -1, moved: Moves | None = None) -> NDArray[_Value]:
        """Return a column (before, ...) of old rows as one of all rows (after, ...), where those added have the values
        ``new``. If it holds row numbers of another table, ``moved`` are the moves of that one. The column itself is
        returned if it stays as it is.
        """
        same = moved is None or moved.stays
        if same and self.unchanged:
            return column
        carried: NDArray[Any] = np.empty((self.after, *column.shape[1:]), dtype=column.dtype)
        rows: NDArray[Any] = column
        if are_short(len(self.begins), self.after, followed=not same):
            values: NDArray[Any] = column if moved is None or same else moved.follow(rows)
            sizes = self.ends - self.begins
            old = expand_ranges(self.begins, sizes)[1]
            carried[old + np.repeat(self.shifts, sizes)] = values[old]
        else:
            for begin, end, shift in self.runs():
                if moved is None or same:
                    carried[begin + shift : end + shift] = column[begin:end]
                else:
                    moved.follow(rows[begin:end], carried[begin + shift : end + shift])
        carried[self.added] = new
        return carried

    def removed_in(self, rows: NDArray[np.integer[Any]]) -> Integers:
        """Return the places, among old rows (n,), of those that are removed; row -1 is not."""
        firsts, lasts = self._gaps()
        found = [np.empty(0, dtype=np.int64)]
        for begin in range(0, len(rows) if len(firsts) else 0, _BLOCK):
            some = rows[begin : begin + _BLOCK]
            if len(firsts) > MOST_COMPARED:
                gone = (self._whole()[some] < 0) & (some >= 0)
            else:
                gone = np.zeros(len(some), dtype=bool)
                for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
                    gone |= (some >= first) & (some < last)
            found.append(np.flatnonzero(gone) + begin)
        return np.concatenate(found)

    def _gaps(self) -> tuple[Integers, Integers]:
        """Return the first and the one after the last of the old rows removed between runs."""
        firsts, lasts = np.append(0, self.ends), np.append(self.begins, self.before)
        some = firsts < lasts
        return firsts[some], lasts[some]

    def _compare(self, rows: NDArray[_RowNumber], out: NDArray[_RowNumber]) -> None:
        """Shift rows by how many places of change are not above them."""
        steps = np.diff(self.shifts, prepend=0)
        changes = [
            (first, step) for first, step in zip(self.begins.tolist(), steps.tolist(), strict=True) if step
        ]
        farthest = int(np.abs(steps).sum())
        width = np.int8 if farthest < 1 << 7 else np.int16 if farthest < 1 << 15 else np.int64
        gaps = list(zip(*(bound.tolist() for bound in self._gaps()), strict=True))
        for begin in range(0, len(rows), _BLOCK):
            some, mapped = rows[begin : begin + _BLOCK], out[begin : begin + _BLOCK]
            shift: NDArray[Any] = np.zeros(len(some), dtype=width)
            for first, step in changes:
                above = (some >= first).view(np.int8)
                shift += above if step == 1 else above * width(step)
            np.add(some, shift, out=mapped, casting="unsafe")
            for first, last in gaps:
                mapped[(some >= first) & (some < last)] = -1

    def _whole(self) -> NDArray[np.int32]:
        """Return the new row of each old one and, for row -1, -1 at the end."""
        if self._table is None:
            table = np.full(self.before + 1, -1, dtype=np.int32)
            sizes = self.ends - self.begins
            old = expand_ranges(self.begins, sizes)[1]
            table[old] = old + np.repeat(self.shifts, sizes)
            self._table = table
        return self._table


def are_short(blocks: int, rows: int, *, followed: bool) -> bool:
    """Whether so many blocks of so many rows take longer than all rows at once, copied or ``followed``."""
    return blocks * (SHORTEST_FOLLOWED if followed else SHORTEST_COPIED) > rows


def _find(begins: Integers, ends: Integers, shifts: Integers, rows: NDArray[np.integer[Any]]) -> Integers:
    """Shift each of some rows by that of its run, -1 where it is in none."""
    if not len(begins):
        return np.full(len(rows), -1, dtype=np.int64)
    run = np.maximum(np.searchsorted(begins, rows, side="right") - 1, 0)
    inside = (rows >= begins[run]) & (rows < ends[run])
    return np.where(inside, rows + shifts[run], -1)


def _joined(begins: Integers, ends: Integers, shifts: Integers) -> tuple[Integers, Integers, Integers]:
    """Join runs that follow each other and move alike."""
    apart = np.ones(len(begins), dtype=bool)
    apart[1:] = (begins[1:] != ends[:-1]) | (shifts[1:] != shifts[:-1])
    last = np.append(apart[1:], True)[: len(begins)]
    return begins[apart], ends[last], shifts[apart]
