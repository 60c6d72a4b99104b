"""A folder that earlier versions searched as several stores is refused, with what to do, and stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.graphs import graph
from trivium.engine import Engine
from trivium.errors import StoreFormatError
from trivium.graph.open_store import open_or_create_store, open_store
from trivium.graph.sqlite import EmbeddedStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that names two stores, one of them below it."""
    for name in ("both/shard-1", "other"):
        with EmbeddedStore.create(tmp_path / name) as store:
            store.write([graph(name, [("text", [])])])
    (tmp_path / "both" / "shards.json").write_text('{"format": 1, "shards": ["shard-1", "../other"]}\n')
    return tmp_path / "both"


@pytest.mark.parametrize("opened", [open_store, open_or_create_store, Engine.open, Engine.create])
def test_a_folder_that_names_stores_says_what_to_do(folder: Path, opened: Callable[[Path], object]) -> None:
    before = sorted(folder.iterdir())
    with pytest.raises(
        StoreFormatError, match=r"both names several stores.*one store .*trivium build SOURCE"
    ):
        opened(folder)
    assert sorted(folder.iterdir()) == before


def test_the_stores_that_it_named_open_by_themselves(folder: Path) -> None:
    for path in (folder / "shard-1", folder.parent / "other"):
        with open_store(path) as store:
            assert store.count_pages() == 1
