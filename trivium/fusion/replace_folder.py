"""Replaces folders as a whole, so that readers find either the complete old one or the complete new one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium.errors import FusionError


@contextmanager
def replaced(folder: Path, own: Collection[str]) -> Iterator[Path]:
    """Yield an empty draft folder, which replaces ``folder`` at the end of the block.

    If the block fails or is interrupted, the draft is removed and the earlier folder is unchanged. Raises FusionError
    like :func:`check_replaceable`, before anything is changed.
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
    """Raise FusionError unless the folder is missing, empty, or contains only entries named in ``own``, so that no
    unrelated file is ever removed.
    """
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
