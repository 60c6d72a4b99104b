"""The folder of a server's jobs: their table, and their uploaded documents."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from trivium.common.safe_files import LockFile, folder_to_disk
from trivium.graph.arrays.array_files import cannot_change
from trivium.graph.open_store import is_address
from trivium.server.job_table import JobTable

FOLDER = "jobs"
"""Name of the folder next to the files of a store."""
_TABLE = "jobs.db"
_UPLOADS = "uploads"


class ReadOnlyError(Exception):
    """The store cannot be changed by this server."""


def spool_folder(store: str | Path, given: Path | None) -> Path:
    """Return the folder for the jobs of a store. It is in the store's folder, so that it is on the same file system and
    moves with it. For databases, and if a folder is ``given``, it is named by a hash of the store, so that stores never
    share their jobs.
    """
    if given is None and not is_address(store):
        return Path(store) / FOLDER
    base = _state_home() / "trivium" / FOLDER if given is None else given
    return base / store_name(store)


def store_name(store: str | Path) -> str:
    """Return a name that identifies a store without revealing its location."""
    if is_address(store):
        from trivium.graph.neo4j.address import parse_address

        place = str(parse_address(str(store)))
    else:
        place = os.fspath(Path(store).resolve())
    return hashlib.sha256(os.fsencode(place)).hexdigest()[:16]


def _state_home() -> Path:
    # According to the XDG specification, relative and empty values are ignored.
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    return state if state.is_absolute() else Path.home() / ".local" / "state"


class Spool:
    """The folder of the jobs of one store. One server at a time may have it."""

    def __init__(self, store: str | Path, folder: Path) -> None:
        self._store = store
        self.folder = folder
        self.uploads = folder / _UPLOADS
        self._lock = LockFile(folder / "servers.lock")

    def open(self) -> JobTable:
        """Take the folder, create what is missing, and open the table. The job that was running when its server ended
        is queued again, and uploads without a job are removed. Raises ReadOnlyError (also while another server has the
        folder), OSError and sqlite3.Error.
        """
        if not is_address(self._store) and cannot_change(Path(self._store)):
            raise ReadOnlyError("the store is on a read-only file system")
        # Documents must not be readable by others, wherever the folder is.
        self.uploads.mkdir(mode=0o700, parents=True, exist_ok=True)
        for made in (self.folder, self.folder.parent):
            folder_to_disk(made)
        try:
            if not self._lock.take():
                raise ReadOnlyError("another server uses this folder")
            table = JobTable(self.folder / _TABLE)
            table.put_back(counted=True)
            self._tidy(table)
        except BaseException:
            self._lock.release()
            raise
        return table

    def upload(self, identifier: str) -> Path:
        """Return the folder of the documents of a job."""
        return self.uploads / identifier

    def discard(self, identifier: str) -> None:
        """Remove the documents of a job."""
        shutil.rmtree(self.upload(identifier), ignore_errors=True)

    def close(self) -> None:
        """Release the folder."""
        self._lock.release()

    def _tidy(self, table: JobTable) -> None:
        needed = table.unfinished()
        for path in list(self.uploads.iterdir()):
            if path.name not in needed:
                shutil.rmtree(path, ignore_errors=True)
