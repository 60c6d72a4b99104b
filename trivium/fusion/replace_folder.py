"""Folders that are replaced whole: whoever looks finds the old one or the new one, complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium.errors import FusionError


@contextmanager
def replaced(folder: Path, own: Collection[str]) -> Iterator[Path]:
    """An empty folder beside ``folder``, which takes its place at the end of the block.

    Should the block fail or be interrupted, the draft goes and the earlier folder stays as it was. Raises FusionError
    as :func:`check_replaceable` does, before anything is done.
    """
    target = Path(os.path.realpath(folder))
    check_replaceable(target, own)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft, earlier = (target.with_name(f".{target.name}.{role}-{os.getpid()}") for role in ("new", "old"))
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    try:
        yield draft
        check_replaceable(target, own)
        if target.is_dir():
            target.rename(earlier)
        try:
            draft.rename(target)
        except BaseException:
            if earlier.is_dir():
                earlier.rename(target)
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(earlier, ignore_errors=True)


def check_replaceable(folder: Path, own: Collection[str]) -> None:
    """Raise FusionError unless a folder is missing, empty, or holds nothing but entries of the names ``own``: nobody
    else's file is ever removed."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FusionError(f"expected a folder for the trained fusion, but {folder} is a file")
    others = sorted(path.name for path in folder.iterdir() if path.name not in own)
    if others:
        raise FusionError(
            f"expected a new or empty folder, or one with a trained fusion to replace, but {folder} holds"
            f" {', '.join(others[:3])}{' and more' if len(others) > 3 else ''}: name another folder"
        )
