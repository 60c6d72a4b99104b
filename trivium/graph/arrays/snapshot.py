"""The index of one state of a source of truth, in a folder that is either complete or absent.

It is built under a temporary name and renamed once it is on disk, so that incomplete files are never used. Files never
change, so those still valid are hard-linked from an earlier one.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trivium.common.cache import LruCache
from trivium.common.idle_cores import available_cores
from trivium.graph.arrays.array_files import Rows, distinct, read_manifest, write_manifest
from trivium.graph.arrays.chunk_details import ChunkDetails
from trivium.graph.arrays.keyword_index import (
    ForwardIndex,
    KeywordIndex,
    build_forward_index,
    build_keyword_index,
    load_forward_index,
)
from trivium.graph.arrays.row_source import Changes, RowSource
from trivium.graph.arrays.topology import Topology, build_topology, load_ids, load_topology
from trivium.graph.arrays.update_topology import patch_topology
from trivium.graph.arrays.vector_index import (
    LabelVectors,
    VectorFiles,
    build_vectors,
    embedded_rows,
    load_vectors,
)
from trivium.graph.arrays.vector_matrix import (
    Matrix,
    SentenceColumn,
    build_matrix,
    build_sentences,
    load_matrix,
    load_sentences,
)
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import Allowed, ChunkFacts
from trivium.graph.records import Floats, Progress, StoreInfo, Vectors, WaitingTexts
from trivium.graph.schema import Label
from trivium.graph.stored_vectors import PictureVectors
from trivium.types import EmbedderIdentity

FORMAT = 6
"""Raise this when the meaning of an index file changes. Files of other formats are rebuilt."""
_SEARCHES = 32
AHEAD = 512
"""Vector searches that are done ahead of their questions, at most: those of a group of questions of a batch."""
_CONDITIONS = 16
_TYPES = 4096


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
    """The open indexes of the state ``key``. Vectors are memory-mapped. Thread-safe."""

    key: str
    dimension: int
    topology: Topology
    matrix: Matrix
    sentences: SentenceColumn
    keywords: KeywordIndex
    terms: ForwardIndex
    base: Base
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
    info: list[StoreInfo] = field(default_factory=list, repr=False)
    """What the store has, once counted."""
    embedder: list[EmbedderIdentity | None] = field(default_factory=list, repr=False)
    """The embedder of the store, once read."""
    recogniser: list[str | None] = field(default_factory=list, repr=False)
    """What recognises names in the texts of documents, once read."""
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

    def patched(self, changes: Changes, key: str, count: int) -> IndexSnapshot:
        """Return the snapshot of the later state ``key``, after changes of ``count`` rows."""
        new = patch_topology(self.topology, self.matrix, changes)
        chunks = new.topology.nodes[Label.CHUNK]
        snapshot = IndexSnapshot(
            key=key,
            dimension=self.dimension,
            topology=new.topology,
            matrix=new.matrix,
            sentences=self.sentences.patched(
                new.moves, chunks, changes.texts, changes.sentences, self.dimension
            ),
            keywords=self.keywords,
            terms=self.terms.patched(new.moves, new.topology.terms, changes.terms),
            base=Base(self.base.key, self.base.last_chunk, self.base.changes + count),
            stored=self.stored,
            details=[known.patched(new.moves, chunks, changes.details) for known in self.details],
        )
        for label, vectors in list(self._vectors.items()):  # others may ask about another label meanwhile
            snapshot._vectors[label] = vectors.now(snapshot.matrix, snapshot.vector_rows(label))
        return snapshot


def build(
    source: RowSource, folder: Path, previous: Path | None, counter: BuildCounter, approximate_from: int
) -> None:
    """Build the index of a state as the folder ``folder``, which must not exist, from ``previous`` as far as possible:
    the folder of the index of an earlier state. Labels with at least ``approximate_from`` vectors have an approximate
    index of them.
    """
    final, folder = folder, folder.with_name(f"building-{folder.name}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    matrix_ids = build_matrix(source, folder, previous)
    counter.going()
    build_topology(source, folder, matrix_ids)
    counter.going()
    topology, matrix = load_topology(folder), load_matrix(folder)
    build_sentences(source, folder, previous, topology.nodes[Label.CHUNK])
    counter.going()
    plans = []
    for label, nodes in topology.nodes.items():
        plan = build_vectors(folder, label, nodes, matrix, previous, approximate_from)
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
        build_keyword_index(source, folder, previous, chunk_ids, old_ids, counter.step)
        build_forward_index(source, folder, previous, topology.nodes[Label.CHUNK], topology.terms, old_ids)
        for ended in as_completed(made):
            ended.result()
    except BaseException:
        counter.stop()
        raise
    finally:
        threads.shutdown(cancel_futures=True)
    write_manifest(folder, {"format": FORMAT})
    shutil.rmtree(final, ignore_errors=True)  # of this state, but damaged
    folder.rename(final)


class BuildCounter:
    """Adds up the steps of several threads and reports them to ``progress``. ``going`` is called regularly, and may end
    the build by an error.
    """

    def __init__(self, progress: Progress | None, going: Callable[[], None]) -> None:
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


def open_snapshot(folder: Path, key: str) -> IndexSnapshot | None:
    """Open the index in a folder; None if it is incomplete or of another format. Raises FileNotFoundError if it was
    removed meanwhile, and any error that a library raises for a file that is damaged.
    """
    if not is_complete(folder):
        return None
    matrix = load_matrix(folder)
    dimension = matrix.dimension
    vectors = {label: load_vectors(folder, label, dimension) for label in Label}
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
        stored={label: found for label, found in vectors.items() if found is not None},
    )


def is_complete(folder: Path) -> bool:
    """Whether the index in a folder is complete, and of this version's format."""
    facts = read_manifest(folder)
    return facts is not None and facts.get("format") == FORMAT
