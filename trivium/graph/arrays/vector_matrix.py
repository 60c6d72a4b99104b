"""Vectors in files mapped into memory: all vectors as one matrix, and the sentence vectors of all chunks, so that
searches need no database access for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import dots, expand_ranges
from trivium.graph.arrays.array_files import (
    Rows,
    Stacked,
    find_sorted,
    link_or_copy,
    load_array,
    load_arrays,
    new_array,
    save_array,
    save_arrays,
)
from trivium.graph.arrays.row_moves import Moves
from trivium.graph.arrays.row_source import RowSource
from trivium.graph.arrays.topology import Nodes
from trivium.graph.records import Floats, SentenceVectors, Vectors

_BLOCK = 8192
_SLACK = 1e-5
"""Upper bound of the single-precision error in the cosine of two unit vectors."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All vectors: ``vectors`` (n, d) in single precision, and their numbers ``ids`` (n,), ascending."""

    vectors: Stacked
    ids: Rows

    @property
    def dimension(self) -> int:
        """Dimension of the vectors."""
        return int(self.vectors.upper.shape[1])

    @property
    def highest(self) -> int:
        """The highest number of a vector, 0 if there is none."""
        return int(self.ids[-1]) if len(self.ids) else 0

    def rows_of(self, ids: Rows) -> Rows:
        """Return the rows of vectors by number, -1 for unknown ones."""
        return find_sorted(self.ids, ids)

    def cosines(self, rows: Rows, vector: Vectors) -> Floats:
        """Return the cosines of a unit vector with rows (n,), NaN for row -1. Summed in double precision, so that a
        cosine does not depend on what else is asked for.
        """
        if self.vectors.are_above(rows):
            return dots(self.vectors.upper, vector, rows, limit=1.0)
        scores = np.empty(len(rows))
        for chosen, vectors, places in self.vectors.split(rows):
            scores[chosen] = dots(vectors, vector, places, limit=1.0)
        return scores

    def gather(self, rows: Rows) -> Vectors:
        """Return vectors (n, d), NaN for row -1."""
        present = rows >= 0
        if present.all():
            return self.vectors.take(rows)
        gathered = np.full((len(rows), self.dimension), np.nan, dtype=np.float32)
        gathered[present] = self.vectors.take(rows[present])
        return gathered

    def grown(self, numbers: Rows, vectors: Vectors) -> Matrix:
        """Return the matrix with more vectors, of higher numbers."""
        if not len(numbers):
            return self
        return Matrix(self.vectors.grown(vectors), np.concatenate([self.ids, numbers]))

    def nearest(self, rows: Rows, vector: Vectors, k: int) -> Rows:
        """Return indices into ``rows`` (n,) that include the k of highest cosine, and a few more. Fastest if ``rows``
        is ascending. Single precision excludes the distant ones; the caller orders the others in double precision.
        """
        if k >= len(rows):
            return np.arange(len(rows))
        scores = np.empty(len(rows), dtype=np.float32)
        for begin in range(0, len(rows), _BLOCK):
            scores[begin : begin + _BLOCK] = _products(self._pick(rows[begin : begin + _BLOCK]), vector)
        least = np.partition(scores, len(rows) - k)[len(rows) - k]
        return np.flatnonzero(scores >= least - _SLACK)

    def _pick(self, rows: Rows) -> Vectors:
        """Return the vectors of ascending rows, without a copy if the rows are contiguous."""
        first, last = int(rows[0]), int(rows[-1])
        upper: Vectors = self.vectors.upper
        if last < len(upper) and last - first + 1 == len(rows) and np.all(np.diff(rows) == 1):
            return upper[first : last + 1]
        return self.vectors.take(rows)


def _products(matrix: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """Return the product of a matrix and a vector, fast and approximate; see :func:`trivium.common.arrays.dots` for the
    exact one. It avoids ``@``, because BLAS threads wait for each other, for 10 ms and more on a busy machine, to
    save a fraction of that.
    """
    products: NDArray[Any] = np.vecdot(matrix, vector)
    return products


def build_matrix(source: RowSource, folder: Path, previous: Path | None) -> Rows:
    """Write the matrix of the committed vectors and return their numbers by row.

    A vector never changes under its number and numbers only increase, so existing ones are copied from the previous
    snapshot and only new ones are read.
    """
    ids, dimension = source.vector_numbers(), source.dimension
    save_array(folder, "matrix.ids", ids)
    old = None if previous is None else load_matrix(previous)
    if old is not None and old.dimension != dimension:
        old = None  # of an embedder that was replaced before it stored anything
    if old is not None and previous is not None and np.array_equal(old.ids, ids):
        link_or_copy(previous / "matrix.npy", folder / "matrix.npy")
        return ids
    shape = (len(ids), dimension)
    if len(ids) == 0:
        save_array(folder, "matrix", np.empty(shape, dtype=np.float32))
        return ids
    values = new_array(folder, "matrix", shape, np.float32)
    filled = 0
    if old is not None:
        kept = np.flatnonzero(np.isin(old.ids, ids, assume_unique=True))
        for begin in range(0, len(kept), _BLOCK):
            some = kept[begin : begin + _BLOCK]
            values[begin : begin + len(some)] = old.vectors.upper[some]
        filled = len(kept)
    after = int(ids[filled - 1]) if filled else 0
    for block in source.vectors(after):
        values[filled : filled + len(block)] = block
        filled += len(block)
    values.flush()
    return ids


def load_matrix(folder: Path) -> Matrix:
    """Memory-map the files written by :func:`build_matrix`."""
    return Matrix(Stacked.of(load_array(folder, "matrix")), load_array(folder, "matrix.ids"))


_CODES = "sentences"
_PLACES = "sentences.places"
_TEXTS_A_READ = 1000


@dataclass(frozen=True, slots=True)
class SentenceColumn:
    """Sentence vectors by text. ``codes`` (s, d) holds those of text i in rows ``starts[i]:starts[i + 1]``; ``text``
    (chunks,) is the text of each chunk, -1 if it has no sentence vectors.
    """

    codes: Stacked
    starts: Rows
    text: Rows

    def of(self, chunks: Rows) -> SentenceVectors:
        """Return the sentence vectors of chunks by row (n,), in the order asked; none for row -1."""
        texts = np.where(chunks >= 0, self.text[chunks], -1) if len(self.text) else chunks
        starts = np.where(texts >= 0, self.starts[texts], 0)
        counts = np.where(texts >= 0, self.starts[texts + 1] - starts, 0)
        _, places = expand_ranges(starts, counts)
        return SentenceVectors(self.codes.take(places), np.concatenate([[0], np.cumsum(counts)]))

    def patched(
        self,
        moves: Moves,
        nodes: Nodes,
        texts: Sequence[tuple[int, int]],
        sentences: Mapping[int, bytes],
        dimension: int,
    ) -> SentenceColumn:
        """Return the column after changes. ``moves`` says where old chunks are among ``nodes``; ``texts`` are (chunk
        number, text number) of chunks that are new or may have other sentences, ``sentences`` those of these texts.
        """
        text = moves.carry(self.text)
        if not texts:
            return SentenceColumn(self.codes, self.starts, text)
        if text is self.text:
            text = text.copy()
        found = {
            number: np.frombuffer(data, dtype=np.int8).reshape(-1, dimension)
            for number, data in sentences.items()
        }
        places = {number: place for place, number in enumerate(found, len(self.starts) - 1)}
        for row, (_, number) in zip(
            nodes.rows_of(np.array([c for c, _ in texts], np.int64)).tolist(), texts, strict=True
        ):
            text[row] = places.get(number, -1)
        sizes = np.array([len(codes) for codes in found.values()], dtype=np.int64)
        more = np.concatenate([np.empty((0, dimension), np.int8), *found.values()])
        starts = np.concatenate([self.starts, self.starts[-1] + np.cumsum(sizes)])
        return SentenceColumn(self.codes.grown(more), starts, text)


def build_sentences(source: RowSource, folder: Path, previous: Path | None, nodes: Nodes) -> None:
    """Write the column of a state. Sentences whose text and checksum are unchanged are copied from the previous
    snapshot; only the others are read from the source.
    """
    found, dimension = source.sentence_sums(), source.dimension
    texts, checksums = found[:, 0], found[:, 2]
    starts = np.concatenate([[0], np.cumsum(found[:, 1] // max(1, dimension))])
    of_chunk = source.chunk_texts()
    text = np.full(len(nodes.ids), -1, dtype=np.int64)
    text[nodes.rows_of(of_chunk[:, 0])] = find_sorted(texts, of_chunk[:, 1])
    save_arrays(folder, _PLACES, {"texts": texts, "checksums": checksums, "starts": starts, "text": text})

    old, same = _known(previous, texts, checksums, np.diff(starts), dimension)
    if previous is not None and old is not None and same.all() and len(old.codes) == starts[-1]:
        link_or_copy(previous / f"{_CODES}.npy", folder / f"{_CODES}.npy")
        return
    if starts[-1] == 0:
        save_array(folder, _CODES, np.empty((0, dimension), dtype=np.int8))
        return
    codes = new_array(folder, _CODES, (int(starts[-1]), dimension), np.int8)
    if old is not None:
        kept = np.flatnonzero(same)
        for begin in range(0, len(kept), _BLOCK):
            some = kept[begin : begin + _BLOCK]
            sizes = starts[some + 1] - starts[some]
            here = expand_ranges(starts[some], sizes)[1]
            codes[here] = old.codes.take(expand_ranges(old.starts[old.text[some]], sizes)[1])
    new = np.flatnonzero(~same)
    for begin in range(0, len(new), _TEXTS_A_READ):
        some = new[begin : begin + _TEXTS_A_READ]
        for place, (_, data) in zip(some.tolist(), source.sentences(texts[some].tolist()), strict=True):
            own = np.frombuffer(data, dtype=np.int8)
            codes[starts[place] : starts[place + 1]] = own.reshape(-1, dimension)
    codes.flush()


def load_sentences(folder: Path) -> SentenceColumn:
    """Memory-map the files written by :func:`build_sentences`."""
    arrays = load_arrays(folder, _PLACES)
    return SentenceColumn(Stacked.of(load_array(folder, _CODES)), arrays["starts"], arrays["text"])


def _known(
    previous: Path | None, texts: Rows, checksums: Rows, counts: Rows, dimension: int
) -> tuple[SentenceColumn | None, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return the previous snapshot's column, mapped to the given ``texts``, and which of these have the same vectors
    there.
    """
    unknown = np.zeros(len(texts), dtype=bool)
    if previous is None:
        return None, unknown
    arrays, codes = load_arrays(previous, _PLACES), load_array(previous, _CODES)
    if codes.shape[1] != dimension or not len(arrays["texts"]):
        return None, unknown
    rows = find_sorted(arrays["texts"], texts)
    same = (rows >= 0) & (arrays["checksums"][rows] == checksums) & (checksums >= 0)
    same &= np.diff(arrays["starts"])[rows] == counts
    return SentenceColumn(Stacked.of(codes), arrays["starts"], rows), same
