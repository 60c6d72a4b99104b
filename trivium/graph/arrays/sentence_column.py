"""The sentence vectors of all chunks in one memory-mapped file, so that searches need no database access for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.common.ragged import expand_ranges
from trivium.graph.arrays.columns import (
    Rows,
    Stacked,
    find_sorted,
    load_array,
    load_arrays,
    new_array,
    save_array,
    save_arrays,
)
from trivium.graph.arrays.files import link_or_copy
from trivium.graph.arrays.rows import RowSource
from trivium.graph.arrays.topology import Nodes
from trivium.graph.records import SentenceVectors
from trivium.graph.row_moves import Moves

_CODES = "sentences"
_PLACES = "sentences.places"
_BLOCK = 8192
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
    if previous is None or not (previous / f"{_CODES}.npy").exists():
        return None, unknown
    arrays, codes = load_arrays(previous, _PLACES), load_array(previous, _CODES)
    if codes.shape[1] != dimension or not len(arrays["texts"]):
        return None, unknown
    rows = find_sorted(arrays["texts"], texts)
    same = (rows >= 0) & (arrays["checksums"][rows] == checksums) & (checksums >= 0)
    same &= np.diff(arrays["starts"])[rows] == counts
    return SentenceColumn(Stacked.of(codes), arrays["starts"], rows), same
