"""What a search reads of a store; see :mod:`trivium.graph.protocols`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from trivium.graph.filter_conditions import Condition
from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import (
    Adjacency,
    ChunkRecord,
    Neighbour,
    Reached,
    SentenceVectors,
    Similarities,
    TermCounts,
    TermStatistics,
    Vectors,
    WaitingTexts,
)
from trivium.graph.schema import Hop, Label
from trivium.graph.stored_vectors import PictureVectors
from trivium.types import EmbedderIdentity


class GraphReader(Protocol):
    """Traverses the graph and returns chunks."""

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        """Return the uris of the sections of each page, in document order."""
        ...

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        """Return the chunks along a hop from each node, ordered by page and position."""
        ...

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        """Return the entities that each chunk cites, with redirects resolved."""
        ...

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        """Return the sections that each chunk's links refer to by an anchor, in order of appearance. Their pages are
        among the entities it cites. Anchors that match no section are skipped.
        """
        ...

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        """Return records in the order asked. Raises StoreChangedError for an unknown chunk, since it existed when it
        was found.
        """
        ...

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        """Return small WebP copies of the chunks' pictures by uri, in the order asked. Chunks without one and unknown
        chunks are skipped. :meth:`fetch` does not read them.
        """
        ...

    def page_text(self, page: str) -> str:
        """Return the page's plain text, which chunk offsets refer to. Raises StoreError for an unknown page."""
        ...

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        """Map titles or aliases (as uris) to the uris of their entities. Unknown ones are skipped."""
        ...

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        """Map normalised names (:func:`trivium.text.normalise.normalise_name`) to entity uris.

        A name matches a title or alias, with or without a trailing parenthesis. Of several matches the first of this
        order wins: exact title, alias, shortened title; page before bare entity; most cited; lowest uri. Unknown
        names are skipped.
        """
        ...

    def names(self) -> Iterator[tuple[str, str]]:
        """Iterate over (title or alias, entity uri) of every entity that is a page, including its aliases."""
        ...

    def names_like(self, forms: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Return :meth:`names` of which the normalised name (:func:`trivium.text.normalise.normalise_name`), with or
        without a trailing parenthesis, is one of ``forms``, in any order. A store may return others as well.
        """
        ...

    def aliases(self) -> list[str]:
        """Return the aliases of pages, sorted by uri, without reading the titles of pages."""
        ...

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        """Return every semantic_rel that starts or ends at one of the entities, without mirrored ones, in a fixed
        order.
        """
        ...

    @property
    def entities(self) -> str | None:
        """What recognises names in the texts of documents (:func:`trivium.entities.recogniser.load_recogniser`); None for
        nothing.
        """
        ...

    def adjacency(self) -> Adjacency:
        """Return the graph of the walk."""
        ...

    def chunk_uris(self) -> list[str]:
        """Return all chunks, ordered by page uri and position."""
        ...


class VectorReader(Protocol):
    """Compares vectors with those of the store."""

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """The embedder the store was built with; None before the first embedding."""
        ...

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        """Return the k nodes with any of the labels whose embeddings have the highest cosines."""
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
        """Return the chunks along a hop from the ``nodes`` nearest nodes.

        A chunk reached from several nodes appears once, with the best. Ordered by score, then own cosine, position
        and uri; at most ``limit``.
        """
        ...

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        """Return the cosines of chunks with a question, for the chunks themselves and the nodes they belong to."""
        ...

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        """Return embeddings (n, d); rows of unknown nodes and nodes without one are NaN."""
        ...

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        """Return the vectors of the chunks' sentences, in the order asked; none for unknown chunks and chunks without
        them.
        """
        ...

    @property
    def image_embedder(self) -> EmbedderIdentity | None:
        """The embedder of the pictures; None before the first."""
        ...

    def picture_vectors(self) -> PictureVectors:
        """Return the vectors of all pictures, read on first use and kept in memory until the store changes."""
        ...

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        """Return embeddings (n, d) of relation types; rows of unknown types are NaN."""
        ...


class TextSearch(Protocol):
    """Searches and counts words. Terms are stemmed; see :class:`trivium.text.languages.Analyzer`."""

    @property
    def languages(self) -> str | None:
        """The languages of the documents (serialised :class:`trivium.text.languages.StoreLanguages`); None for an English
        store.
        """
        ...

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        """Return uris of about k chunks that contain some of the terms, best first by the store's own BM25 over
        headings + text. Used to propose candidates.
        """
        ...

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        """Return how often and where terms occur in chunks."""
        ...

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        """Return the corpus statistics for BM25."""
        ...


class SearchStore(GraphReader, VectorReader, TextSearch, Protocol):
    """Everything that answering a question requires of a store."""

    @property
    def location(self) -> str:
        """Where the store is, for display: a folder or an address. Reads nothing."""
        ...

    @property
    def remote(self) -> bool:
        """Whether reads wait for a server, so that concurrent reads are faster than sequential ones."""
        ...

    def waiting_texts(self) -> WaitingTexts:
        """Return how many texts wait to be embedded, and of how many: zeros if none does, and in Neo4j until
        :meth:`GraphStore.info` has counted. Read at most once per state.
        """
        ...

    def pinned(self) -> AbstractContextManager[SearchStore]:
        """Pin the store for the duration of one question. If the database supports it (the embedded store), all reads
        in the block see the state committed when it began; otherwise this is the store itself.
        """
        ...

    def within(self, condition: Condition) -> SearchStore:
        """Restrict the store to chunks that match a condition; see :mod:`trivium.graph.filtered_store`. Searches return
        as many matching chunks as requested if there are that many. Nothing is read until the view is used.
        """
        ...


@runtime_checkable
class LooksAhead(Protocol):
    """A store that can look for what is nearest to several questions at a time, in less time than to one by one."""

    def look_ahead(self, vectors: Sequence[Vectors], like: Vectors) -> None:
        """Prepare for the questions with these vectors (each (d,)), which will look for the same kinds of nodes as the
        question ``like`` (d,) just did. Changes no results.
        """
        ...
