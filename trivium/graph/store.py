"""What a home of the graph can do. Retrievers see this protocol, never SQL or Cypher.

Uris are the only identifiers that cross it. Scores are cosines in [-1, 1]. Every list has a fixed order: by
falling score rounded to 6 significant digits (:func:`rank_key`), then by uri, so that a ranking does not hang
on the last bit. Each read is one round trip for a remote store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from trivium.graph.model import PageGraph, RelationEdge
from trivium.graph.schema import Hop, Label
from trivium.types import EmbedderIdentity

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Codes = NDArray[np.int8]
"""Vectors (n x d) as whole numbers: rows are directions, their lengths mean nothing."""
Progress = Callable[[int, int], None]
"""Called with (done, total)."""


def round_score(score: float) -> float:
    """A score to 6 significant digits."""
    return float(f"{score:.6g}")


def rank_key(score: float, uri: str) -> tuple[float, str]:
    """Sort key: best first, ties by uri."""
    return (-round_score(score), uri)


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
    """A chunk as shown to people. ``section`` is the section or page directly above it."""

    uri: str
    page: str
    section: str
    text: str
    kind: str
    position: int
    start: int
    end: int
    token_count: int


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
    entity without a page and for chunks.
    """

    chunks: Sequence[str]
    entities: Sequence[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    own_chunks: NDArray[np.int64]
    chunk_rows: Mapping[str, int]
    entity_rows: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a write did, in pages."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    skipped: tuple[str, ...] = ()
    """Pages left alone because the store holds a higher revision."""


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store is: where, which embedder filled it (None before the first embedding), how much it holds."""

    location: str
    schema_version: int
    embedder: EmbedderIdentity | None
    nodes: Mapping[str, int] = field(default_factory=dict)
    relationships: Mapping[str, int] = field(default_factory=dict)
    aliases: int = 0
    embedded: int = 0
    to_embed: int = 0


class GraphStore(Protocol):
    """A home of the graph. Obtain one from ``EmbeddedStore.create/open`` (or another implementation)."""

    # -- life -------------------------------------------------------------------------------------------------

    @property
    def remote(self) -> bool:
        """Whether reads wait for a server, so that several at once are answered sooner than one after another."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    # -- writing ----------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PageGraph]) -> WriteReport:
        """Load pages in one transaction. A page that is there with the same content hash is left alone, one
        that differs is replaced whole, one with a lower revision than the stored is skipped; in each case the
        aliases it brings are added to those known. An interrupted
        call leaves the store as before it."""
        ...

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        """Other uris that resolve to stored pages. Aliases accumulate (a page's own copy does not list its
        redirects) and go with their page."""
        ...

    def add_relations(self, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
        """More relations that pages (by uri) bear witness to, as from DBpedia; those of unknown pages are passed
        over. They go when the page is replaced or removed. Returns how many the pages did not have before."""
        ...

    def set_types(self, types: Mapping[str, str]) -> int:
        """What kind of thing entities are (uri -> type as people say it, empty for none): it becomes part of the
        text that is embedded (:func:`trivium.graph.schema.entity_text`). Unknown entities are passed over; a type
        goes with its entity. Returns how many changed."""
        ...

    def delete(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by uri (or alias). Returns the uris removed. One still cited stays as an Entity."""
        ...

    def pages(self) -> list[tuple[str, str, int | None, str]]:
        """(uri, source, revision, content_hash) of every page, by uri."""
        ...

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        """Pages as they can be written to another store, with every relation and alias they have by now; all of
        them by uri, or the named ones (unknown ones left out)."""
        ...

    def types(self) -> dict[str, str]:
        """entity uri -> type, of every entity that has one, by uri."""
        ...

    # -- embeddings -------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """Who filled the store."""
        ...

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        """Claim an empty store for an embedder. Raises EmbedderMismatchError if another one filled it."""
        ...

    @property
    def fusion_decision(self) -> str | None:
        """Which fusion was decided on for this store, as it was written; None where none was."""
        ...

    def set_fusion_decision(self, decision: str | None) -> None:
        """Keep a decision in place of an earlier one, or none. The graph does not change."""
        ...

    def pending_texts(self) -> list[str]:
        """The distinct texts of nodes and relation types that have no vector yet, in a fixed order."""
        ...

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors (n x d, unit length) of texts, in one transaction."""
        ...

    def pending_sentences(self) -> list[Passage]:
        """The distinct passages whose sentences :meth:`put_sentences` has not been told of yet, by page and
        position."""
        ...

    def put_sentences(self, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
        """Keep the vectors of the sentences (m x d) of each passage, in place of earlier ones; m is 0 where they
        would say no more than the passage's own. Passages that no chunk has are passed over."""
        ...

    def refresh(self, progress: Progress | None = None) -> None:
        """Bring every derived index up to date with the written pages and vectors. Reads do it by themselves
        when they find an index stale; calling it after a load makes the cost visible."""
        ...

    # -- reading ----------------------------------------------------------------------------------------------

    def info(self) -> StoreInfo: ...

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        """The k nodes of any of the labels whose embedding has the highest cosine."""
        ...

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]:
        """From the ``nodes`` nearest nodes along a hop to chunks. A chunk reached from several nodes appears once,
        with the best. Ordered by score, then own cosine, then position, then uri; cut to ``limit``."""
        ...

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        """Candidate chunks that contain some of the (stemmed) terms, about the k best by this engine's BM25 over
        headings + text. Uris, best first."""
        ...

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts: ...

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics: ...

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities: ...

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        """Embeddings (n x d); a row of NaN where the node is unknown or has none."""
        ...

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        """Vectors of the sentences of chunks, in the order asked; none where the chunk is unknown or has none."""
        ...

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        """Embeddings of relation types (n x d), NaN rows where unknown."""
        ...

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        """Every semantic_rel that leaves or enters one of the entities, mirrors left out, in a fixed order."""
        ...

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        """For each page the uris of its sections, in document order."""
        ...

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        """For each node the chunks along a hop, by page and position."""
        ...

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        """For each chunk the entities it cites, redirects resolved."""
        ...

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        """Records in the order asked. Raises StoreChangedError for an unknown chunk: it was there when it was found."""
        ...

    def page_text(self, page: str) -> str:
        """The page's plain text, which chunk offsets count in."""
        ...

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        """Title or alias (as uris) -> uri of the entity it stands for; unknown ones are left out."""
        ...

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        """Normalised name (:func:`trivium.text.normalise_name`) of a title or alias, also without its trailing
        parenthesis -> entity uri. Where several fit: exact title, then alias, then shortened title; a page
        before a bare entity; the most cited; uri. Unknown ones are left out."""
        ...

    def names(self) -> Iterator[tuple[str, str]]:
        """(title or alias, entity uri) for every entity that is a page, and for each of its aliases."""
        ...

    def adjacency(self) -> Adjacency: ...

    def chunk_uris(self) -> list[str]:
        """Every chunk, by page uri and position."""
        ...

    def pinned(self) -> AbstractContextManager[Self]:
        """The store for the length of one question, for reading. Where the database can (the embedded store), all
        reads in the block see the state that was committed when it began; elsewhere it is the store itself."""
        ...
