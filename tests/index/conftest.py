"""An empty store for tests of loading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.graph.sqlite import EmbeddedStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore.create(tmp_path / "store") as made:
        yield made
