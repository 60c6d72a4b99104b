"""Removes a store that was created for a load which failed."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from trivium.graph.sqlite.connection import DATABASE, open_database


def discard_empty(folder: Path, *, with_folder: bool) -> bool:
    """Remove the store in a folder, and optionally the folder, unless it contains a page. Return whether it was
    removed.

    Other processes that have it open can no longer write to it and get an error. Raises StoreError.
    """
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
