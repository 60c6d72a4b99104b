"""The word index: tantivy over the search terms of chunks, headings and text as one field.

Terms come normalised and stemmed, so that tantivy only splits at spaces. The index proposes candidates; exact
counts and corpus statistics come from the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tantivy

from trivium.graph.arrays import Rows
from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.files import link_or_copy

FOLDER = "words"
_HEAP = 64_000_000
_BATCH = 5000
_REPLACED_WHOLE = ("meta.json", ".managed.json")
"""What tantivy rewrites; its other files are written once."""


class WordIndex:
    """An opened word index."""

    def __init__(self, folder: Path) -> None:
        self._schema = _schema()
        index = _open(folder / FOLDER)
        index.config_reader(reload_policy="manual")
        self._searcher = index.searcher()

    def search(self, terms: Sequence[str], k: int) -> tuple[list[float], Rows]:
        """BM25 scores and numbers of about the k best chunks that contain some of the terms, best first."""
        queries = [
            (
                tantivy.Occur.Should,
                tantivy.Query.term_query(self._schema, "terms", term, index_option="freq"),
            )
            for term in dict.fromkeys(terms)
        ]
        if not queries or k <= 0:
            return [], np.empty(0, dtype=np.int64)
        found = self._searcher.search(tantivy.Query.boolean_query(queries), k, count=False).hits
        numbers = self._searcher.fast_field_values("chunk", [address for _, address in found])
        return [score for score, _ in found], np.array(numbers, dtype=np.int64)


def build_words(
    connection: Connection,
    folder: Path,
    previous: Path | None,
    ids: Rows,
    old_ids: Rows,
    step: Callable[[int], None],
) -> None:
    """Write the index of the chunks ``ids``, from that of ``old_ids`` where there is a previous one.

    Chunks never change under their number and numbers only grow: new ones are those above the highest old.
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
    cursor = connection.execute(
        "SELECT id, heading_terms, terms FROM chunk WHERE id > ? ORDER BY id", [after]
    )
    while rows := cursor.fetchmany(_BATCH):
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
    # signed: tantivy reads the number of a deletion as signed, and finds no unsigned one
    builder.add_integer_field("chunk", stored=False, indexed=True, fast=True)
    builder.add_text_field("terms", stored=False, tokenizer_name="terms", index_option="freq")
    return builder.build()


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
