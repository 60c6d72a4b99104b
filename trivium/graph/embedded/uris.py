"""Uris of one label as a sorted table of bytes: nothing is decoded before it is asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from trivium.graph.embedded.files import Arrays


class UriTable(Sequence[str]):
    """Sorted uris. UTF-8 sorts like code points, so a row number is a place in uri order.

    ``blob`` holds the uris one after the other, ``offsets`` (n + 1,) where each begins.
    """

    def __init__(self, blob: bytes | memoryview, offsets: NDArray[np.int64]) -> None:
        self._blob = memoryview(blob)
        self._offsets = offsets.data
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        uri = str(self._blob[self._offsets[row] : self._offsets[row + 1]], "utf-8")
        self._rows[uri] = row  # what was shown is likely to be asked for next
        return uri

    def find(self, uri: str) -> int:
        """The row of a uri, -1 where it is unknown."""
        row = self._rows.get(uri)
        if row is not None:
            return row
        key = uri.encode(errors="surrogatepass")
        row = bisect_left(range(len(self)), key, key=self._bytes)
        if row == len(self) or self._bytes(row) != key:
            return -1
        self._rows[uri] = row
        return row

    def find_all(self, uris: Sequence[str]) -> NDArray[np.int64]:
        """The rows of uris (n,), -1 where unknown."""
        return np.fromiter((self.find(uri) for uri in uris), dtype=np.int64, count=len(uris))

    def _bytes(self, row: int) -> bytes:
        return bytes(self._blob[self._offsets[row] : self._offsets[row + 1]])


class UriRows(Mapping[str, int]):
    """uri -> row of a table."""

    def __init__(self, table: UriTable) -> None:
        self._table = table

    def __getitem__(self, uri: str) -> int:
        row = self._table.find(uri)
        if row < 0:
            raise KeyError(uri)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def pack_uris(name: str, uris: Sequence[str]) -> Arrays:
    """A table of sorted uris as arrays to save."""
    parts = [uri.encode() for uri in uris]
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)), out=offsets[1:])
    return {f"{name}.offsets": offsets, f"{name}.uris": np.frombuffer(b"".join(parts), dtype=np.uint8)}


def unpack_uris(name: str, arrays: Arrays) -> UriTable:
    """The table :func:`pack_uris` made arrays of."""
    return UriTable(arrays[f"{name}.uris"].data, arrays[f"{name}.offsets"])
