"""Sorted strings (uris, search terms) as one block of bytes: nothing is decoded before it is asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays.array_files import Arrays, Rows
from trivium.graph.arrays.row_moves import Moves

REMEMBERED = 100_000
"""Rows, and strings, of one table that are remembered at most; then all are dropped."""


class StringTable(Sequence[str]):
    """Sorted, distinct strings. UTF-8 sorts like code points, so a row number is a place in their order.

    The rows found and the strings read last are remembered: what was shown is likely to be asked for next. Strings that
    come later are kept beside the others, so that what is there is not copied.
    """

    def __init__(self, blob: bytes | memoryview, offsets: Rows) -> None:
        """``blob`` holds the strings one after the other, ``offsets`` (n + 1,) where each begins."""
        self._set(memoryview(blob), b"", offsets[:-1], offsets[1:])

    def _set(self, blob: memoryview, later: bytes, starts: Rows, ends: Rows) -> None:
        """String i is at ``starts[i]:ends[i]`` (n,) of ``blob`` with ``later`` behind it."""
        self._blob, self._later, self._size = blob, later, len(blob)
        self._starts, self._ends = starts.data, ends.data
        self._forget()

    def _forget(self) -> None:
        self._rows: dict[str, int] = {}
        self._texts: dict[int, str] = {}

    @classmethod
    def of(cls, strings: Sequence[str]) -> StringTable:
        """The table of sorted, distinct strings."""
        packer = StringPacker()
        packer.add(strings)
        return unpack_strings("", packer.pack(""))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self.take(range(*index.indices(len(self))))
        known = self._texts.get(index)
        if known is not None:
            return known
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        return self.take([row])[0]

    def take(self, rows: Sequence[int]) -> list[str]:
        """The strings of rows that there are."""
        known = list(map(self._texts.get, rows))
        texts = [text for text in known if text is not None]
        if len(texts) == len(known):
            return texts
        if texts:
            new = [row for row, text in zip(rows, known, strict=True) if text is None]
            read = iter(self._read(new))
            return [next(read) if text is None else text for text in known]
        return self._read(rows)

    def _read(self, rows: Sequence[int]) -> list[str]:
        """The strings of rows, decoded, and remembered as far as there is room."""
        blob, later, size = self._blob, self._later, self._size
        starts, ends = self._starts, self._ends
        texts = [
            str(blob[start : ends[row]], "utf-8")
            if (start := starts[row]) < size
            else str(later[start - size : ends[row] - size], "utf-8")
            for row in rows
        ]
        # Not an LRU cache: its lock costs more than the search that a lost row costs once.
        if len(texts) <= REMEMBERED:
            if len(self._rows) + len(texts) > REMEMBERED:
                self._forget()
            self._rows.update(zip(texts, rows, strict=True))
            self._texts.update(zip(rows, texts, strict=True))
        return texts

    def find(self, text: str) -> int:
        """The row of a string, -1 where it is unknown."""
        row = self._rows.get(text)
        if row is not None:
            return row
        key = text.encode(errors="surrogatepass")
        row = bisect_left(range(len(self)), key, key=self._bytes)
        if row == len(self) or self._bytes(row) != key:
            return -1
        self.take([row])
        return row

    def find_all(self, strings: Sequence[str]) -> NDArray[np.int64]:
        """The rows of strings (n,), -1 where unknown."""
        rows = list(map(self._rows.get, strings))
        if None in rows:
            rows = [self.find(text) if row is None else row for text, row in zip(strings, rows, strict=True)]
        return np.array(rows, dtype=np.int64)

    def patched(self, gone: Rows, strings: Sequence[str]) -> tuple[StringTable, Moves]:
        """Return the table without the rows ``gone`` (ascending) and with more sorted strings, none of which is in a
        row that stays, and where its rows are now.
        """
        if not len(gone) and not strings:
            return self, Moves.of(len(self), gone, gone)
        count = len(self)
        keys = [text.encode() for text in strings]
        before = [bisect_left(range(count), key, key=self._bytes) for key in keys]
        moves = Moves.of(count, gone, np.array(before, dtype=np.int64))
        sizes = np.array([len(key) for key in keys], dtype=np.int64)
        ends = self._size + len(self._later) + np.cumsum(sizes)
        table = StringTable.__new__(StringTable)
        table._set(
            self._blob,
            b"".join([self._later, *keys]),
            moves.carry(np.asarray(self._starts), ends - sizes),
            moves.carry(np.asarray(self._ends), ends),
        )
        return table, moves

    def _bytes(self, row: int) -> bytes:
        start, end, size = self._starts[row], self._ends[row], self._size
        return bytes(self._blob[start:end]) if start < size else self._later[start - size : end - size]


class StringRows(Mapping[str, int]):
    """string -> its row in a table."""

    def __init__(self, table: StringTable) -> None:
        self.table = table

    def __getitem__(self, text: str) -> int:
        row = self.table.find(text)
        if row < 0:
            raise KeyError(text)
        return row

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.table.find(text) >= 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)


def rows_of(rows: Mapping[str, int], strings: Sequence[str]) -> NDArray[np.int64]:
    """The rows of strings (n,), -1 where unknown."""
    if isinstance(rows, StringRows):
        return rows.table.find_all(strings)
    return np.array([rows.get(text, -1) for text in strings], dtype=np.int64)


class StringPacker:
    """Makes the arrays of a table of sorted strings that come some at a time: only their bytes are kept."""

    def __init__(self) -> None:
        self._blob = bytearray()
        self._sizes: list[Rows] = [np.zeros(1, dtype=np.int64)]

    def add(self, strings: Sequence[str]) -> None:
        """The next strings."""
        parts = [text.encode() for text in strings]
        self._blob += b"".join(parts)
        self._sizes.append(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))

    def pack(self, name: str) -> Arrays:
        """The arrays, to save; nothing can be added any more."""
        return {
            f"{name}.offsets": np.cumsum(np.concatenate(self._sizes)),
            f"{name}.uris": np.frombuffer(self._blob, dtype=np.uint8),
        }


def table_of(strings: Sequence[str]) -> StringTable:
    """Sorted strings as a table, if they are not one."""
    return strings if isinstance(strings, StringTable) else StringTable.of(strings)


def pack_strings(name: str, strings: Sequence[str]) -> Arrays:
    """A table of sorted strings as arrays to save."""
    packer = StringPacker()
    for begin in range(0, len(strings), REMEMBERED):
        packer.add(strings[begin : begin + REMEMBERED])
    return packer.pack(name)


def unpack_strings(name: str, arrays: Arrays) -> StringTable:
    """The table :func:`pack_strings` made arrays of."""
    return StringTable(arrays[f"{name}.uris"].data, arrays[f"{name}.offsets"])
