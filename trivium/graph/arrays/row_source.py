"""What the index is made from: rows of a source of truth, known by numbers, and what changed between two of its states.

Numbers are positive. Chunks, sections and names (entities and what leads to them; a page has the number of its entity)
are numbered each by themselves. A row never changes under its number, except where :class:`Changes` says so, and new
rows have higher numbers than all earlier ones: so an index of an earlier state is brought up to date with little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from trivium.graph.arrays.array_files import Rows
from trivium.graph.records import Vectors
from trivium.graph.schema import Label

NodeRow = tuple[str, int, int]
"""Uri, number, and number of the vector (-1 without one)."""
DetailRow = tuple[int, str, int, int]
"""Number of a chunk, its kind, and the first and last page of a document that it stands on, 0 for none."""


class RowSource(Protocol):
    """All rows of one state. What has an ``after`` leaves out rows up to this number."""

    @property
    def dimension(self) -> int:
        """Dimension of the vectors, 0 as long as there is no embedder."""
        ...

    def nodes(self, label: Label) -> Iterator[Sequence[NodeRow]]:
        """Iterate in blocks over the nodes of a label, sorted by uri."""
        ...

    def chunks(self) -> Rows:
        """Return (n, 6) of all chunks: number, numbers of page and section (-1 directly under the page), position on
        the page, and how many terms text and headings have."""
        ...

    def sections(self) -> Rows:
        """Return (n, 3) of all sections: number, number of the page, position on it."""
        ...

    def citations(self) -> Rows:
        """Return (n, 2): number of a chunk, number of an entity it cites, by chunk and order of appearance. A pair may
        come more than once."""
        ...

    def last_name(self) -> int:
        """Return the highest number of a name, 0 if there is none."""
        ...

    def vector_numbers(self) -> Rows:
        """Return the numbers of all vectors, ascending."""
        ...

    def vectors(self, after: int) -> Iterator[Vectors]:
        """Iterate over the vectors, by number, in blocks (n, d)."""
        ...

    def terms(self, after: int) -> Iterator[Sequence[tuple[int, str, str]]]:
        """Iterate in blocks over chunks by number: number, terms of the headings, terms of the text, each separated by
        single spaces."""
        ...

    def details(self) -> Iterator[Sequence[DetailRow]]:
        """Iterate in blocks over what conditions test of each chunk beside its page."""
        ...

    def sentence_sums(self) -> Rows:
        """Return (n, 3) of all texts with sentence vectors, by number: number, size of the vectors in bytes, checksum
        (-1 if unknown)."""
        ...

    def chunk_texts(self) -> Rows:
        """Return (n, 2) of all chunks: number, number of the text."""
        ...

    def sentences(self, texts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Iterate over the sentence vectors of those of the texts (ascending numbers) that have some, by number."""
        ...


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different from an earlier state. ``gone`` are the numbers of removed nodes; those that are not in the
    earlier state are skipped. ``new`` nodes are sorted by uri.
    """

    gone: Mapping[Label, Sequence[int]]
    new: Mapping[Label, Sequence[NodeRow]]
    given: Mapping[Label, Rows]
    """Nodes that may have another vector (n, 2): number of the node, number of its vector (-1 without one)."""
    vector_numbers: Rows
    """Numbers of the new vectors, ascending."""
    vectors: Vectors
    """The new vectors (n, d)."""
    chunks: Rows
    """Facts of the new chunks (n, 5), as in :meth:`RowSource.chunks` without the number, in the order of ``new``."""
    terms: Sequence[str]
    """Their terms, of headings and text, separated by single spaces."""
    details: Sequence[DetailRow]
    section_pages: Rows
    """Numbers of the pages of the new sections, in the order of ``new``."""
    outlines: Rows
    """(n, 2): number of a page with new sections, number of a section of it; all of them, in document order."""
    citing: Rows
    """Numbers of the chunks that may cite other entities than before, new ones among them, ascending."""
    citations: Rows
    """Their citations (n, 2), as in :meth:`RowSource.citations`, each pair once."""
    texts: Sequence[tuple[int, int]]
    """(number of a chunk, number of its text) of chunks that are new or may have other sentence vectors."""
    sentences: Mapping[int, bytes]
    """The sentence vectors of these texts, as far as they have some."""
    last_name: int
    """As :meth:`RowSource.last_name`."""
