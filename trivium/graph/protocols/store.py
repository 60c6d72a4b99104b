"""What else a store does: whole pages, writing, checking; see :mod:`trivium.graph.protocols`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

from trivium.graph.check_findings import Finding
from trivium.graph.page_graph import PageGraph, QuestionNode, RelationEdge
from trivium.graph.protocols.search import SearchStore
from trivium.graph.records import (
    Codes,
    PageRecord,
    Passage,
    Pending,
    Progress,
    StoreInfo,
    Vectors,
    WriteReport,
)
from trivium.types import EmbedderIdentity


class PageReader(Protocol):
    """Lists, copies and counts whole pages."""

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        """Return pages sorted by uri: all, or at most ``limit`` with a uri greater than ``after``, by code points."""
        ...

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]:
        """Return pages by uri, in the order asked. Uris that are not pages are skipped, including aliases; see
        :meth:`GraphReader.resolve`.
        """
        ...

    def pages_with_words(self, names: Sequence[str], *, source: str = "", mark: str = "") -> list[PageRecord]:
        """Return pages, sorted by uri, that may mention one of the ``names``, which are normalised
        (:func:`trivium.parser.gazetteer.is_name`): at least those whose text has all words of a name, as
        :func:`trivium.parser.gazetteer.distinct_words` splits it, and perhaps others. Only pages whose source begins
        with ``source`` and whose content hash contains ``mark``.
        """
        ...

    def pages_at(self, paths: Sequence[str]) -> list[PageRecord]:
        """Return pages, sorted by uri, that are displayed under one of the paths. Empty paths are skipped."""
        ...

    def pages_of_files(self, names: Sequence[str]) -> list[PageRecord]:
        """Return pages, sorted by uri, whose source is a file with one of these names, in any folder: what follows the
        last slash of the source, slashes at its end aside. Empty names are skipped.
        """
        ...

    def unlinked_pages(self) -> list[str]:
        """Return the sorted uris of pages whose mentions are still to be linked (:mod:`trivium.index.link_mentions`):
        their content hash ends with a dot.
        """
        ...

    @property
    def links_pending(self) -> bool:
        """Whether names were added or removed and pages have not been searched for them yet, because a load was
        interrupted or is running.
        """
        ...

    def count_pages(self) -> int:
        """Return the number of pages."""
        ...

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        """Iterate over pages in a form that can be written to another store, with all their current relations and
        aliases: all pages sorted by uri, or the named ones (unknown ones are skipped).
        """
        ...

    def named_in(self, names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """Iterate over (name, chunk, kind) of every place where a chunk has one of the ``names`` (uris) among its
        :attr:`~trivium.graph.page_graph.ChunkNode.names`, by name, chunk and kind.
        """
        ...

    def types(self, entities: Sequence[str] | None = None) -> dict[str, str]:
        """Map entity uris to types, sorted by uri, for every entity with a type, or those of ``entities``."""
        ...

    def info(self) -> StoreInfo:
        """Return identity and counts of the store."""
        ...


class GraphWriter(Protocol):
    """Loads and removes pages, relations and types."""

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:
        """Load pages in one transaction.

        A stored page with the same content hash is left unchanged, one with another hash is replaced as a whole, and
        a page with a lower revision than the stored one is skipped. In each case the aliases it brings are added to
        the known ones. An interrupted call leaves the store unchanged. ``chunker`` is what split the pages, in the
        form of :mod:`trivium.chunking.chunker_spec`: a store without pages records it in the same transaction, one with
        pages raises ChunkerMismatchError when it differs. With None it is neither recorded nor checked.
        """
        ...

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        """Add uris that resolve to stored pages. Aliases accumulate (a page's own copy does not list its redirects)
        and are removed with their page.
        """
        ...

    def add_relations(self, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
        """Add relations stated by pages (by uri), such as those from DBpedia. Relations of unknown pages are skipped.
        They are removed when the page is replaced or removed. Returns the number of relations that were new.
        """
        ...

    def put_questions(self, questions: Mapping[str, Sequence[QuestionNode]]) -> int:
        """Record which questions the chunks of pages (by uri) answer, in one transaction.

        The answers given for a question on a page replace earlier ones. Unknown chunks and pages are skipped. A
        question is removed when no chunk answers it any more, that is with the last page that answered it. Returns
        the number of questions that changed. Questions are not searched, so indexes are unaffected.
        """
        ...

    def set_types(self, types: Mapping[str, str]) -> int:
        """Set the types of entities (uri -> readable type, empty for none). The type is part of the text that is
        embedded (:func:`trivium.graph.schema.entity_text`). Unknown entities are skipped; a type is removed with its
        entity. Returns the number of changed types.
        """
        ...

    def delete(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by uri or alias. Returns the uris removed. Pages that are still cited remain as entities."""
        ...


class VectorWriter(Protocol):
    """Lists texts without vectors, and stores vectors."""

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """The embedder the store was built with; None before the first embedding."""
        ...

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        """Assign an empty store to an embedder. Raises EmbedderMismatchError if it was built with another one."""
        ...

    def pending_texts(self) -> Pending[str]:
        """Return the distinct texts without a vector: of chunks by page and position, pages by uri, sections by page
        and position, entities by uri, and relation types.
        """
        ...

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Store vectors (n, d), unit length, of texts in one transaction. Texts without a node are skipped."""
        ...

    def pending_sentences(self) -> Pending[Passage]:
        """Return the distinct passages not yet passed to :meth:`put_sentences`, ordered by page and position."""
        ...

    def count_pending_sentences(self) -> int:
        """Return the number of :meth:`pending_sentences`. Reads what waits, nothing else, except in Neo4j."""
        ...

    def put_sentences(self, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
        """Store the vectors of the sentences (m, d) of each passage, replacing earlier ones. m is 0 for passages
        whose sentences would add nothing to the passage's own vector. Passages without a chunk are skipped.
        """
        ...


class PictureWriter(Protocol):
    """Lists pictures without vectors, and stores vectors. Pictures are the thumbnails of chunks; their vectors are
    removed when the page is replaced or removed.
    """

    def set_image_embedder(self, identity: EmbedderIdentity) -> None:
        """Assign the pictures to an image embedder. Raises EmbedderMismatchError if there are vectors of another one."""
        ...

    def pending_pictures(self) -> list[str]:
        """Return the chunks that have a thumbnail without a vector, sorted by uri."""
        ...

    def put_picture_vectors(self, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
        """Store vectors (n, d), unit length, of thumbnails by chunk, in one transaction. Chunks whose thumbnail has
        changed meanwhile are skipped. Raises StoreError before :meth:`set_image_embedder`.
        """
        ...


class StoreChecker(Protocol):
    """Finds damage specific to this kind of store, and repairs what can be repaired."""

    def check(self, progress: Progress | None = None) -> list[Finding]:
        """Return the problems found in the store's data, without changing anything. ``progress`` counts the steps."""
        ...

    def repair(self, findings: Sequence[Finding]) -> None:
        """Repair the problems of these findings where possible. Damaged pages are marked: the next load of such a
        page replaces it regardless of its revision. Raises StoreError.
        """
        ...

    def page_digests(self) -> dict[str, str]:
        """Map page uris to the :func:`~trivium.graph.page_facts.page_digest` recorded when they were written."""
        ...

    def drop_vectors(self, texts: Sequence[str]) -> None:
        """Remove the vectors of these texts, and those of their sentences: they become pending again."""
        ...


class GraphStore(SearchStore, PageReader, GraphWriter, VectorWriter, PictureWriter, Protocol):
    """A complete graph store. Open one with :func:`trivium.graph.open_store.open_store`."""

    @property
    def chunker(self) -> str | None:
        """What split the stored pages into chunks; None if there are no pages."""
        ...

    @property
    def fusion_decision(self) -> str | None:
        """The serialised decision on the default fusion of this store; None if there is none."""
        ...

    def set_fusion_decision(self, decision: str | None) -> None:
        """Replace or remove the decision on the default fusion. The graph does not change."""
        ...

    def set_links_pending(self, pending: bool) -> None:
        """Record whether the pages still have to be searched for names that were added or removed. The graph does not
        change.
        """
        ...

    def set_entities(self, recogniser: str | None) -> None:
        """Record what recognises names. The graph does not change."""
        ...

    def set_languages(self, languages: str | None) -> None:
        """Replace the recorded languages of the documents. The graph does not change."""
        ...

    def relation_embeddings(self, relations: Sequence[RelationEdge]) -> Vectors:
        """Return embeddings (n, d) of relations, stated or mirrored, given by the uris of their ends.

        A relation has the embedding of its type, a mirrored one that of the relation it mirrors. Rows are NaN for
        relations that do not exist or are not embedded yet. In Neo4j they are complete after :meth:`refresh`.
        """
        ...

    def refresh(self, progress: Progress | None = None) -> None:
        """Bring every derived index up to date with the stored pages and vectors. Reads do this themselves when an
        index is stale; calling it after a load makes the cost explicit.
        """
        ...

    def checker(self) -> StoreChecker:
        """Return the checker of this store."""
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
