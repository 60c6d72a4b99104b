"""What changed is made into files by another process, while this one goes on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.contract.graphs import IDENTITY, embed_pending, graph
from tests.contract.state import state_of
from tests.fakes.memory_store import MemoryStore
from trivium.common import worker_processes
from trivium.graph.sqlite import EmbeddedStore, load_index
from trivium.graph.sqlite import load_index as merge


@pytest.fixture(autouse=True)
def small_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merges start from the first changed node on, and no search waits for one."""
    monkeypatch.setattr(merge, "MERGED_FROM", 0)
    monkeypatch.setattr(merge, "MERGED_ABOVE", 0.0)
    for most in ("MOST_PATCHED", "MOST_WHILE_BUILDING"):
        monkeypatch.setattr(load_index, most, 1e6)


def _files(store: EmbeddedStore) -> str:
    (folder,) = (Path(store.location) / "index").glob("generation-*")
    return folder.name.removeprefix("generation-")


def _wait(store: EmbeddedStore) -> None:
    while store._merger._worker is not None and store._merger._worker.is_alive:
        time.sleep(0.02)


def test_what_changed_is_in_files_later_and_answers_are_the_same(tmp_path: Path) -> None:
    oracle = MemoryStore()
    oracle.set_embedder(IDENTITY)
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.set_embedder(IDENTITY)
        for title in "ABCD":
            for some in (store, oracle):
                some.write([graph(title, lead=[(f"text {title}", ()), ("shared", ("D",))])])
                embed_pending(some)
            store.refresh()
            _wait(store)
            assert _files(store) == store.state
            assert state_of(store) == state_of(oracle)
        merged = store._current()
        assert merged.base.changes > 0, "this process goes on with what it has"
        store.delete(["A"]), oracle.delete(["A"])
        assert state_of(store) == state_of(oracle)
        assert store._current().base.key != merged.base.key, "until something changes again"
    with EmbeddedStore.open(tmp_path / "s") as again:
        assert state_of(again) == state_of(oracle)


def test_one_that_is_ended_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.set_embedder(IDENTITY)
        for title in "AB":
            store.write([graph(title, lead=[("text", ())])])
            embed_pending(store)
            store.refresh()
        worker = store._merger._worker
        assert worker is not None and worker.pid is not None
        wanted = state_of(store)
    assert not worker.is_alive, "it ends with the store"
    with EmbeddedStore.open(tmp_path / "s") as again:
        assert state_of(again) == wanted


def test_a_failure_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_processes.sys, "executable", "/bin/false")
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.set_embedder(IDENTITY)
        for title in "ABCD":
            store.write([graph(title, lead=[("text", ())])])
            embed_pending(store)
            store.refresh()
            _wait(store)
        assert store._merger._worker is not None and store._merger._worker.pid is None
        assert store._merger._failed


def test_small_stores_and_small_changes_start_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "MERGED_FROM", 1_000)
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.set_embedder(IDENTITY)
        for title in "AB":
            store.write([graph(title, lead=[("text", ())])])
            store.refresh()
        assert store._current().base.changes > 0 and store._merger._worker is None
