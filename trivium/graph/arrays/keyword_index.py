"""Keyword search. The inverted index (tantivy; headings and text of a chunk as one field) proposes chunks; the
forward index lists the terms of each chunk, so that counting the terms of a question reads no text.

Terms are already normalised and stemmed, so tantivy only splits at spaces. In the forward index terms are numbers. A
term keeps its number across snapshots and new terms are appended, so existing entries remain valid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import tantivy
from numpy.typing import NDArray

from trivium.common.arrays import expand_ranges
from trivium.errors import StoreFormatError
from trivium.graph.arrays.array_files import (
    Rows,
    Stacked,
    cannot_change,
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
from trivium.graph.records import Floats, TermCounts
from trivium.graph.string_table import StringTable, pack_strings, unpack_strings
from trivium.graph.term_occurrences import count_numbers
from trivium.native.loops import loops

FOLDER = "words"
_FORWARD = "tokens"
_VOCABULARY = "vocabulary"
_DAMAGED = f"the derived file {_FORWARD}.npy of the store is damaged: run  trivium check STORE --repair"
_HEAP = 64_000_000
_BATCH = 5000
_REPLACED_WHOLE = ("meta.json", ".managed.json")
"""Files that tantivy rewrites. Its other files are written once."""


class KeywordIndex:
    """An open inverted index."""

    def __init__(self, folder: Path) -> None:
        """Raises StoreFormatError if the index is damaged."""
        self._schema = _schema()
        with _readable():
            self._searcher = self._open(folder)

    def _open(self, folder: Path) -> tantivy.Searcher:
        if cannot_change(folder):
            # Tantivy creates a lock file beside its files even for reading. Once opened it needs the links no longer.
            with TemporaryDirectory(prefix="trivium-") as links:
                for path in (folder / FOLDER).iterdir():
                    if not path.name.endswith(".lock"):
                        Path(links, path.name).symlink_to(path.resolve())
                return _searcher(Path(links))
        return _searcher(folder / FOLDER)

    def search(self, terms: Sequence[str], k: int) -> tuple[list[float], Rows]:
        """Return BM25 scores and numbers of about the k best chunks that contain some of the terms, best first."""
        queries = [
            (
                tantivy.Occur.Should,
                tantivy.Query.term_query(self._schema, "terms", term, index_option="freq"),
            )
            for term in dict.fromkeys(terms)
        ]
        if not queries or k <= 0:
            return [], np.empty(0, dtype=np.int64)
        k = min(k, max(self._searcher.num_docs, 1))  # tantivy allocates room for k hits up front
        with _readable():
            found = self._searcher.search(tantivy.Query.boolean_query(queries), k, count=False).hits
            numbers = self._searcher.fast_field_values("chunk", [address for _, address in found])
            return [score for score, _ in found], np.array(numbers, dtype=np.int64)


def is_panic(error: BaseException) -> bool:
    """Whether tantivy panicked, for example on a damaged file. The exception it then raises is not a subclass of
    Exception.
    """
    return type(error).__name__ == "PanicException"


@contextmanager
def _readable() -> Iterator[None]:
    """Report anything that tantivy raises while reading a file as damage to the file."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError | TypeError) and not is_panic(error):
            raise
        raise StoreFormatError(
            f"the derived files {FOLDER} of the store are damaged ({error}): run  trivium check STORE --repair"
        ) from error


def build_keyword_index(
    source: RowSource,
    folder: Path,
    previous: Path | None,
    ids: Rows,
    old_ids: Rows,
    step: Callable[[int], None],
) -> None:
    """Write the index of the chunks ``ids``, starting from that of ``old_ids`` if there is a previous one.

    Chunks never change under their number and numbers only increase, so new chunks are those above the highest old
    number.
    """
    target = folder / FOLDER
    target.mkdir()
    after = 0
    if previous is None:
        index = tantivy.Index(_schema(), str(target))
        gone = np.empty(0, dtype=np.int64)
    else:
        _clone(previous / FOLDER, target)
        index = _open(target)
        gone = np.setdiff1d(old_ids, ids, assume_unique=True)
        after = int(old_ids.max(initial=0))
    _register(index)
    writer = index.writer(heap_size=_HEAP, num_threads=1)
    for number in gone.tolist():
        writer.delete_documents_by_term("chunk", number)
    for rows in source.terms(after):
        for number, of_headings, of_text in rows:
            document = tantivy.Document()
            document.add_integer("chunk", number)
            document.add_text("terms", f"{of_headings} {of_text}")
            writer.add_document(document)
        step(len(rows))
    writer.commit()
    writer.wait_merging_threads()


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    # signed: tantivy parses the term of a deletion as signed and would not match an unsigned field
    builder.add_integer_field("chunk", stored=False, indexed=True, fast=True)
    builder.add_text_field("terms", stored=False, tokenizer_name="terms", index_option="freq")
    return builder.build()


def _searcher(folder: Path) -> tantivy.Searcher:
    index = _open(folder)
    index.config_reader(reload_policy="manual")
    return index.searcher()


def _open(folder: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(folder))
    _register(index)
    return index


def _register(index: tantivy.Index) -> None:
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("terms", analyzer)


def _clone(source: Path, target: Path) -> None:
    for path in sorted(source.iterdir()):
        if path.name in _REPLACED_WHOLE:
            (target / path.name).write_bytes(path.read_bytes())
        elif not path.name.endswith(".lock"):
            link_or_copy(path, target / path.name)


@dataclass(frozen=True, slots=True)
class ForwardIndex:
    """The terms of all chunks. ``values`` (i32) are the numbers of the terms of each chunk's headings, then of its
    text; those of row i begin at ``starts[i]``. ``lengths`` (n, 2) are the numbers of terms of text and headings.
    ``table`` holds the known terms, ``numbers`` the number of each, ``frequency`` (by number) in how many chunks it is.
    """

    values: Stacked
    starts: Rows
    lengths: Rows
    table: StringTable
    numbers: NDArray[np.int32]
    frequency: Rows

    def document_frequency(self, terms: Sequence[str]) -> Floats:
        """Return the number of chunks that contain each term (len(terms),)."""
        numbers = self._asked(terms)
        found = np.zeros(len(terms))
        found[numbers >= 0] = self.frequency[numbers[numbers >= 0]]
        return found

    def count(self, rows: Rows, terms: Sequence[str]) -> TermCounts:
        """Return how often and where terms occur in chunks, given by row; row -1 has no terms."""
        present = rows >= 0
        lengths = np.zeros((len(rows), 2), dtype=np.int64)
        starts = np.zeros(len(rows), dtype=np.int64)
        lengths[present], starts[present] = self.lengths[rows[present]], self.starts[rows[present]]
        values: NDArray[np.int32] = self.values.upper
        if len(rows) and starts.max() >= len(values):  # check this first: most of the index is not in memory
            sizes = lengths.sum(axis=1)
            values = self.values.take(expand_ranges(starts, sizes)[1])
            starts = np.cumsum(sizes) - sizes
        try:
            return count_numbers(values, starts, lengths, self._asked(terms))
        except IndexError as error:
            raise StoreFormatError(_DAMAGED) from error

    def patched(self, moves: Moves, lengths: Rows, terms: Sequence[str]) -> ForwardIndex:
        """Return the index after changes. ``moves`` says where old chunks are; new ones have the given ``terms``, joined
        by spaces, headings first. ``lengths`` are those of all chunks.
        """
        words = [text.split() for text in terms]
        unknown = sorted({word for own in words for word in own if self.table.find(word) < 0})
        table, of_terms = self.table.patched(np.empty(0, dtype=np.int64), unknown)
        numbers = of_terms.carry(self.numbers, np.arange(len(self.numbers), len(table)))
        sizes = np.array([len(own) for own in words], dtype=np.int64)
        begins = np.cumsum(sizes) - sizes
        starts = moves.carry(self.starts, len(self.values) + begins)
        more = np.empty(0, dtype=np.int32)
        if len(table) and sizes.sum():
            more = numbers[table.find_all(list(chain.from_iterable(words)))]
        frequency = np.concatenate([self.frequency, np.zeros(len(unknown), dtype=np.int64)])
        if not moves.unchanged:
            gone = moves.gone
            lost = self.lengths[gone].sum(axis=1)
            before = self.values.take(expand_ranges(self.starts[gone], lost)[1])
            frequency -= _chunks_with(before, lost, len(frequency))
            frequency += _chunks_with(more, sizes, len(frequency))
        values = self.values.grown(more) if len(more) else self.values
        return ForwardIndex(values, starts, lengths, table, numbers, frequency)

    def _asked(self, terms: Sequence[str]) -> Rows:
        found = self.table.find_all(terms)
        return np.where(found >= 0, self.numbers[found], -1) if len(self.numbers) else found


def _chunks_with(words: NDArray[np.int32], sizes: Rows, terms: int) -> Rows:
    """Return in how many chunks each of so many terms is (terms,). ``words`` are the terms of the chunks one after the
    other, ``sizes`` how many each has.
    """
    if len(words) and (words.min() < 0 or words.max() >= terms):
        raise ValueError(f"{_FORWARD} has terms beyond the {terms:,} of the vocabulary")
    found = np.zeros(terms, dtype=np.int64)
    loops.count_chunks(np.ascontiguousarray(words), np.cumsum(sizes) - sizes, sizes, found)
    return found


def build_forward_index(
    source: RowSource, folder: Path, previous: Path | None, nodes: Nodes, lengths: Rows, old_ids: Rows
) -> None:
    """Write the terms of the chunks ``nodes``, whose texts and headings have ``lengths`` (n, 2) terms, reusing those
    of the chunks ``old_ids`` of a previous snapshot that still exist.
    """
    sizes = lengths.sum(axis=1)[nodes.by_id]
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    blocks = _new(source, int(old_ids.max(initial=0)), numbers)
    if previous is not None:
        numbers.update(_known(previous))
        still = np.isin(np.sort(old_ids), nodes.ids, assume_unique=True)
        blocks = chain(_kept(previous, still), blocks)
    size = int(sizes.sum())
    values: NDArray[np.int32] = np.empty(0, dtype=np.int32)
    if size:
        file = new_array(folder, _FORWARD, (size,), np.int32)
        filled = 0
        for block in blocks:
            file[filled : filled + len(block)] = block
            filled += len(block)
        file.flush()
        values = file.view(np.ndarray)
    else:
        save_array(folder, _FORWARD, values)
    ordered = sorted(numbers)
    starts = np.zeros(len(sizes), dtype=np.int64)
    starts[nodes.by_id] = np.cumsum(sizes) - sizes
    by_number = np.fromiter((numbers[term] for term in ordered), dtype=np.int32, count=len(ordered))
    save_arrays(
        folder,
        _VOCABULARY,
        {
            **pack_strings("terms", ordered),
            "numbers": by_number,
            "starts": starts,
            "sizes": sizes,
            "frequency": _chunks_with(values, sizes, len(numbers)),
        },
    )


def load_forward_index(folder: Path, lengths: Rows) -> ForwardIndex:
    """Memory-map the files written by :func:`build_forward_index`."""
    arrays, values = load_arrays(folder, _VOCABULARY), load_array(folder, _FORWARD)
    return ForwardIndex(
        Stacked.of(values),
        arrays["starts"],
        lengths,
        unpack_strings("terms", arrays),
        arrays["numbers"],
        arrays["frequency"],
    )


def _known(folder: Path) -> Iterator[tuple[str, int]]:
    arrays = load_arrays(folder, _VOCABULARY)
    return zip(unpack_strings("terms", arrays), arrays["numbers"].tolist(), strict=True)


def _kept(folder: Path, still: NDArray[np.bool_]) -> Iterator[NDArray[np.int32]]:
    """Iterate in blocks over the terms of the chunks selected by ``still``, in the order of their numbers."""
    sizes = load_arrays(folder, _VOCABULARY)["sizes"]
    values = load_array(folder, _FORWARD)
    end = 0
    for begin in range(0, len(sizes), _BATCH):
        some = slice(begin, begin + _BATCH)
        start, end = end, end + int(sizes[some].sum())
        yield values[start:end][np.repeat(still[some], sizes[some])]


def _new(source: RowSource, after: int, numbers: defaultdict[str, int]) -> Iterator[NDArray[np.int32]]:
    """Iterate in blocks over the term numbers of the chunks above ``after``."""
    for rows in source.terms(after):
        words = " ".join(chain.from_iterable(row[1:] for row in rows)).split()
        yield np.fromiter(map(numbers.__getitem__, words), dtype=np.int32, count=len(words))
