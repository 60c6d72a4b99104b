"""A pinned store: one state for the length of a question."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.contract.graphs import embed_pending, graph
from trivium.errors import StoreError
from trivium.graph.sqlite import EmbeddedStore


@pytest.fixture
def store(tmp_path: Path) -> EmbeddedStore:
    store = EmbeddedStore.create(tmp_path / "store")
    store.write([graph("Mars", [("red planet", ["Sun"])])])
    embed_pending(store)
    return store


def test_what_is_written_meanwhile_is_not_seen(store: EmbeddedStore) -> None:
    """Neither in the database nor in the indexes, by no thread; the next question sees it."""
    with store.pinned() as pinned, ThreadPoolExecutor(4) as threads:
        state = pinned.state
        store.write([graph("Aardvark", [("it digs red soil", ["Mars"])])])
        store.delete(["Mars"])
        embed_pending(store)
        store.refresh()
        assert pinned.state == state != store.state
        assert list(threads.map(lambda _: pinned.chunk_uris(), range(8))) == [["Mars#chunk-1"]] * 8
        assert list(pinned.adjacency().chunks) == ["Mars#chunk-1"]
        assert [record.text for record in pinned.fetch(["Mars#chunk-1"])] == ["red planet"]
        assert pinned.keyword_search(["red"], 9) == ["Mars#chunk-1"]
    with store.pinned() as pinned:
        assert list(pinned.adjacency().chunks) == pinned.chunk_uris() == ["Aardvark#chunk-1"]


def test_it_is_for_reading_and_for_the_length_of_the_block(store: EmbeddedStore) -> None:
    with store.pinned() as pinned:
        with pytest.raises(StoreError, match="reading only"):
            pinned.delete(["Mars"])
        with pinned.pinned() as again:
            assert again is pinned
    with pytest.raises(StoreError, match="closed"):
        pinned.chunk_uris()
    assert store.delete(["Mars"]) == ["Mars"]


def test_a_frozen_store_is_pinned_already(store: EmbeddedStore) -> None:
    with store.frozen(1) as frozen, frozen.pinned() as pinned:
        assert pinned is frozen


def test_an_error_in_the_block_is_the_callers_own(store: EmbeddedStore) -> None:
    """It is not taken for one of the database, and the connection can be used again."""
    with pytest.raises(UnicodeEncodeError), store.pinned():
        "\udc80".encode()
    assert store.chunk_uris() == ["Mars#chunk-1"]


def test_an_error_while_reading_comes_out_and_lets_other_threads_read(store: EmbeddedStore) -> None:
    """An error of SQLite as one of this package, any other as it is."""
    with store.pinned() as pinned, ThreadPoolExecutor(1) as threads:
        database = pinned._database
        with pytest.raises(ZeroDivisionError), database.reading():
            _ = 1 // 0
        with pytest.raises(StoreError, match="no such table"), database.reading() as connection:
            connection.execute("SELECT * FROM absent")
        # Another thread's turn, which would wait for ever, is asked for with a limit.
        assert threads.submit(database._reading.acquire, timeout=5).result()
        threads.submit(database._reading.release).result()
        assert pinned.chunk_uris() == ["Mars#chunk-1"]
