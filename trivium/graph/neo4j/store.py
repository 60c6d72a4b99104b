"""The graph store in a Neo4j database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from types import TracebackType
from typing import Self

from trivium.graph.filters import Condition
from trivium.graph.model import PageGraph, QuestionNode, RelationEdge
from trivium.graph.neo4j import keywords, pictures, reader, vectors, writer
from trivium.graph.neo4j.address import parse_address
from trivium.graph.neo4j.cache import StoreCache
from trivium.graph.neo4j.check import Neo4jChecker
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher.searching import Dialect
from trivium.graph.neo4j.indexes import (
    detect,
    discard_empty,
    ensure_vector_indexes,
    exists,
    prepare,
    recognise,
)
from trivium.graph.neo4j.memory import HeldView, LateView
from trivium.graph.neo4j.memory_keeper import MemoryKeeper
from trivium.graph.neo4j.pictures import put_picture_vectors
from trivium.graph.neo4j.projection import project
from trivium.graph.neo4j.questions import put_questions
from trivium.graph.neo4j.search import Searcher
from trivium.graph.neo4j.vectors import put_vectors
from trivium.graph.neo4j.within import Neo4jWithin
from trivium.graph.pictures import PictureVectors
from trivium.graph.protocols import SearchStore
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
    WaitingTexts,
    WriteReport,
)
from trivium.graph.schema import Hop, Label
from trivium.settings.index_parameters import IndexParameters
from trivium.settings.settings import load_settings
from trivium.types import EmbedderIdentity


class Neo4jStore:
    """A :class:`trivium.graph.protocols.GraphStore` in a database of a Neo4j server (5.26 or later).

    Other programs may have nodes in the same database: those of the store are known by their marks
    (:mod:`trivium.graph.neo4j.cypher.schema`). Any number of threads and processes may read; writes are
    serialised. Cached data (the walk's adjacency, requested vectors and words) is dropped when the graph changes. A
    change by another process is noticed within 0.05 seconds, and by every question asked after that. After a few
    questions the store is read into memory (:mod:`trivium.graph.neo4j.memory`) if it fits; until the next write,
    questions then ask the server only for its state.
    """

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        """Use :meth:`create` or :meth:`open`."""
        self._connection = connection
        self._cache = StoreCache()
        self._searcher = Searcher(connection, self._cache, dialect)
        self._memory = MemoryKeeper(connection, self._cache, load_settings().neo4j_memory << 20)

    remote = True

    # -- lifecycle -------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, address: str) -> Self:
        """Create an empty store in a database. Raises StoreError if there is one already."""
        connection = _connect(address)
        try:
            prepare(connection)
            return cls(connection, detect(connection))
        except BaseException:
            connection.close()
            raise

    @classmethod
    def open(cls, address: str) -> Self:
        """Open the store in a database. Raises StoreNotFoundError if there is none, StoreFormatError for one of another
        version.
        """
        connection = _connect(address)
        try:
            recognise(connection)
            return cls(connection, detect(connection))
        except BaseException:
            connection.close()
            raise

    @staticmethod
    def exists(address: str) -> bool:
        """Whether there is a store in the database. Raises StoreError if it cannot be reached."""
        with closing(_connect(address)) as connection:
            return exists(connection)

    @staticmethod
    def discard_empty(address: str) -> bool:
        """See :func:`trivium.graph.neo4j.indexes.discard_empty`."""
        with closing(_connect(address)) as connection:
            return discard_empty(connection)

    def close(self) -> None:
        """Close the connections. Values already returned remain valid."""
        self._memory.close()
        self._cache.clear()
        self._connection.close()
        self._memory.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- writing ---------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:
        with self._writing() as connection:
            return writer.write_pages(connection, pages, chunker)

    @property
    def chunker(self) -> str | None:
        return reader.chunker(self._connection)

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        with self._writing() as connection:
            writer.add_aliases(connection, aliases)

    def add_relations(self, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
        with self._writing() as connection:
            return writer.add_relations(connection, relations)

    def put_questions(self, questions: Mapping[str, Sequence[QuestionNode]]) -> int:
        with self._writing() as connection:
            return put_questions(connection, questions)

    def set_types(self, types: Mapping[str, str]) -> int:
        with self._writing() as connection:
            return writer.set_types(connection, types)

    def delete(self, pages: Sequence[str]) -> list[str]:
        with self._writing() as connection:
            return writer.delete_pages(connection, pages)

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        return reader.pages(self._connection, after, limit)

    def page_sources(self) -> list[tuple[str, str]]:
        return reader.page_sources(self._connection)

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]:
        return reader.find_pages(self._connection, uris)

    def pages_with_words(self, names: Sequence[str], *, source: str = "", mark: str = "") -> list[PageRecord]:
        return reader.pages_with_words(self._connection, names, source, mark)

    def pages_at(self, paths: Sequence[str]) -> list[PageRecord]:
        return reader.pages_at(self._connection, paths)

    def pages_of_files(self, names: Sequence[str]) -> list[PageRecord]:
        return reader.pages_of_files(self._connection, names)

    def unlinked_pages(self) -> list[str]:
        return reader.unlinked_pages(self._connection)

    def count_pages(self, after: str | None = None) -> int:
        return reader.count_pages(self._connection, after)

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        return reader.page_graphs(self._connection, uris)

    def types(self) -> dict[str, str]:
        return reader.types(self._connection)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Yield the connection for writing. Afterwards the state of the store is read again, even if writing failed."""
        try:
            yield self._connection
        finally:
            self._cache.forget_state()

    # -- embeddings ------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._cache.embedder(self._connection)

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        with self._writing() as connection:
            vectors.set_embedder(connection, identity)

    @property
    def fusion_decision(self) -> str | None:
        return reader.fusion_decision(self._connection)

    def set_fusion_decision(self, decision: str | None) -> None:
        with self._writing() as connection:
            writer.set_fusion_decision(connection, decision)

    @property
    def links_pending(self) -> bool:
        return reader.links_pending(self._connection)

    def set_links_pending(self, pending: bool) -> None:
        with self._writing() as connection:
            writer.set_links_pending(connection, pending)

    @property
    def languages(self) -> str | None:
        return self._cache.state(self._connection).languages

    def set_languages(self, languages: str | None) -> None:
        with self._writing() as connection:
            writer.set_languages(connection, languages)

    @property
    def index_parameters(self) -> IndexParameters:
        return reader.index_parameters(self._connection)

    def set_index_parameters(self, parameters: IndexParameters) -> None:
        if parameters != self.index_parameters:
            with self._writing() as connection:
                writer.set_index_parameters(connection, parameters)

    def pending_texts(self) -> Pending[str]:
        return vectors.pending_texts(self._connection)

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        with self._writing() as connection:
            put_vectors(connection, texts, vectors)

    def pending_sentences(self) -> Pending[Passage]:
        return vectors.pending_sentences(self._connection)

    def count_pending_sentences(self) -> int:
        return reader.count_pending_sentences(self._connection)

    def put_sentences(self, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
        with self._writing() as connection:
            vectors.put_sentences(connection, passages, codes)

    @property
    def image_embedder(self) -> EmbedderIdentity | None:
        return pictures.read_image_embedder(self._connection)

    def set_image_embedder(self, identity: EmbedderIdentity) -> None:
        with self._writing() as connection:
            pictures.set_image_embedder(connection, identity)

    def pending_pictures(self) -> list[str]:
        return pictures.pending_pictures(self._connection)

    def put_picture_vectors(self, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
        with self._writing() as connection:
            put_picture_vectors(connection, pictures, vectors)

    def refresh(self, progress: Progress | None = None) -> None:
        """Give relations the vectors of their types, create missing vector indexes and wait until all indexes are
        populated.
        """
        with self._writing() as connection:
            vectors.embed_relations(connection)
            ensure_vector_indexes(connection, progress)

    # -- checking ----------------------------------------------------------------------------------------------

    def checker(self) -> Neo4jChecker:
        self._cache.forget_state()
        return Neo4jChecker(self._connection)

    # -- reading ---------------------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """Where the store is, for display: a folder or an address."""
        return str(self._connection.address)

    def info(self) -> StoreInfo:
        return reader.info(self._connection, self._cache)

    def waiting_texts(self) -> WaitingTexts:
        return reader.waiting_texts(self._cache)

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        return self._searcher.nearest(labels, vector, k, exact=exact)

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
        return self._searcher.expand_nearest(labels, vector, nodes, hop, limit, exact=exact)

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        return keywords.keyword_search(self._connection, self._cache, terms, k)

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        return keywords.term_counts(self._connection, self._cache, chunks, terms)

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        return keywords.term_statistics(self._connection, self._cache, terms)

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        return self._searcher.similarities(vector, chunks)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        return vectors.vectors(self._connection, self._cache, label, uris)

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        return vectors.sentence_vectors(self._connection, self._cache, chunks)

    def picture_vectors(self) -> PictureVectors:
        return pictures.picture_vectors(self._connection, self._cache)

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        return vectors.relation_vectors(self._connection, self._cache, types)

    def relation_embeddings(self, relations: Sequence[RelationEdge]) -> Vectors:
        return vectors.relation_embeddings(self._connection, self._cache, relations)

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        return reader.relations(self._connection, entities)

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        return reader.outline(self._connection, pages)

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        return reader.expand(self._connection, uris, hop)

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return reader.cited(self._connection, chunks)

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return reader.cited_sections(self._connection, chunks)

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        return reader.fetch(self._connection, chunks)

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        return reader.thumbnails(self._connection, chunks)

    def page_text(self, page: str) -> str:
        return reader.page_text(self._connection, page)

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        return reader.resolve(self._connection, titles)

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        return reader.lookup_names(self._connection, names)

    def names_like(self, forms: Sequence[str]) -> Iterable[tuple[str, str]]:  # noqa: ARG002 - returns all
        return self.names()

    def aliases(self) -> list[str]:
        return reader.aliases(self._connection)

    def names(self) -> Iterator[tuple[str, str]]:
        return iter(reader.names(self._connection))

    def adjacency(self) -> Adjacency:
        return project(self._connection, self._cache)

    def chunk_uris(self) -> list[str]:
        return reader.chunk_uris(self._connection)

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        """Yield the store in memory if its current state is held there, else this one, since Neo4j has no snapshot
        transactions. A :class:`trivium.retrievers.query.Query` caches what must be consistent.

        The state is requested immediately and awaited at the first read, so that the question can be embedded
        meanwhile.
        """
        if not self._memory.there:
            self._memory.find(self._cache.state(self._connection, now=True))
            yield self
            return
        with self._cache.reading(self._connection) as state:

            def view() -> SearchStore:
                held = self._memory.find(state())
                return self if held is None else HeldView(self, held)

            yield LateView(view)

    def replicate(self) -> bool:
        """Read the data for questions into memory now, instead of after some questions. Returns false if it exceeds
        the setting ``neo4j_memory``, nothing is embedded, or the store is written to meanwhile.
        """
        return self._memory.load()

    def within(self, condition: Condition) -> Neo4jWithin:
        """See the protocol."""
        return Neo4jWithin(self, condition, self._connection, self._cache, self._searcher)


def _connect(address: str) -> Connection:
    return Connection(parse_address(address), timeout=load_settings().neo4j_timeout)
