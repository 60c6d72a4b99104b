"""Removes a store that was made for documents which never came."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from trivium.graph.embedded.connection import DATABASE, open_database


def discard_empty(folder: Path, *, with_folder: bool) -> bool:
    """Remove the store in a folder, and the folder itself if asked to, where no page is in it; returns whether it was.
    Another process that has it open cannot write to it any more: it is told that the store is gone. Raises StoreError."""
    database = open_database(folder, read_only=False)
    try:
        with database.writing() as connection:  # nobody else writes meanwhile
            if connection.execute("SELECT EXISTS (SELECT 1 FROM page)").fetchone() != (0,):
                return False
            (folder / DATABASE).unlink()
    finally:
        database.close()
    for path in folder.iterdir():  # it was a new or empty folder: all of this is the store's
        with suppress(OSError):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    if with_folder:
        with suppress(OSError):
            folder.rmdir()
    return True
