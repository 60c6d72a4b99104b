"""Stores of shards for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.contract.graphs import embed_pending
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.factory import open_store
from trivium.graph.model import PageGraph
from trivium.graph.sharded.store import ShardedStore
from trivium.graph.shards import create_shards


def make_store(folder: Path, pages: Sequence[PageGraph] = (), *, embed: bool = False) -> Path:
    """A folder store with these pages."""
    with EmbeddedStore.create(folder) as store:
        store.write(pages)
        if embed:
            embed_pending(store)
    return folder


def open_shards(folder: Path) -> ShardedStore:
    """The store of shards in a folder."""
    store = open_store(folder)
    assert isinstance(store, ShardedStore)
    return store


def new_shards(folder: Path, count: int = 3) -> ShardedStore:
    """Empty shards, opened."""
    create_shards(folder, new=count)
    return open_shards(folder)
