"""The indexes of one committed state, in one folder that is either whole or not there.

A snapshot is built under a temporary name and renamed when all of it is on disk, so that what a crash leaves is never
used. It takes over from the one before what still holds, by links: files never change."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from collections.abc import Container, Hashable, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.common.beside import available_cores
from trivium.common.cache import LruCache
from trivium.errors import StoreError, TriviumError
from trivium.graph.allowed import Allowed
from trivium.graph.arrays import Rows
from trivium.graph.embedded.ann_index import AnnIndex, open_index, plan_index
from trivium.graph.embedded.building import Going, building, is_built
from trivium.graph.embedded.changes import read_changes
from trivium.graph.embedded.connection import Connection, Database, damaged, is_damaged
from trivium.graph.embedded.files import is_full, read_manifest, write_manifest
from trivium.graph.embedded.keyword_index import (
    ForwardIndex,
    KeywordIndex,
    build_forward_index,
    build_keyword_index,
    is_panic,
    load_forward_index,
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
from trivium.graph.records import Progress, Vectors
from trivium.graph.schema import Label
from trivium.index_parameters import IndexParameters

if TYPE_CHECKING:
    from trivium.graph.coarse import CoarseVectors

INDEX = "index"
FORMAT = 4
"""Raise it whenever a file of the index changes its meaning: files of another format are built anew."""
_LACKING = (3,)
"""Formats that lack a file, and whose others still hold: they are built upon."""
MOST_PATCHED = 0.02
"""The share of all nodes up to which changes are made in memory, on top of files of an earlier state. Whoever opens the
store makes them anew."""
MOST_WHILE_BUILDING = 0.06
"""The same while files are being built, which nobody then waits for."""
_SEARCHES = 32
_PREFIX = "generation-"

_log = logging.getLogger(__name__)

_CONDITIONS = 16
_TYPES = 4096
VectorSearch = tuple[Label, bool, int, bytes, Hashable]
"""Label, whether exact, how many neighbours, the vector's bytes, and what limits the nodes."""


@dataclass(frozen=True, slots=True)
class Base:
    """The files of a snapshot, which are of the state ``key``, and what was made later, in memory. ``last_chunk`` is the
    highest number of a chunk that the files know, ``fresh`` by label are the numbers of nodes that they do not know, or
    with another vector, and ``changes`` is how many rows came, went or changed."""

    key: str
    last_chunk: int
    fresh: Mapping[Label, Rows] = field(default_factory=dict)
    changes: int = 0

    def fresh_ids(self, label: Label) -> Rows:
        """Those of ``fresh`` of one label."""
        return self.fresh.get(label, np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class IndexSnapshot:
    """The opened indexes of the committed state ``key``. Vectors are mapped into memory, not read. Any number of threads
    may use it."""

    key: str
    dimension: int
    topology: Topology
    matrix: Matrix
    sentences: SentenceColumn
    ann: dict[Label, AnnIndex]
    keywords: KeywordIndex
    terms: ForwardIndex
    base: Base
    parameters: IndexParameters = field(default_factory=IndexParameters)
    """How the indexes of vectors were made, and are asked."""
    _embedded: dict[Label, Rows] = field(default_factory=dict, repr=False)
    _coarse: dict[Label, CoarseVectors] = field(default_factory=dict, repr=False)
    _fresh: dict[Label, Rows] = field(default_factory=dict, repr=False)
    searches: LruCache[VectorSearch, Rows] = field(default_factory=lambda: LruCache(_SEARCHES), repr=False)
    """The last vector searches: rows among which the neighbours are. Several retrievers ask the same."""

    conditions: LruCache[Condition, Allowed] = field(
        default_factory=lambda: LruCache(_CONDITIONS), repr=False
    )
    """The last conditions, and the chunks that they are true of."""
    limits: LruCache[Hashable, Any] = field(default_factory=lambda: LruCache(4 * _CONDITIONS), repr=False)
    """Nodes of each label that lead to them."""
    facts: list[ChunkFacts] = field(default_factory=list, repr=False)
    """What conditions are about, once one was asked for."""
    pictures: list[PictureVectors] = field(default_factory=list, repr=False)
    """The vectors of pictures, once they were asked for."""
    types: LruCache[str, Vectors] = field(default_factory=lambda: LruCache(_TYPES), repr=False)
    """The vectors (d,) of the types of relations that were asked for last."""

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return sum(len(nodes.ids) for nodes in self.topology.nodes.values())

    def embedded_rows(self, label: Label) -> Rows:
        """Rows of the nodes of a label that have a vector, in the order their vectors lie in the matrix."""
        if label not in self._embedded:
            vectors = self.topology.nodes[label].vector
            by_vector = np.argsort(vectors, kind="stable")
            self._embedded[label] = by_vector[np.searchsorted(vectors, 0, sorter=by_vector) :]
        return self._embedded[label]

    def coarse(self, label: Label) -> CoarseVectors:
        """Vectors of ``embedded_rows(label)`` in memory, for labels that are always scanned."""
        if label not in self._coarse:
            from trivium.graph.coarse import CoarseVectors  # loads numba

            rows = self.topology.nodes[label].vector[self.embedded_rows(label)]
            self._coarse[label] = CoarseVectors.of(self.matrix.vectors, rows)
        return self._coarse[label]

    def added_chunks(self) -> Rows:
        """Rows of the chunks that the keyword index does not know, by number."""
        nodes = self.topology.nodes[Label.CHUNK]
        return nodes.by_id[
            np.searchsorted(nodes.ids, self.base.last_chunk, side="right", sorter=nodes.by_id) :
        ]

    def fresh_rows(self, label: Label) -> Rows:
        """Rows of the nodes that the index of a label does not know with their vectors, in the order of these."""
        if label not in self._fresh:
            rows = self.topology.nodes[label].rows_of(self.base.fresh_ids(label))
            vectors = self.topology.nodes[label].vector
            rows = rows[rows >= 0]
            rows = rows[vectors[rows] >= 0]
            self._fresh[label] = rows[np.argsort(vectors[rows], kind="stable")]
        return self._fresh[label]


def load_snapshot(
    database: Database, progress: Progress | None = None, known: IndexSnapshot | None = None
) -> IndexSnapshot:
    """The indexes of the state now committed; what is missing, stale or damaged is built first. After a few changes they
    are brought up to date in memory instead, from those ``known``, or from the latest in files. Raises StoreBusyError
    where another process builds them and is stuck."""
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
    """The indexes of the state now committed, with files of their own, which are built where they are not there. Raises
    StoreBusyError where another process builds them and is stuck."""
    index = database.folder / INDEX
    try:
        index.mkdir(exist_ok=True)
        with building(index) as going, database.reading_one_state() as connection:
            key = current_state(connection)
            folder = index / f"{_PREFIX}{key}"
            found = _open(folder, key)
            if found is None:
                if not _holds(folder):
                    shutil.rmtree(folder, ignore_errors=True)
                _build(connection, index, key, _Counter(progress, going))
                found = _open(folder, key)
    except OSError as error:
        raise StoreError(
            f"the indexes below {index} cannot be written ({error}); free space there or make it writable"
        ) from error
    if found is None:
        raise StoreError(f"the indexes below {index} were changed while they were built; try again")
    return found


def _patched(connection: Connection, index: Path, known: IndexSnapshot | None) -> IndexSnapshot | None:
    """The indexes of the state that the connection sees, made in memory. None where too much has changed."""
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
    except Exception as error:  # whatever comes of a damaged file: new ones are made
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
        sentences=old.sentences.patched(connection, new.moved, chunks, new.texts, dimension),
        ann=old.ann,
        keywords=old.keywords,
        terms=old.terms.patched(new.moved, new.topology.terms, new.added, new.terms),
        base=Base(
            old.base.key,
            old.base.last_chunk,
            {label: np.union1d(old.base.fresh_ids(label), numbers) for label, numbers in new.fresh.items()},
            old.base.changes + count,
        ),
        parameters=old.parameters,
    )
    for label, coarse in old._coarse.items():
        before = old.topology.nodes[label].vector[old.embedded_rows(label)]
        now = snapshot.topology.nodes[label].vector[snapshot.embedded_rows(label)]
        snapshot._coarse[label] = coarse.patched(before, snapshot.matrix.vectors, now)
    return snapshot


def _build(connection: Connection, index: Path, key: str, counter: _Counter) -> None:
    previous = _previous(connection, index)
    while True:
        try:
            _build_from(previous, connection, index, key, counter)
            return
        except (OSError, sqlite3.Error, TriviumError):
            raise
        except BaseException as error:  # whatever a library says of a file that it cannot read or write
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            if not is_full(index) and is_damaged(index.parent):
                raise damaged(index.parent, error) from error
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
    plans = [
        (nodes, plan_index(label, nodes, matrix_ids, kept, parameters))
        for label, nodes in topology.nodes.items()
    ]
    chunk_ids = topology.nodes[Label.CHUNK].ids
    old_ids = np.empty(0, dtype=np.int64) if previous is None else load_ids(previous, Label.CHUNK)
    counter.begin(
        int(np.count_nonzero(chunk_ids > old_ids.max(initial=0)))
        + sum(len(plan.add) for _, plan in plans if plan is not None)
    )
    # An index is made by one thread, so that it comes out the same every time; the largest begins first.
    making = sorted(
        ((nodes, plan) for nodes, plan in plans if plan is not None), key=lambda pair: -len(pair[1].add)
    )
    threads = ThreadPoolExecutor(available_cores(), thread_name_prefix="index")
    try:
        made = [threads.submit(plan.apply, folder, nodes, matrix, counter.step) for nodes, plan in making]
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
    shutil.rmtree(index / f"{_PREFIX}{key}", ignore_errors=True)  # of an earlier format, built upon
    folder.rename(index / f"{_PREFIX}{key}")
    for path in index.iterdir():
        if path.is_dir() and path.name != f"{_PREFIX}{key}":
            shutil.rmtree(path, ignore_errors=True)


class _Counter:
    """Adds up steps, of several threads, and reports them: to the caller, and to other processes."""

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
        """Raises CancelledError where the others have been stopped."""
        with self._lock:
            if self._stopped:
                raise CancelledError
            self._done += count
            self.going()
            if self._progress is not None:
                self._progress(self._done, self._total)

    def stop(self) -> None:
        """End the threads at their next step."""
        self._stopped = True


def _open(folder: Path, key: str) -> IndexSnapshot | None:
    """The snapshot in a folder, None unless it is whole."""
    facts = _facts(folder, (FORMAT,))
    if facts is None:
        return None
    try:
        matrix = load_matrix(folder)
        dimension = matrix.dimension
        parameters = _parameters(facts)
        ann = {label: open_index(folder, label, dimension, parameters) for label in Label}
        topology = load_topology(folder)
        return IndexSnapshot(
            key=key,
            dimension=dimension,
            topology=topology,
            matrix=matrix,
            sentences=load_sentences(folder),
            ann={label: index for label, index in ann.items() if index is not None},
            keywords=KeywordIndex(folder),
            terms=load_forward_index(folder, topology.terms),
            base=Base(key, int(topology.nodes[Label.CHUNK].ids.max(initial=0))),
            parameters=parameters,
        )
    except FileNotFoundError:
        return None  # it was removed while it was opened
    except Exception as error:  # as above
        _warn(folder, error)
        return None


def _warn(folder: Path, error: BaseException) -> None:
    _log.warning("the index %s is damaged and is built anew (%s: %s)", folder, type(error).__name__, error)


def latest_folder(connection: Connection, folder: Path) -> Path | None:
    """Where the latest indexes of the store in ``folder`` are, whole or not; None where none are made."""
    return next(iter(_folders(connection, folder / INDEX)), None)


def _holds(folder: Path, formats: Container[int] = (FORMAT, *_LACKING)) -> bool:
    """Whether a folder is whole, and of one of these formats."""
    return _facts(folder, formats) is not None


def _facts(folder: Path, formats: Container[int]) -> dict[str, Any] | None:
    """What the manifest of a folder says, None unless it is whole and of one of these formats."""
    facts = read_manifest(folder)
    return facts if facts is not None and facts.get("format") in formats else None


def _parameters(facts: Mapping[str, Any]) -> IndexParameters:
    """How the vector indexes of a snapshot were made; earlier versions knew one way only."""
    return IndexParameters.model_validate(facts.get("index", {}))


def _made_alike(folder: Path, parameters: IndexParameters) -> bool:
    """Whether the vector indexes in a folder are as they would be made now."""
    facts = read_manifest(folder)
    return facts is not None and _parameters(facts).of_building == parameters.of_building


def _previous(connection: Connection, index: Path) -> Path | None:
    """The latest whole snapshot of this store's own history."""
    return next((path for path in _folders(connection, index) if _holds(path)), None)


def _folders(connection: Connection, index: Path) -> list[Path]:
    """The snapshots of this store's own history, latest first."""
    there = [path for path in index.glob(f"{_PREFIX}*-*") if was_state(connection, _key(path))]
    return sorted(there, key=lambda path: state_number(_key(path)), reverse=True)


def _key(folder: Path) -> str:
    """The state that a snapshot in a folder is of."""
    return folder.name.removeprefix(_PREFIX)
