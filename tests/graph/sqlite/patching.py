"""A store whose indexes are patched in memory after every change, however large, and never made anew for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from trivium.graph.sqlite import EmbeddedStore, load_index


@contextmanager
def patched_store() -> Iterator[tuple[pytest.MonkeyPatch, Path, EmbeddedStore]]:
    """The patches in force, for more of them, a folder, and the store ``s`` in it, which is empty."""
    with pytest.MonkeyPatch.context() as patches, TemporaryDirectory() as folder:
        for most in ("MOST_PATCHED", "MOST_WHILE_BUILDING"):
            patches.setattr(load_index, most, 1e6)
        with EmbeddedStore.create(Path(folder) / "s") as store:
            yield patches, Path(folder), store
