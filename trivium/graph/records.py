"""Values that stores accept and return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats as Floats
from trivium.common.progress import Progress as Progress
from trivium.errors import StoreChangedError, StoreError
from trivium.graph.schema import headings_as_text
from trivium.native.loops import loops
from trivium.text.headings_in_passages import body_of
from trivium.types import EmbedderIdentity, MetadataValue

Vectors = NDArray[np.float32]
Codes = NDArray[np.int8]
"""Vectors (n, d) as int8: only their directions are meaningful, not their lengths."""

T = TypeVar("T")


def round_score(score: float) -> float:
    """Round a score to 6 significant digits."""
    return float(f"{score:.6g}")


def round_scores(scores: Floats) -> Floats:
    """Apply :func:`round_score` to each score (n,); NaN stays NaN.

    >>> round_scores(np.array([0.12345649, -3.00000051, 0.0])).tolist()
    [0.123456, -3.0, 0.0]
    """
    rounded, unsure = np.empty(len(scores)), np.empty(len(scores), dtype=np.bool_)
    if loops.round_digits(np.ascontiguousarray(scores, np.float64), rounded, unsure):
        for place in np.flatnonzero(unsure).tolist():
            rounded[place] = round_score(float(scores[place]))
    return rounded


def rank_key(score: float, uri: str) -> tuple[float, str]:
    """Return a sort key: best first, ties by uri."""
    return (-round_score(score), uri)


def page_numbers(pages: tuple[int, int] | None) -> list[int]:
    """Return all page numbers from the first to the last; empty for documents without pages.

    >>> page_numbers((3, 5)), page_numbers(None)
    ([3, 4, 5], [])
    """
    return [] if pages is None else list(range(pages[0], pages[1] + 1))


class Neighbour(NamedTuple):
    """A node near a vector, with its cosine."""

    uri: str
    score: float


class Reached(NamedTuple):
    """A chunk reached from a node. ``source_node`` is that node and ``score`` its cosine with the question;
    ``cosine`` is the chunk's own, ``position`` the chunk's position on its page.
    """

    uri: str
    source_node: str
    score: float
    cosine: float
    position: int


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk for display. ``section`` is the section or page directly above it. ``pages`` are the first and last
    page of a paginated document on which it stands, counted from 1; None for documents without pages. ``document`` is
    the path of its file below the loaded folder, or else the source; ``format`` and ``metadata`` are those of its
    page.
    """

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

    @property
    def body(self) -> str:
        """The text without the headings that it begins with (:func:`trivium.text.headings_in_passages.body_of`)."""
        return body_of(self.text, headings_as_text(self.section))


@dataclass(frozen=True, slots=True)
class Similarities:
    """Cosines of chunks with one question (chunks,), NaN where undefined: of the ``chunk`` itself, of the ``section``
    or page directly above it, of its ``page``, and of the best ``entity`` it cites.
    """

    chunk: Floats
    section: Floats
    page: Floats
    entity: Floats


@dataclass(frozen=True, slots=True)
class Passage:
    """The embedded content of a chunk: its headings, starting with the title, and its text."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Pending(Generic[T]):
    """Items that have no vectors yet, distinct and in a fixed order.

    ``count`` is known immediately. Items are read from the store in batches while iterating, so they are never all in
    memory. Vectors may be written meanwhile; items deleted meanwhile are skipped.
    """

    count: int
    batches: Callable[[], Iterable[Sequence[T]]]
    """Reads the items anew on each call."""

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.batches())


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """Vectors of the sentences of chunks, in the chunks' order. Those of chunk i are the rows ``starts[i]:starts[i +
    1]`` of ``codes`` (sentences, d).
    """

    codes: Codes
    starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Term frequencies. ``text`` and ``headings`` are (chunks, terms); lengths are (chunks,), in terms. ``places``
    (occurrences, 3) lists the occurrences in the texts, sorted: number of the chunk, number of the term (the first,
    if a term was asked for twice), and number of terms before it.
    """

    text: Floats
    headings: Floats
    text_length: Floats
    headings_length: Floats
    places: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Corpus statistics for BM25 over headings + text: number of chunks, mean length in terms, and the number of
    chunks that contain each of the terms asked for, in their order.
    """

    chunks: int
    mean_length: float
    document_frequency: Floats


@dataclass(frozen=True, slots=True)
class Adjacency:
    """The graph of the walk: nodes ``0..len(chunks)-1`` are chunks, the rest are entities.

    Symmetric, unweighted, CSR: the neighbours of node i are ``indices[indptr[i]:indptr[i+1]]``. Edges join a chunk
    with each entity it cites and with its own page, without duplicates. Chunks and entities are sorted by uri.
    ``own_chunks`` (nodes, 2) is the range of chunks on an entity's own page, end exclusive; both are 0 for entities
    without a page and for chunks. With ``names``, entities without a page are names in texts. ``allowed`` (chunks,) is a
    mask of the chunks that may be returned; None means all.
    """

    chunks: Sequence[str]
    entities: Sequence[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    own_chunks: NDArray[np.int64]
    chunk_rows: Mapping[str, int]
    entity_rows: Mapping[str, int]
    names: bool = False
    allowed: NDArray[np.bool_] | None = None

    def are_names(self, entities: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some entities (n,), by number, are names in texts that have no page."""
        own = self.own_chunks[len(self.chunks) + entities]
        alone: NDArray[np.bool_] = own[:, 0] == own[:, 1]
        return alone & self.names


@dataclass(frozen=True, slots=True)
class WriteReport:
    """The result of a write, counted in pages."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    skipped: tuple[str, ...] = ()
    """Pages skipped because the store holds a higher revision."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page as it was loaded. ``content_hash`` covers everything except the source. ``format``, ``path``,
    ``modified`` and ``metadata`` are those of :class:`~trivium.types.Page`. ``added`` is when the store first got a
    page with this title (ISO 8601, UTC), None if unknown; it is ignored in comparisons. ``given`` are the keys of
    ``metadata`` given by the user, in order.
    """

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


class WaitingTexts(NamedTuple):
    """How many of the distinct texts of a store have no vector yet, as far as is known without reading rows."""

    waiting: int
    texts: int

    @property
    def warning(self) -> str | None:
        """A warning if texts have no vector yet, so that searches cannot find them by meaning.

        >>> WaitingTexts(2, 1614).warning
        '2 of 1,614 texts are not embedded yet: unless a build is at work, run  trivium embed --store STORE'
        """
        if not self.waiting:
            return None
        return (
            f"{self.waiting:,} of {self.texts:,} texts are not embedded yet: unless a build is at work, run "
            " trivium embed --store STORE"
        )


NONE_KNOWN = WaitingTexts(0, 0)


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """Summary of a store: its location, its embedder (None before the first embedding), counts, and the chunker of its
    pages (None if there are none).
    """

    location: str
    schema_version: int
    embedder: EmbedderIdentity | None
    nodes: Mapping[str, int] = field(default_factory=dict)
    relationships: Mapping[str, int] = field(default_factory=dict)
    aliases: int = 0
    embedded: int = 0
    to_embed: int = 0
    chunker: str | None = None


def unknown_chunk(uri: str) -> StoreChangedError:
    """The error of a store that is asked for a chunk that it does not have."""
    return StoreChangedError(
        f"there is no chunk {uri!r} in the store; it may have been replaced since it was found"
    )


def unknown_page(uri: str) -> StoreError:
    """The error of a store that is asked for a page that it does not have."""
    return StoreError(f"there is no page {uri!r} in the store; resolve() leads from an alias to its page")
