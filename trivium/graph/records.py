"""The values that stores take and return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats as Floats
from trivium.common.progress import Progress as Progress
from trivium.types import EmbedderIdentity, MetadataValue

Vectors = NDArray[np.float32]
Codes = NDArray[np.int8]
"""Vectors (n x d) as whole numbers: rows are directions, their lengths mean nothing."""

T = TypeVar("T")


def round_score(score: float) -> float:
    """A score to 6 significant digits."""
    return float(f"{score:.6g}")


def round_scores(scores: Floats) -> Floats:
    """:func:`round_score` of each (n,), NaN for NaN.

    >>> round_scores(np.array([0.12345649, -3.00000051, 0.0])).tolist()
    [0.123456, -3.0, 0.0]
    """
    from trivium.common.rounding import round_digits  # loads numba, see trivium.common.compiled

    rounded, unsure = np.empty(len(scores)), np.empty(len(scores), dtype=np.bool_)
    round_digits(scores, rounded, unsure)
    for place in np.flatnonzero(unsure).tolist():
        rounded[place] = round_score(float(scores[place]))
    return rounded


def rank_key(score: float, uri: str) -> tuple[float, str]:
    """Sort key: best first, ties by uri."""
    return (-round_score(score), uri)


def page_numbers(pages: tuple[int, int] | None) -> list[int]:
    """All pages from a first to a last one; none where a document has no pages.

    >>> page_numbers((3, 5)), page_numbers(None)
    ([3, 4, 5], [])
    """
    return [] if pages is None else list(range(pages[0], pages[1] + 1))


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node near a vector."""

    uri: str
    score: float


@dataclass(frozen=True, slots=True)
class Reached:
    """A chunk reached from a node: ``source_node`` is that node, ``score`` its cosine with the question, ``cosine``
    the chunk's own, ``position`` the chunk's place on its page."""

    uri: str
    source_node: str
    score: float
    cosine: float
    position: int


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk as shown to people. ``section`` is the section or page directly above it. ``pages`` are the first and the
    last page of a paginated document that it stands on, from 1; None where the document has no pages.
    ``document`` is the path of its file below the folder given, or else the source; ``format`` and ``metadata`` are
    those of its page."""

    uri: str
    page: str
    section: str
    text: str
    kind: str
    position: int
    start: int
    end: int
    token_count: int
    pages: tuple[int, int] | None = None
    document: str = ""
    format: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Similarities:
    """Cosines of chunks with one question, one row a chunk, NaN where the view does not exist for it.

    ``chunk`` of the chunk itself, ``section`` of the section or page directly above, ``page`` of its page,
    ``entity`` the best of the entities it cites.
    """

    chunk: Floats
    section: Floats
    page: Floats
    entity: Floats


@dataclass(frozen=True, slots=True)
class Passage:
    """What of a chunk is embedded: its headings, the title first, and its text."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Pending(Generic[T]):
    """What has no vectors yet: distinct items in a fixed order. Their number is known at once; the items are read from
    the store some at a time while they are iterated over, so that never all of them are in memory. Vectors may be written
    meanwhile; what is deleted meanwhile is left out."""

    count: int
    batches: Callable[[], Iterable[Sequence[T]]]
    """Reads them anew whenever it is called."""

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.batches())


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """Vectors of the sentences of chunks, in the chunks' order: those of chunk i are the rows
    ``starts[i]:starts[i + 1]`` of ``codes`` (sentences x d)."""

    codes: Codes
    starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often terms occur. ``text`` and ``headings`` are (chunks x terms); lengths are (chunks,), in terms.
    ``places`` (occurrences x 3) says where in the texts: number of the chunk, of the term (the first, where the same is
    asked for twice), and how many terms stand before it; in this order."""

    text: Floats
    headings: Floats
    text_length: Floats
    headings_length: Floats
    places: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Corpus statistics for BM25 over headings + text: number of chunks, mean length in terms, and for the
    asked terms the number of chunks containing each (in the order asked)."""

    chunks: int
    mean_length: float
    document_frequency: Floats


@dataclass(frozen=True, slots=True)
class Adjacency:
    """The graph the walk runs on: nodes ``0..len(chunks)-1`` are chunks, the rest entities.

    Symmetric, unweighted, CSR: the neighbours of node i are ``indices[indptr[i]:indptr[i+1]]``. Edges join a
    chunk with each entity it cites and with its own page, each pair once. Chunks and entities are in uri order.
    ``own_chunks`` (nodes x 2) are the first of the chunks on an entity's own page and the node after the last, both
    0 for an
    entity without a page and for chunks. ``allowed`` (chunks,) says which chunks may be returned; None: all.
    """

    chunks: Sequence[str]
    entities: Sequence[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    own_chunks: NDArray[np.int64]
    chunk_rows: Mapping[str, int]
    entity_rows: Mapping[str, int]
    allowed: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a write did, in pages."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    skipped: tuple[str, ...] = ()
    """Pages left alone because the store holds a higher revision."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page as it was loaded. ``content_hash`` changes with everything but the source. ``format``, ``path``,
    ``modified`` and ``metadata`` are those of :class:`~trivium.types.Page`. ``added`` is when the store first got a page
    of this title (ISO 8601, UTC), None for one that an earlier version of the program loaded; records are compared
    without it. ``given`` are the keys of ``metadata`` that the user gave, in order."""

    uri: str
    source: str
    revision: int | None
    content_hash: str
    format: str = ""
    path: str = ""
    modified: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    added: str | None = field(default=None, compare=False)
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store is: where, which embedder filled it (None before the first embedding), how much it holds, what cut
    its pages (None where there are none), and the parameters of its vector indexes that were chosen
    (:class:`~trivium.index_parameters.IndexParameters`)."""

    location: str
    schema_version: int
    embedder: EmbedderIdentity | None
    nodes: Mapping[str, int] = field(default_factory=dict)
    relationships: Mapping[str, int] = field(default_factory=dict)
    aliases: int = 0
    embedded: int = 0
    to_embed: int = 0
    chunker: str | None = None
    index: Mapping[str, int | bool] = field(default_factory=dict)
