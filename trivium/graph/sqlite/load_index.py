"""The indexes of the committed state: opened, brought up to date in memory, or built, whichever is least.

Changes are kept in memory and slow searches down a little. They are merged into new files before there are so many
that a search would have to wait for it: in another process, which does not compete for the GIL and whose memory is freed,
while this one continues with its files and the changes since.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from tempfile import TemporaryDirectory

from trivium.common.worker_processes import Worker, WorkerLostError
from trivium.errors import StoreError, TriviumError
from trivium.graph.arrays.array_files import check_open_files, is_full
from trivium.graph.arrays.keyword_index import is_panic
from trivium.graph.arrays.snapshot import BuildCounter, IndexSnapshot, build, is_complete, open_snapshot
from trivium.graph.records import Progress
from trivium.graph.sqlite.change_log import count_new, read_changes, read_log
from trivium.graph.sqlite.connection import Connection, Database, damaged, is_damaged
from trivium.graph.sqlite.index_lock import building, is_built
from trivium.graph.sqlite.index_rows import SqliteRows
from trivium.graph.sqlite.open_database import open_database
from trivium.graph.sqlite.store_state import current_state, state_number, was_state
from trivium.settings.settings import load_settings

INDEX = "index"
MOST_PATCHED = 0.02
"""Share of changed nodes up to which changes are applied in memory, on top of the files of an earlier state."""
MOST_WHILE_BUILDING = 0.06
"""The same while another build is running, so that nobody has to wait for it."""
_PREFIX = "generation-"

_log = logging.getLogger(__name__)

_elsewhere: dict[Path, TemporaryDirectory[str]] = {}
"""Where this process keeps the indexes of stores that it cannot write to, until it ends."""
_choosing = threading.Lock()


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
                if not is_complete(folder):
                    shutil.rmtree(folder, ignore_errors=True)
                _build(connection, database.folder, index, key, BuildCounter(progress, going))
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
    source = SqliteRows(connection)
    if source.dimension != old.dimension:
        return None
    most = int(MOST_WHILE_BUILDING * old.size) - old.base.changes
    log = read_log(connection, old.key, most)
    if log is None:
        return None
    count = len(log) + count_new(connection, old.topology, old.matrix)
    if count > most or (old.base.changes + count > MOST_PATCHED * old.size and not is_built(index)):
        return None
    changes = read_changes(connection, log, old.topology, old.matrix)
    return old.patched(changes, current_state(connection), count)


def _build(connection: Connection, store: Path, index: Path, key: str, counter: BuildCounter) -> None:
    previous = _previous(connection, index)
    while True:
        try:
            build(
                SqliteRows(connection),
                index / f"{_PREFIX}{key}",
                previous,
                counter,
                load_settings().approximate_from,
            )
            break
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
    for path in index.iterdir():
        if path.is_dir() and path.name != f"{_PREFIX}{key}":
            shutil.rmtree(path, ignore_errors=True)


def _open(folder: Path, key: str) -> IndexSnapshot | None:
    """Open the snapshot in a folder; None if it is incomplete."""
    try:
        return open_snapshot(folder, key)
    except FileNotFoundError:
        return None  # removed while it was being opened
    except Exception as error:  # any error a library raises for an unreadable file
        check_open_files(error)
        _warn(folder, error)
        return None


def _warn(folder: Path, error: BaseException) -> None:
    _log.warning("the index %s is damaged and is built anew (%s: %s)", folder, type(error).__name__, error)


def latest_folder(connection: Connection, folder: Path) -> Path | None:
    """Return the folder of the latest indexes of a store, complete or not; None if there are none."""
    return next(iter(_folders(connection, folder / INDEX)), None)


def _previous(connection: Connection, index: Path) -> Path | None:
    """Return the latest complete snapshot in this store's own history."""
    return next((path for path in _folders(connection, index) if is_complete(path)), None)


def _folders(connection: Connection, index: Path) -> list[Path]:
    """Return the snapshots in this store's own history, latest first."""
    there = [path for path in index.glob(f"{_PREFIX}*-*") if was_state(connection, _key(path))]
    return sorted(there, key=lambda path: state_number(_key(path)), reverse=True)


def _key(folder: Path) -> str:
    """Return the state of the snapshot in a folder."""
    return folder.name.removeprefix(_PREFIX)


MERGED_ABOVE = 0.01
"""Share of changed nodes above which they are merged into files."""
MERGED_FROM = 50_000
"""Minimum number of nodes. Smaller indexes are rebuilt within a second or two when
:data:`~trivium.graph.sqlite.load_index.MOST_PATCHED` is reached.
"""
_NICE = 5  # searches have priority


class Merger:
    """Starts and ends merge processes for one store, one at a time. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # On demand: every question has a view of the store with its own merger.
        self._worker: Worker | None = None
        self._failed = False
        self._lock = threading.Lock()

    def look(self, indexes: IndexSnapshot) -> None:
        """Start a merge if these indexes hold many changes in memory. A failed merge is not retried: the error
        surfaces when somebody has to wait for the files.
        """
        if indexes.size < MERGED_FROM or indexes.base.changes <= MERGED_ABOVE * indexes.size:
            return
        with self._lock:
            if self._worker is None:
                self._worker = Worker(f"{__name__}:merge", [str(self._folder.resolve())])
            if self._failed or self._worker.is_alive:
                return
            self._failed = self._worker.end() not in (None, 0)
            if not self._failed:
                try:
                    self._worker.connect()
                except WorkerLostError as error:
                    _log.warning("the indexes cannot be merged meanwhile: %s", error)
                    self._failed = True

    def end(self) -> None:
        """Terminate a running merge. Its output is discarded and the store is unchanged."""
        if self._worker is not None:
            self._worker.end(0)


def merge(_: Pipe, folder: str) -> None:
    """Build the index files of the store in a folder, in a process of its own."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    database = open_database(Path(folder), read_only=False)
    try:
        build_snapshot(database)
    finally:
        database.close()
