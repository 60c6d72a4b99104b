"""The graph store in a folder."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from trivium.common.closing import Closing
from trivium.graph.arrays.chunk_details import ChunkDetails
from trivium.graph.arrays.filtered_search import ArrayWithin
from trivium.graph.arrays.search import ArrayReads
from trivium.graph.arrays.snapshot import IndexSnapshot
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import ChunkFacts
from trivium.graph.page_graph import PageGraph, RelationEdge
from trivium.graph.records import (
    PageRecord,
    Passage,
    Pending,
    Progress,
    StoreInfo,
    Vectors,
    WaitingTexts,
    WriteReport,
)
from trivium.graph.schema import Label
from trivium.graph.sqlite import answered_questions, pictures, read_pages, reader, vectors, writer
from trivium.graph.sqlite.connection import DATABASE, Connection, Database
from trivium.graph.sqlite.counts import counts, waiting_texts
from trivium.graph.sqlite.index_rows import SqliteRows
from trivium.graph.sqlite.load_index import Merger, load_snapshot
from trivium.graph.sqlite.names import named_in
from trivium.graph.sqlite.open_database import create_database, open_database, schema_version
from trivium.graph.sqlite.store_state import current_state, freeze, pin
from trivium.graph.stored_vectors import PictureVectors, relation_embeddings
from trivium.types import EmbedderIdentity

if TYPE_CHECKING:
    from trivium.graph.sqlite.check import EmbeddedChecker


P = ParamSpec("P")
R = TypeVar("R")


def method(
    function: Callable[Concatenate[Connection, P], R], *, writes: bool = False
) -> Callable[Concatenate[EmbeddedStore, P], R]:
    """Make a method of a function that reads from the database by one statement, or that ``writes`` to it, in one
    transaction.
    """

    @wraps(function)
    def on_the_database(self: EmbeddedStore, /, *args: P.args, **options: P.kwargs) -> R:
        with self._database.writing() if writes else self._database.reading() as connection:
            return function(connection, *args, **options)

    return on_the_database


class EmbeddedStore(ArrayReads, Closing):
    """A :class:`trivium.graph.protocols.GraphStore` on the local machine.

    The folder contains ``graph.db`` (SQLite, the source of truth) and ``index/`` (derived, may be deleted at any
    time). Any number of threads and processes may read; one process writes at a time, and readers continue to see the
    last committed state. Every read uses the indexes of the committed state and updates them when they are stale;
    call :meth:`refresh` after a load to do this once in advance.

    Returned mappings have every node asked for as a key, with an empty list for unknown ones, except that
    :meth:`resolve` and :meth:`lookup_names` skip unknown ones. Labels with 65,536 vectors or more
    have an approximate index, which misses one of a hundred of the nearest unless ``exact`` is asked for. Below that
    all vectors are compared.
    """

    def __init__(self, database: Database) -> None:
        """Use :meth:`create` or :meth:`open`."""
        self._database = database
        self._indexes: IndexSnapshot | None = None
        self._loading = threading.Lock()
        self._merger = Merger(database.folder)

    remote = False

    # -- lifecycle -------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | PathLike[str]) -> Self:
        """Create an empty store in a new or empty folder. Raises StoreError if the folder is not empty."""
        return cls(create_database(Path(path)))

    @classmethod
    def open(cls, path: str | PathLike[str], *, read_only: bool = False) -> Self:
        """Open the store in a folder.

        ``read_only`` refuses every change to the graph; derived files are still updated. Raises StoreNotFoundError, and
        StoreFormatError for a store of another schema version, a damaged store, or a file that is not a store.
        """
        return cls(open_database(Path(path), read_only=read_only))

    @staticmethod
    def exists(path: str | PathLike[str]) -> bool:
        """Whether a folder contains a store, which :meth:`open` may still refuse."""
        return (Path(path) / DATABASE).is_file()

    @staticmethod
    def discard_empty(path: str | PathLike[str], *, with_folder: bool) -> bool:
        """Remove the store in a folder, and optionally the folder, unless it contains a page. Return whether it was
        removed.

        Other processes that have it open can no longer write to it and get an error. Raises StoreError.
        """
        folder = Path(path)
        database = open_database(folder, read_only=False)
        try:
            with database.writing() as connection:  # excludes other writers
                if connection.execute("SELECT EXISTS (SELECT 1 FROM page)").fetchone() != (0,):
                    return False
                (folder / DATABASE).unlink()
        finally:
            database.close()
        for path in folder.iterdir():  # the folder was new or empty, so everything in it belongs to the store
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if with_folder:
            with suppress(OSError):
                folder.rmdir()
        return True

    def close(self) -> None:
        """Close connections and memory maps. Values already returned remain valid."""
        self._merger.end()
        self._indexes = None
        self._database.close()

    # -- writing ---------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:
        with self._database.writing() as connection:
            if chunker is not None:
                writer.claim_chunker(connection, chunker)
            return writer.write_pages(connection, pages)

    chunker = property(method(reader.chunker))
    add_aliases = method(writer.add_aliases, writes=True)
    add_relations = method(writer.add_relations, writes=True)
    put_questions = method(answered_questions.put_questions, writes=True)
    set_types = method(writer.set_types, writes=True)
    delete = method(writer.delete_pages, writes=True)
    pages = method(reader.pages)
    find_pages = method(reader.find_pages)
    pages_at = method(reader.pages_at)
    pages_of_files = method(reader.pages_of_files)
    unlinked_pages = method(reader.unlinked_pages)
    count_pages = method(reader.count_pages)

    def pages_with_words(self, names: Sequence[str], *, source: str = "", mark: str = "") -> list[PageRecord]:
        with self._database.reading_one_state() as connection:
            return reader.pages_with_words(connection, names, source=source, mark=mark)

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        """See the protocol. Named pages come in the order asked. Aliases are sorted and include claimed ones that
        another page holds; relations are sorted by source, type and target, with titles as written. All pages come
        from the state committed when the first one is read; one page is in memory at a time.
        """
        with self._database.reading_one_state() as connection:
            yield from read_pages.page_graphs(connection, uris)

    types = method(reader.read_types)

    def named_in(self, names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        with self._database.reading_one_state() as connection:
            yield from named_in(connection, names)

    # -- embeddings ------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._once(lambda state: state.embedder, vectors.read_embedder)

    @property
    def entities(self) -> str | None:
        return self._once(lambda state: state.recogniser, reader.entities)

    def _once(self, known_by: Callable[[IndexSnapshot], list[R]], read: Callable[[Connection], R]) -> R:
        """Return what is read, once for all questions to the same state."""
        known = known_by(self._current()) if self._database.fixed else []
        if not known:
            with self._database.reading() as connection:
                known.append(read(connection))
        return known[0]

    set_embedder = method(vectors.claim, writes=True)
    fusion_decision = property(method(reader.fusion_decision))
    set_fusion_decision = method(writer.set_fusion_decision, writes=True)
    links_pending = property(method(reader.links_pending))
    set_links_pending = method(writer.set_links_pending, writes=True)
    set_entities = method(writer.set_entities, writes=True)
    languages = property(method(reader.languages))
    set_languages = method(writer.set_languages, writes=True)

    def pending_texts(self) -> Pending[str]:
        return vectors.pending_texts(self._database)

    put_vectors = method(vectors.put_vectors, writes=True)

    def pending_sentences(self) -> Pending[Passage]:
        return vectors.pending_sentences(self._database)

    count_pending_sentences = method(reader.count_pending_sentences)
    put_sentences = method(vectors.put_sentences, writes=True)
    image_embedder = property(method(pictures.read_image_embedder))
    set_image_embedder = method(pictures.claim_pictures, writes=True)
    pending_pictures = method(pictures.pending_pictures)
    put_picture_vectors = method(pictures.put_picture_vectors, writes=True)

    def refresh(self, progress: Progress | None = None) -> None:
        indexes = self._current(progress)
        self._database.release_write_cache()
        if not self._database.read_only:
            self._merger.look(indexes)

    # -- pinned states ---------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """The name of the committed state, which differs after every change."""
        with self._database.reading() as connection:
            return current_state(connection)

    def frozen(self, readers: int) -> Self:
        """Return a read-only view of the store as it is now, with up-to-date indexes. It does not see later commits
        of this or other processes. Up to ``readers`` threads can read concurrently, others wait. Close it after use:
        until then SQLite cannot truncate its write-ahead log.
        """
        indexes, database = freeze(self._current, self._database, readers)
        store = type(self)(database)
        store._indexes = indexes
        return store

    @contextmanager
    def pinned(self) -> Iterator[EmbeddedStore]:
        """See the protocol. Threads read from it one at a time."""
        if self._database.fixed:
            yield self
            return
        with pin(self._current, self._database) as (indexes, database):
            store = type(self)(database)
            store._indexes = indexes
            yield store

    def within(self, condition: Condition) -> ArrayWithin:
        """See the protocol."""
        return ArrayWithin(self, condition, self._current, self._facts)

    def _facts(self, indexes: IndexSnapshot) -> ChunkFacts | None:
        """Return the values that conditions test, read at once; None if the store has changed since its indexes were
        built.
        """
        if not indexes.facts:
            with self._database.reading_one_state() as connection:
                if current_state(connection) != indexes.key:
                    return None
                pages = reader.pages(connection, None, None)
                chunks = indexes.topology.nodes[Label.CHUNK]
                if not indexes.details:
                    indexes.details.append(ChunkDetails.of(chunks, SqliteRows(connection).details()))
            details = indexes.details[0]
            # Rows of pages are in uri order, as the records are.
            facts = ChunkFacts(
                chunks.uris, lambda: pages, lambda: (details.kinds, details.pages), indexes.topology.page
            )
            indexes.facts.append(facts)
        return indexes.facts[0]

    # -- reading ---------------------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """Where the store is, for display: a folder or an address."""
        return str(self._database.folder)

    def info(self) -> StoreInfo:
        known = self._current().info if self._database.fixed else []
        if not known:
            with self._database.reading_one_state() as connection:
                info = StoreInfo(
                    location=self.location,
                    schema_version=schema_version(connection),
                    embedder=vectors.read_embedder(connection),
                    chunker=reader.chunker(connection),
                    **counts(connection),
                )
            known.append(info)
        return known[0]

    def waiting_texts(self) -> WaitingTexts:
        known = self._current().waiting
        if not known:
            with self._database.reading() as connection:
                known.append(waiting_texts(connection))
        return known[0]

    def picture_vectors(self) -> PictureVectors:
        indexes = self._current()
        if indexes.pictures:
            return indexes.pictures[0]
        with self._database.reading_one_state() as connection:
            found = pictures.picture_vectors(connection)
            if current_state(connection) == indexes.key:
                indexes.pictures.append(found)
        return found

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        if not self._database.fixed:  # the cache belongs to one state
            with self._database.reading() as connection:
                return vectors.relation_vectors(connection, types)
        known = self._current().types
        found = known.find(None, types)
        new = [name for name in dict.fromkeys(types) if name not in found]
        if new:
            with self._database.reading() as connection:
                read = dict(zip(new, vectors.relation_vectors(connection, new), strict=True))
            known.put(None, read)
            found |= read
        return np.array([found[name] for name in types], dtype=np.float32).reshape(len(types), -1)

    def relation_embeddings(self, relations: Sequence[RelationEdge]) -> Vectors:
        return relation_embeddings(self, relations)

    relations = method(reader.relations)
    cited_sections = method(reader.cited_sections)
    fetch = method(reader.fetch)
    thumbnails = method(pictures.thumbnails)
    page_text = method(reader.page_text)
    resolve = method(reader.resolve)
    lookup_names = method(reader.lookup_names)
    names_like = method(reader.names_like)
    aliases = method(reader.aliases)
    names = method(reader.names)
    chunk_uris = method(reader.chunk_uris)

    # -- checking ----------------------------------------------------------------------------------------------

    def checker(self) -> EmbeddedChecker:
        from trivium.graph.sqlite.check import EmbeddedChecker

        return EmbeddedChecker(self._database, self._forget_indexes)

    # -- the derived data ------------------------------------------------------------------------------------

    def _current(self, progress: Progress | None = None) -> IndexSnapshot:
        """Return the indexes of the committed state, whichever process wrote it."""
        indexes = self._indexes
        if indexes is not None and self._database.fixed:
            return indexes
        with self._database.reading() as connection:
            key = current_state(connection)
        indexes = self._indexes
        if indexes is None or indexes.key != key:
            with self._loading:
                indexes = self._indexes
                if indexes is None or indexes.key != key:
                    indexes = self._indexes = load_snapshot(self._database, progress, indexes)
        return indexes

    def _forget_indexes(self) -> None:
        self._indexes = None
