"""A store as one file, and back."""

from __future__ import annotations

from pathlib import Path

from trivium.common.progress import Progress
from trivium.errors import InputError
from trivium.graph.factory import is_address
from trivium.graph.sqlite.backup import BackupReport, back_up_folder, restore_folder

__all__ = ["BackupReport", "back_up", "restore"]


def back_up(store: str | Path, file: str | Path, progress: Progress | None = None) -> BackupReport:
    """Write the store in a folder, as it is committed now, to one file, which is there whole or not at all; an earlier
    one is replaced. Others may read and write the store meanwhile. Derived files are left out: they are made again.

    ``progress`` counts bytes. Raises InputError for the address of a server, and where the file cannot be written;
    StoreNotFoundError, and StoreFormatError for a damaged store.
    """
    _refuse_address(store)
    return back_up_folder(Path(store), Path(file), progress)


def restore(file: str | Path, store: str | Path, progress: Progress | None = None) -> BackupReport:
    """Make a store in a new or empty folder of what :func:`back_up` wrote. It is there whole or not at all.

    Raises InputError for a file that is no backup or is damaged, StoreError where there is something in the folder.
    """
    _refuse_address(store)
    return restore_folder(Path(file), Path(store), progress)


def _refuse_address(store: str | Path) -> None:
    if is_address(store):
        raise InputError(
            f"expected a folder, got {store}: a database of Neo4j is backed up with the server's own"
            "  neo4j-admin database dump  (and  load),  or as files for another one with  trivium export FOLDER"
            f" --store {store}"
        )
