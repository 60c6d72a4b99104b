"""The search terms of all chunks as numbers in one mapped array: counting a question's terms reads no text.

A term keeps its number from generation to generation, and new ones get the next, so that what is known of a chunk holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.common.ragged import expand_ranges
from trivium.graph.arrays import Rows, load_array, load_arrays, save_array, save_arrays
from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.topology import Nodes
from trivium.graph.occurrences import count_numbers
from trivium.graph.records import TermCounts
from trivium.graph.string_table import StringTable, pack_strings, unpack_strings

_FILE = "tokens"
_VOCABULARY = "vocabulary"
_BATCH = 5000


@dataclass(frozen=True, slots=True)
class Tokens:
    """``values`` (i32) are the numbers of the terms of each chunk's headings, then of its text, in the order of the
    chunks' numbers in the database; those of row i begin at ``starts[i]``. ``lengths`` (n x 2) are how many text and
    headings have. ``table`` holds the known terms, ``numbers`` the number of each."""

    values: NDArray[np.int32]
    starts: Rows
    lengths: Rows
    table: StringTable
    numbers: NDArray[np.int32]

    def count(self, rows: Rows, terms: Sequence[str]) -> TermCounts:
        """How often and where terms occur in chunks by their rows; nowhere in row -1."""
        known = rows >= 0
        lengths = np.zeros((len(rows), 2), dtype=np.int64)
        starts = np.zeros(len(rows), dtype=np.int64)
        lengths[known], starts[known] = self.lengths[rows[known]], self.starts[rows[known]]
        chunk, places = expand_ranges(starts, lengths.sum(axis=1))
        return count_numbers(self.values[places], chunk, lengths, self._asked(terms), len(self.numbers))

    def _asked(self, terms: Sequence[str]) -> Rows:
        found = self.table.find_all(terms)
        return np.where(found >= 0, self.numbers[found], -1) if len(self.numbers) else found


def build_tokens(
    connection: Connection, folder: Path, previous: Path | None, nodes: Nodes, lengths: Rows, old_ids: Rows
) -> None:
    """Write the terms of the chunks ``nodes``, whose texts and headings have ``lengths`` (n x 2) terms, from those of the
    chunks ``old_ids`` of a previous generation as far as they are still there."""
    sizes = lengths.sum(axis=1)[nodes.by_id]
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    blocks = _new(connection, int(old_ids.max(initial=0)), numbers)
    if previous is not None:
        numbers.update(_known(previous))
        still = np.isin(np.sort(old_ids), nodes.ids, assume_unique=True)
        blocks = chain([_kept(previous, still)], blocks)
    size = int(sizes.sum())
    if size:
        values = np.lib.format.open_memmap(folder / f"{_FILE}.npy", mode="w+", dtype=np.int32, shape=(size,))
        filled = 0
        for block in blocks:
            values[filled : filled + len(block)] = block
            filled += len(block)
        values.flush()
    else:
        save_array(folder, _FILE, np.empty(0, dtype=np.int32))
    known = sorted(numbers)
    starts = np.zeros(len(sizes), dtype=np.int64)
    starts[nodes.by_id] = np.cumsum(sizes) - sizes
    by_number = np.fromiter((numbers[term] for term in known), dtype=np.int32, count=len(known))
    save_arrays(
        folder,
        _VOCABULARY,
        {**pack_strings("terms", known), "numbers": by_number, "starts": starts, "sizes": sizes},
    )


def load_tokens(folder: Path, lengths: Rows) -> Tokens:
    """Map what :func:`build_tokens` wrote."""
    arrays = load_arrays(folder, _VOCABULARY)
    return Tokens(
        load_array(folder, _FILE),
        arrays["starts"],
        lengths,
        unpack_strings("terms", arrays),
        arrays["numbers"],
    )


def _known(folder: Path) -> Iterator[tuple[str, int]]:
    arrays = load_arrays(folder, _VOCABULARY)
    return zip(unpack_strings("terms", arrays), arrays["numbers"].tolist(), strict=True)


def _kept(folder: Path, still: NDArray[np.bool_]) -> NDArray[np.int32]:
    """What the chunks that are ``still`` there have, of all in the order of their numbers."""
    sizes = load_arrays(folder, _VOCABULARY)["sizes"]
    kept: NDArray[np.int32] = load_array(folder, _FILE)[np.repeat(still, sizes)]
    return kept


def _new(connection: Connection, after: int, numbers: defaultdict[str, int]) -> Iterator[NDArray[np.int32]]:
    """The numbers of the terms of the chunks above ``after``, in blocks."""
    cursor = connection.execute("SELECT heading_terms, terms FROM chunk WHERE id > ? ORDER BY id", [after])
    while rows := cursor.fetchmany(_BATCH):
        words = " ".join(chain.from_iterable(rows)).split()
        yield np.fromiter(map(numbers.__getitem__, words), dtype=np.int32, count=len(words))
