"""What a store of the graph can do, as one protocol for each kind of caller. None of them mentions SQL or Cypher.

=====================  ===============================================================================
:class:`GraphReader`   walks from node to node and shows chunks
:class:`VectorReader`  compares vectors with those of the store
:class:`TextSearch`    searches and counts words
:class:`SearchStore`   all three: what a question needs
:class:`PageReader`    lists and copies whole pages, counts what is there
:class:`GraphWriter`   loads and removes pages, relations, types
:class:`VectorWriter`  says which texts have no vector yet, and stores vectors
:class:`PictureWriter` the same for vectors of pictures
:class:`StoreChecker`  finds damage and repairs what can be repaired
:class:`GraphStore`    everything, with opening and closing
=====================  ===============================================================================

A function asks for the narrowest that suffices.

Nodes are identified by their uris alone. Scores are cosines in [-1, 1]. Every list has a fixed order: by falling score
rounded to 6 significant digits (:func:`~trivium.graph.records.rank_key`), then by uri, so that the last bit of a score
never decides a ranking. Each read is one round trip for a remote store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

from trivium.graph.filters import Condition
from trivium.graph.findings import Finding
from trivium.graph.model import PageGraph, QuestionNode, RelationEdge
from trivium.graph.pictures import PictureVectors
from trivium.graph.records import (
    Adjacency,
    ChunkRecord,
    Codes,
    Neighbour,
    PageRecord,
    Passage,
    Pending,
    Progress,
    Reached,
    SentenceVectors,
    Similarities,
    StoreInfo,
    TermCounts,
    TermStatistics,
    Vectors,
    WriteReport,
)
from trivium.graph.schema import Hop, Label
from trivium.index_parameters import IndexParameters
from trivium.types import EmbedderIdentity


class GraphReader(Protocol):
    """Walks along the edges of the graph, and shows chunks."""

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        """For each page the uris of its sections, in document order."""
        ...

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        """For each node the chunks along a hop, by page and position."""
        ...

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        """For each chunk the entities it cites, redirects resolved."""
        ...

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        """For each chunk the sections that its links mean by an anchor, in order of appearance. Their pages are among the
        entities it cites; anchors that mean no section are left out."""
        ...

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        """Records in the order asked. Raises StoreChangedError for an unknown chunk: it was there when it was found."""
        ...

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        """uri -> a small copy of the picture that the chunk stands for, as a WebP file, in the order asked; chunks that
        have none and unknown ones are left out. :meth:`fetch` does not read them."""
        ...

    def page_text(self, page: str) -> str:
        """The page's plain text, which chunk offsets count in. Raises StoreError for an unknown page."""
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

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        """Every semantic_rel that leaves or enters one of the entities, mirrors left out, in a fixed order."""
        ...

    def adjacency(self) -> Adjacency:
        """The graph that the walk runs on."""
        ...

    def chunk_uris(self) -> list[str]:
        """Every chunk, by page uri and position."""
        ...


class VectorReader(Protocol):
    """Compares vectors with those of the store."""

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """Who filled the store; None before the first embedding."""
        ...

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

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        """Cosines of chunks with a question, by themselves and by the nodes they belong to."""
        ...

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        """Embeddings (n x d); a row of NaN where the node is unknown or has none."""
        ...

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        """Vectors of the sentences of chunks, in the order asked; none where the chunk is unknown or has none."""
        ...

    @property
    def image_embedder(self) -> EmbedderIdentity | None:
        """Who made the vectors of pictures; None before the first."""
        ...

    def picture_vectors(self) -> PictureVectors:
        """The vectors of all pictures, kept in memory while the store does not change. Nothing is read before."""
        ...

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        """Embeddings of relation types (n x d), NaN rows where unknown."""
        ...


class TextSearch(Protocol):
    """Searches and counts words. Terms are stemmed: :class:`trivium.languages.Analyzer`."""

    @property
    def languages(self) -> str | None:
        """The languages of the documents (:class:`trivium.languages.StoreLanguages` as text), as written; None in a store
        in English."""
        ...

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        """Candidate chunks that contain some of the terms, about the k best by this store's own BM25 over
        headings + text. Uris, best first."""
        ...

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        """How often and where terms occur in chunks."""
        ...

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        """What BM25 needs to know of the corpus."""
        ...


class SearchStore(GraphReader, VectorReader, TextSearch, Protocol):
    """What a question needs of a store."""

    @property
    def location(self) -> str:
        """Where the store is, for people: a folder or an address. Reads nothing."""
        ...

    @property
    def remote(self) -> bool:
        """Whether reads wait for a server, so that several at once are answered sooner than one after another."""
        ...

    def pinned(self) -> AbstractContextManager[SearchStore]:
        """The store for the length of one question, for reading. Where the database can (the embedded store), all
        reads in the block see the state that was committed when it began; elsewhere it is the store itself."""
        ...

    def within(self, condition: Condition) -> SearchStore:
        """The store as a condition leaves it: what is found are chunks that match, as many as are asked for if there are
        as many; see :mod:`trivium.graph.within`. Nothing is read before the view is asked for something."""
        ...


class PageReader(Protocol):
    """Lists and copies whole pages, and counts what is there."""

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        """Pages by uri: all of them, or at most ``limit`` whose uri comes after ``after``, by code points."""
        ...

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]:
        """uri -> page, in the order asked; what is no page is left out (aliases too: :meth:`GraphReader.resolve` leads to
        their page)."""
        ...

    def pages_saying(self, words: Sequence[str], *, source: str = "", mark: str = "") -> list[PageRecord]:
        """Pages, by uri, whose text has one of the words (lower-case letters and digits of ASCII), in whatever case and
        inside of longer words too; of those whose source begins with ``source`` and whose content hash contains
        ``mark``."""
        ...

    def pages_at(self, paths: Sequence[str]) -> list[PageRecord]:
        """Pages, by uri, that are shown under one of the paths; empty ones are left out."""
        ...

    def unlinked_pages(self) -> list[str]:
        """Uris, sorted, of the pages that wait for links to what they mention (:mod:`trivium.index.mentions`): their
        content hash ends with a dot."""
        ...

    @property
    def links_pending(self) -> bool:
        """Whether names came or went that the pages were not looked through for yet: a load has begun and not ended."""
        ...

    def count_pages(self) -> int:
        """How many pages there are."""
        ...

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        """Pages as they can be written to another store, with every relation and alias they have by now; all of
        them by uri, or the named ones (unknown ones left out)."""
        ...

    def types(self) -> dict[str, str]:
        """entity uri -> type, of every entity that has one, by uri."""
        ...

    def info(self) -> StoreInfo:
        """What the store is and how much it holds. Counts everything: not for a check on the way."""
        ...


class GraphWriter(Protocol):
    """Loads and removes pages, relations and types."""

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:
        """Load pages in one transaction. A page that is there with the same content hash is left alone, one
        that differs is replaced whole, one with a lower revision than the stored is skipped; in each case the
        aliases it brings are added to those known. An interrupted call leaves the store as before it. ``chunker`` is what
        cut the pages, in the words of :mod:`trivium.chunking.spec`: a store without pages remembers it in the same
        transaction, one with pages raises ChunkerMismatchError where it is not theirs. None leaves that as it is."""
        ...

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        """Other uris that resolve to stored pages. Aliases accumulate (a page's own copy does not list its
        redirects) and go with their page."""
        ...

    def add_relations(self, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
        """More relations that pages (by uri) state, as from DBpedia; those of unknown pages are left out. They go
        when the page is replaced or removed. Returns how many the pages did not have before."""
        ...

    def put_questions(self, questions: Mapping[str, Sequence[QuestionNode]]) -> int:
        """Say which questions chunks of pages (by uri) answer, in one transaction. What a page is said to answer of a
        question takes the place of what it was said to answer of it before; chunks that it does not have are left out,
        and so are unknown pages. A question that no chunk answers is not kept: it goes with the last page that answered
        it, when that is replaced or removed. Returns how many questions became others. Nothing searches them: indexes
        stay as they are."""
        ...

    def set_types(self, types: Mapping[str, str]) -> int:
        """What kind of thing entities are (uri -> type as people say it, empty for none): it becomes part of the
        text that is embedded (:func:`trivium.graph.schema.entity_text`). Unknown entities are left out; a type
        goes with its entity. Returns how many changed."""
        ...

    def delete(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by uri (or alias). Returns the uris removed. One still cited stays as an Entity."""
        ...


class VectorWriter(Protocol):
    """Says which texts have no vector yet, and stores vectors."""

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """Who filled the store; None before the first embedding."""
        ...

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        """Claim an empty store for an embedder. Raises EmbedderMismatchError if another one filled it."""
        ...

    def pending_texts(self) -> Pending[str]:
        """The distinct texts that have no vector yet: of chunks by page and position, of pages by uri, of sections by
        page and position, of entities by uri, of relation types."""
        ...

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Store vectors (n x d, unit length) of texts, in one transaction. Texts that no node has are left out."""
        ...

    def pending_sentences(self) -> Pending[Passage]:
        """The distinct passages that :meth:`put_sentences` was not called with yet, by page and position."""
        ...

    def put_sentences(self, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
        """Store the vectors of the sentences (m x d) of each passage, in place of earlier ones; m is 0 where they
        would say no more than the passage's own. Passages that no chunk has are left out."""
        ...


class PictureWriter(Protocol):
    """Says which pictures have no vector yet, and stores vectors. They are those of the thumbnails of chunks; one goes
    when its page is replaced or removed."""

    def set_image_embedder(self, identity: EmbedderIdentity) -> None:
        """Give the pictures to an image embedder. Raises EmbedderMismatchError if another one made vectors of some."""
        ...

    def pending_pictures(self) -> list[str]:
        """The chunks that have a thumbnail and no vector of it, by uri."""
        ...

    def put_picture_vectors(self, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
        """Store vectors (n x d, unit length) of thumbnails (by chunk), in one transaction. Chunks that have another
        thumbnail by now are left out. Raises StoreError before :meth:`set_image_embedder`."""
        ...


class StoreChecker(Protocol):
    """Finds damage that only this kind of store can see, and repairs what can be repaired."""

    def check(self, progress: Progress | None = None) -> list[Finding]:
        """What is wrong with how the store is kept. Changes nothing. ``progress`` counts the steps."""
        ...

    def repair(self, findings: Sequence[Finding]) -> None:
        """Repair what these findings name, as far as it can be repaired. Damaged pages are given up: the next load of
        such a page replaces it, whatever its revision. Raises StoreError."""
        ...

    def page_digests(self) -> dict[str, str]:
        """page uri -> its :func:`~trivium.graph.digest.page_digest` when it was written; pages that were written by an
        earlier version of the program are left out."""
        ...

    def sum_pages(self, digests: Mapping[str, str]) -> None:
        """Keep these digests for pages that have none."""
        ...

    def drop_vectors(self, texts: Sequence[str]) -> None:
        """Forget the vectors of these texts: they are pending again."""
        ...

    def drop_sentences(self, passages: Sequence[Passage]) -> None:
        """Forget the vectors of the sentences of these passages: they are pending again."""
        ...


class GraphStore(SearchStore, PageReader, GraphWriter, VectorWriter, PictureWriter, Protocol):
    """A store of the graph. Get one from :func:`trivium.graph.factory.open_store`."""

    @property
    def chunker(self) -> str | None:
        """What cut the pages that are there into chunks; None where there are none."""
        ...

    @property
    def fusion_decision(self) -> str | None:
        """Which fusion was decided on for this store, as it was written; None where none was."""
        ...

    def set_fusion_decision(self, decision: str | None) -> None:
        """Store a decision in place of an earlier one, or none. The graph does not change."""
        ...

    def set_links_pending(self, pending: bool) -> None:
        """Store whether the pages are still to be looked through for names that came or went. The graph does not
        change."""
        ...

    def set_languages(self, languages: str | None) -> None:
        """Store which languages the documents are in, in place of what was known. The graph does not change."""
        ...

    def relation_embeddings(self, relations: Sequence[RelationEdge]) -> Vectors:
        """Embeddings of relations (n x d), of those as stated and of mirrored ones, by the uris of their ends: each has
        that of its type, a mirrored one that of the relation it mirrors. NaN where there is no such relation, or it is
        not embedded yet. In Neo4j they are complete after :meth:`refresh`."""
        ...

    @property
    def index_parameters(self) -> IndexParameters:
        """How the vector indexes are made; None in a field leaves that to the store."""
        ...

    def set_index_parameters(self, parameters: IndexParameters) -> None:
        """Keep how the vector indexes are made from now on, in place of what was kept. :meth:`refresh` makes them anew
        where that takes other ones. Raises ConfigurationError for a parameter that this kind of store has not."""
        ...

    def refresh(self, progress: Progress | None = None) -> None:
        """Bring every derived index up to date with the written pages and vectors. Reads do it by themselves
        when they find an index stale; calling it after a load makes the cost visible."""
        ...

    def checker(self) -> StoreChecker:
        """What finds and repairs damage."""
        ...

    def close(self) -> None:
        """Let go of connections and files."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
