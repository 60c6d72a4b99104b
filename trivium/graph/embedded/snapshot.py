"""The indexes of one committed state, in a folder that is either complete or absent.

A snapshot is built under a temporary name and renamed once it is on disk, so that incomplete files are never used.
Files never change, so those still valid are hard-linked from the previous snapshot.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Container, Hashable, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from trivium.common.beside import available_cores
from trivium.common.cache import LruCache
from trivium.errors import StoreError, TriviumError
from trivium.graph.allowed import Allowed
from trivium.graph.arrays import Rows, distinct
from trivium.graph.embedded.building import Going, building, is_built
from trivium.graph.embedded.changes import read_changes
from trivium.graph.embedded.chunk_details import ChunkDetails
from trivium.graph.embedded.connection import Connection, Database, damaged, is_damaged
from trivium.graph.embedded.files import check_open_files, is_full, read_manifest, write_manifest
from trivium.graph.embedded.keyword_index import (
    ForwardIndex,
    KeywordIndex,
    build_forward_index,
    build_keyword_index,
    is_panic,
    load_forward_index,
)
from trivium.graph.embedded.label_vectors import (
    LabelVectors,
    VectorFiles,
    build_vectors,
    embedded_rows,
    load_vectors,
)
from trivium.graph.embedded.patch import count_new, patch_topology
from trivium.graph.embedded.reader import index_parameters
from trivium.graph.embedded.sentence_column import SentenceColumn, build_sentences, load_sentences
from trivium.graph.embedded.states import current_state, state_number, was_state
from trivium.graph.embedded.topology import Topology, build_topology, load_ids, load_topology
from trivium.graph.embedded.vectors import Matrix, build_matrix, load_matrix, read_embedder
from trivium.graph.filter_values import ChunkFacts
from trivium.graph.filters import Condition
from trivium.graph.pictures import PictureVectors
from trivium.graph.records import Floats, Progress, Vectors, WaitingTexts
from trivium.graph.schema import Label
from trivium.index_parameters import IndexParameters
from trivium.types import EmbedderIdentity

INDEX = "index"
FORMAT = 6
"""Raise this when the meaning of an index file changes. Files of other formats are rebuilt."""
_LACKING = (3, 4, 5)
"""Formats that have vectors of labels in other files but are otherwise valid. New snapshots may be based on them."""
MOST_PATCHED = 0.02
"""Share of changed nodes up to which changes are applied in memory, on top of the files of an earlier state."""
MOST_WHILE_BUILDING = 0.06
"""The same while another build is running, so that nobody has to wait for it."""
_SEARCHES = 32
AHEAD = 512
"""Vector searches that are done ahead of their questions, at most: those of a group of questions of a batch."""
_PREFIX = "generation-"

_log = logging.getLogger(__name__)

_CONDITIONS = 16
_TYPES = 4096

_elsewhere: dict[Path, TemporaryDirectory[str]] = {}
"""Where this process keeps the indexes of stores that it cannot write to, until it ends."""
_choosing = threading.Lock()


class VectorSearch(NamedTuple):
    """The bytes of the question's vector, and for what is searched: label, whether exact, number of neighbours, and the
    key of the limit on the nodes, None without a condition.
    """

    question: bytes
    label: Label
    exact: bool
    neighbours: int
    limit: Hashable


@dataclass(frozen=True, slots=True)
class Base:
    """The files underlying a snapshot, of the state ``key``, and the later changes in memory. ``last_chunk`` is the
    highest chunk number in the files; ``changes`` is the number of rows added, removed or changed.
    """

    key: str
    last_chunk: int
    changes: int = 0


@dataclass(frozen=True)
class IndexSnapshot:
    """The open indexes of the committed state ``key``. Vectors are memory-mapped. Thread-safe."""

    key: str
    dimension: int
    topology: Topology
    matrix: Matrix
    sentences: SentenceColumn
    keywords: KeywordIndex
    terms: ForwardIndex
    base: Base
    parameters: IndexParameters = field(default_factory=IndexParameters)
    """The parameters with which the vector indexes were built and are searched."""
    _embedded: dict[Label, Rows] = field(default_factory=dict, repr=False)
    _embedded_vectors: dict[Label, Rows] = field(default_factory=dict, repr=False)
    stored: Mapping[Label, VectorFiles] = field(default_factory=dict, repr=False)
    """The vectors of labels in the files of ``base``."""
    _vectors: dict[Label, LabelVectors] = field(default_factory=dict, repr=False)
    searches: LruCache[VectorSearch, tuple[Rows, Floats]] = field(
        default_factory=lambda: LruCache(_SEARCHES), repr=False
    )
    """Cache of vector searches: rows in order, and their cosines. Several retrievers ask for the same."""
    ahead: LruCache[VectorSearch, tuple[Rows, Floats]] = field(
        default_factory=lambda: LruCache(AHEAD), repr=False
    )
    """The same for questions of a batch that come next."""

    conditions: LruCache[Condition, Allowed] = field(
        default_factory=lambda: LruCache(_CONDITIONS), repr=False
    )
    """Cache of conditions and the chunks that match them."""
    limits: LruCache[Hashable, Any] = field(default_factory=lambda: LruCache(4 * _CONDITIONS), repr=False)
    """Cache, per label, of the nodes that lead to matching chunks."""
    facts: list[ChunkFacts] = field(default_factory=list, repr=False)
    """The values that conditions test, once loaded."""
    details: list[ChunkDetails] = field(default_factory=list, repr=False)
    """Those of them that belong to chunks, once loaded. Unlike pages, chunks never change under their number."""
    pictures: list[PictureVectors] = field(default_factory=list, repr=False)
    """The vectors of pictures, once loaded."""
    waiting: list[WaitingTexts] = field(default_factory=list, repr=False)
    """How many texts wait to be embedded, once read."""
    embedder: list[EmbedderIdentity | None] = field(default_factory=list, repr=False)
    """The embedder of the store, once read."""
    types: LruCache[str, Vectors] = field(default_factory=lambda: LruCache(_TYPES), repr=False)
    """Cache of the vectors (d,) of relation types."""

    @property
    def size(self) -> int:
        """Number of nodes."""
        return sum(len(nodes.ids) for nodes in self.topology.nodes.values())

    def embedded_rows(self, label: Label) -> Rows:
        """Return the rows of a label's nodes with a vector, in the order of their vectors in the matrix."""
        if label not in self._embedded:
            self._embedded[label] = embedded_rows(self.topology.nodes[label])
        return self._embedded[label]

    def embedded_vectors(self, label: Label) -> Rows:
        """Return the rows of the matrix of ``embedded_rows(label)``, ascending."""
        if label not in self._embedded_vectors:
            self._embedded_vectors[label] = self.topology.nodes[label].vector[self.embedded_rows(label)]
        return self._embedded_vectors[label]

    def scans(self, label: Label) -> bool:
        """Whether all vectors of a label are compared: if the files have no index of it, however many have come or gone
        since they were made.
        """
        return label not in self.stored or self.stored[label].index is None

    def vectors(self, label: Label) -> LabelVectors:
        """Return the vectors of ``embedded_rows(label)``."""
        if label not in self._vectors:
            stored = self.stored.get(label)
            none = np.empty(0, dtype=np.int64)
            begun = LabelVectors.of(self.matrix, none, None) if stored is None else stored.opened(self.matrix)
            self._vectors[label] = begun.now(self.matrix, self.vector_rows(label))
        return self._vectors[label]

    def vector_rows(self, label: Label) -> Rows:
        """Return the rows of the matrix that a label's nodes have, ascending and distinct."""
        return distinct(self.topology.nodes[label].vector, len(self.matrix.vectors))

    def added_chunks(self) -> Rows:
        """Return the rows of chunks that the keyword index does not contain, ordered by number."""
        nodes = self.topology.nodes[Label.CHUNK]
        return nodes.by_id[np.searchsorted(nodes.rising, self.base.last_chunk, side="right") :]


def load_snapshot(
    database: Database, progress: Progress | None = None, known: IndexSnapshot | None = None
) -> IndexSnapshot:
    """Return the indexes of the committed state, first building any that are missing, stale or damaged.

    After a few changes they are instead updated in memory, from ``known`` or from the latest files. Raises
    StoreBusyError if another process is stuck building them.
    """
    index = database.folder / INDEX
    with database.reading() as connection:
        key = current_state(connection)
    found = _open(index / f"{_PREFIX}{key}", key)
    if found is not None:
        return found
    with database.reading_one_state() as connection:
        found = _patched(connection, index, known)
    return build_snapshot(database, progress) if found is None else found


def build_snapshot(database: Database, progress: Progress | None = None) -> IndexSnapshot:
    """Return the indexes of the committed state from their own files, building these if necessary. Raises
    StoreBusyError if another process is stuck building them.
    """
    index = _writable_folder(database.folder)
    try:
        index.mkdir(exist_ok=True)
        with building(index) as going, database.reading_one_state() as connection:
            key = current_state(connection)
            folder = index / f"{_PREFIX}{key}"
            found = _open(folder, key)
            if found is None:
                if not _holds(folder):
                    shutil.rmtree(folder, ignore_errors=True)
                _build(connection, database.folder, index, key, _Counter(progress, going))
                found = _open(folder, key)
    except OSError as error:
        check_open_files(error)
        raise StoreError(
            f"the indexes below {index} cannot be written ({error}); free space there or make it writable"
        ) from error
    if found is None:
        raise StoreError(f"the indexes below {index} were changed while they were built; try again")
    return found


def _writable_folder(store: Path) -> Path:
    """Return where to build the indexes of a store: in it, or in a temporary folder if it is read-only."""
    index = store / INDEX
    if os.access(index if index.exists() else store, os.W_OK):
        return index
    with _choosing:
        if index not in _elsewhere:
            _elsewhere[index] = TemporaryDirectory(prefix="trivium-index-", ignore_cleanup_errors=True)
            _log.warning(
                "the store at %s is read-only: its indexes are built in a temporary folder, by each process anew;"
                " to save that time, search it once where it can be written",
                store,
            )
        return Path(_elsewhere[index].name)


def _patched(connection: Connection, index: Path, known: IndexSnapshot | None) -> IndexSnapshot | None:
    """Return the indexes of the state that the connection sees, updated in memory. None if too much has changed."""
    for folder in _folders(connection, index):
        if known is not None and state_number(_key(folder)) <= state_number(known.base.key):
            break
        known = _open(folder, _key(folder)) or known
    if known is None:
        return None
    try:
        return _patch(connection, known, index)
    except (OSError, sqlite3.Error, TriviumError):
        raise
    except Exception as error:  # caused by a damaged file: rebuild
        _log.warning(
            "the indexes of %s cannot be brought up to date (%s: %s)", index, type(error).__name__, error
        )
        return None


def _patch(connection: Connection, old: IndexSnapshot, index: Path) -> IndexSnapshot | None:
    embedder = read_embedder(connection)
    dimension = 0 if embedder is None else embedder.dimension
    if dimension != old.dimension or index_parameters(connection) != old.parameters:
        return None
    most = int(MOST_WHILE_BUILDING * old.size) - old.base.changes
    changes = read_changes(connection, old.key, most)
    if changes is None:
        return None
    count = len(changes) + count_new(connection, old.topology, old.matrix)
    if count > most or (old.base.changes + count > MOST_PATCHED * old.size and not is_built(index)):
        return None
    new = patch_topology(connection, old.topology, old.matrix, changes, dimension)
    chunks = new.topology.nodes[Label.CHUNK]
    snapshot = IndexSnapshot(
        key=current_state(connection),
        dimension=dimension,
        topology=new.topology,
        matrix=new.matrix,
        sentences=old.sentences.patched(connection, new.moves, chunks, new.texts, dimension),
        keywords=old.keywords,
        terms=old.terms.patched(new.moves, new.topology.terms, new.terms),
        base=Base(
            old.base.key,
            old.base.last_chunk,
            old.base.changes + count,
        ),
        parameters=old.parameters,
        stored=old.stored,
        details=[
            known.patched(connection, new.moves, chunks, old.topology.nodes[Label.CHUNK].highest)
            for known in old.details
        ],
    )
    for label, vectors in list(old._vectors.items()):  # others may ask about another label meanwhile
        snapshot._vectors[label] = vectors.now(snapshot.matrix, snapshot.vector_rows(label))
    return snapshot


def _build(connection: Connection, store: Path, index: Path, key: str, counter: _Counter) -> None:
    previous = _previous(connection, index)
    while True:
        try:
            _build_from(previous, connection, index, key, counter)
            return
        except (OSError, sqlite3.Error, TriviumError):
            raise
        except BaseException as error:  # any error a library raises for an unreadable or unwritable file
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            check_open_files(error)
            if not is_full(index) and is_damaged(store):
                raise damaged(store, error) from error
            if previous is None or is_full(index):
                raise OSError(f"{type(error).__name__}: {error}") from error
            _warn(previous, error)
            shutil.rmtree(previous, ignore_errors=True)
            previous = None


def _build_from(
    previous: Path | None, connection: Connection, index: Path, key: str, counter: _Counter
) -> None:
    folder = index / f"building-{key}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    embedder = read_embedder(connection)
    dimension = 0 if embedder is None else embedder.dimension
    matrix_ids = build_matrix(connection, folder, previous, dimension)
    counter.going()
    build_topology(connection, folder, matrix_ids)
    counter.going()
    topology, matrix = load_topology(folder), load_matrix(folder)
    build_sentences(connection, folder, previous, topology.nodes[Label.CHUNK], dimension)
    counter.going()
    parameters = index_parameters(connection)
    kept = previous if previous is not None and _made_alike(previous, parameters) else None
    plans = []
    for label, nodes in topology.nodes.items():
        plan = build_vectors(folder, label, nodes, matrix, kept, parameters)
        if plan is not None:
            plans.append(plan)
        counter.going()
    chunk_ids = topology.nodes[Label.CHUNK].ids
    old_ids = np.empty(0, dtype=np.int64) if previous is None else load_ids(previous, Label.CHUNK)
    counter.begin(
        int(np.count_nonzero(chunk_ids > old_ids.max(initial=0))) + sum(len(plan.add) for plan in plans)
    )
    # Each index is built by a single thread, so that it is reproducible. The largest one starts first.
    plans.sort(key=lambda plan: -len(plan.add))
    threads = ThreadPoolExecutor(available_cores(), thread_name_prefix="index")
    try:
        made = [threads.submit(plan.apply, folder, matrix, counter.step) for plan in plans]
        build_keyword_index(connection, folder, previous, chunk_ids, old_ids, counter.step)
        build_forward_index(
            connection, folder, previous, topology.nodes[Label.CHUNK], topology.terms, old_ids
        )
        for ended in as_completed(made):
            ended.result()
    except BaseException:
        counter.stop()
        raise
    finally:
        threads.shutdown(cancel_futures=True)
    write_manifest(folder, {"format": FORMAT, "index": parameters.chosen})
    # of an earlier format that this one was based on
    shutil.rmtree(index / f"{_PREFIX}{key}", ignore_errors=True)
    folder.rename(index / f"{_PREFIX}{key}")
    for path in index.iterdir():
        if path.is_dir() and path.name != f"{_PREFIX}{key}":
            shutil.rmtree(path, ignore_errors=True)


class _Counter:
    """Adds up the steps of several threads and reports them, to the caller and to other processes."""

    def __init__(self, progress: Progress | None, going: Going) -> None:
        self.going = going
        self._progress = progress
        self._done = self._total = 0
        self._lock = threading.Lock()
        self._stopped = False

    def begin(self, total: int) -> None:
        self._done, self._total, self._stopped = 0, total, False
        self.going()

    def step(self, count: int) -> None:
        """Raises CancelledError if the build was stopped."""
        with self._lock:
            if self._stopped:
                raise CancelledError
            self._done += count
            self.going()
            if self._progress is not None:
                self._progress(self._done, self._total)

    def stop(self) -> None:
        """Make all threads end at their next step."""
        self._stopped = True


def _open(folder: Path, key: str) -> IndexSnapshot | None:
    """Open the snapshot in a folder; None if it is incomplete."""
    facts = _facts(folder, (FORMAT,))
    if facts is None:
        return None
    try:
        matrix = load_matrix(folder)
        dimension = matrix.dimension
        parameters = _parameters(facts)
        vectors = {label: load_vectors(folder, label, dimension, parameters) for label in Label}
        topology = load_topology(folder)
        return IndexSnapshot(
            key=key,
            dimension=dimension,
            topology=topology,
            matrix=matrix,
            sentences=load_sentences(folder),
            keywords=KeywordIndex(folder),
            terms=load_forward_index(folder, topology.terms),
            base=Base(key, topology.nodes[Label.CHUNK].highest),
            parameters=parameters,
            stored={label: found for label, found in vectors.items() if found is not None},
        )
    except FileNotFoundError:
        return None  # removed while it was being opened
    except Exception as error:  # as above
        check_open_files(error)
        _warn(folder, error)
        return None


def _warn(folder: Path, error: BaseException) -> None:
    _log.warning("the index %s is damaged and is built anew (%s: %s)", folder, type(error).__name__, error)


def latest_folder(connection: Connection, folder: Path) -> Path | None:
    """Return the folder of the latest indexes of a store, complete or not; None if there are none."""
    return next(iter(_folders(connection, folder / INDEX)), None)


def _holds(folder: Path, formats: Container[int] = (FORMAT, *_LACKING)) -> bool:
    """Whether a folder is complete and has one of these formats."""
    return _facts(folder, formats) is not None


def _facts(folder: Path, formats: Container[int]) -> dict[str, Any] | None:
    """Return the facts in a folder's manifest; None unless it is complete and has one of these formats."""
    facts = read_manifest(folder)
    return facts if facts is not None and facts.get("format") in formats else None


def _parameters(facts: Mapping[str, Any]) -> IndexParameters:
    """Return the parameters of a snapshot's vector indexes. Earlier versions had only one set."""
    return IndexParameters.model_validate(facts.get("index", {}))


def _made_alike(folder: Path, parameters: IndexParameters) -> bool:
    """Whether the vector indexes in a folder were built with the given parameters."""
    facts = read_manifest(folder)
    return facts is not None and _parameters(facts).of_building == parameters.of_building


def _previous(connection: Connection, index: Path) -> Path | None:
    """Return the latest complete snapshot in this store's own history."""
    return next((path for path in _folders(connection, index) if _holds(path)), None)


def _folders(connection: Connection, index: Path) -> list[Path]:
    """Return the snapshots in this store's own history, latest first."""
    there = [path for path in index.glob(f"{_PREFIX}*-*") if was_state(connection, _key(path))]
    return sorted(there, key=lambda path: state_number(_key(path)), reverse=True)


def _key(folder: Path) -> str:
    """Return the state of the snapshot in a folder."""
    return folder.name.removeprefix(_PREFIX)
