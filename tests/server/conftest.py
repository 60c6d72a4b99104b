"""The store that a module serves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.world import build_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four records, see :func:`tests.server.world.build_store`."""
    return build_store(tmp_path_factory.mktemp("served"))
