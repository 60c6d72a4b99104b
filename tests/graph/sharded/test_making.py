"""What may be a shard, and what a failure leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.contract.graphs import IDENTITY, embed_pending, graph
from tests.graph.sharded.stores import make_store, new_shards, open_shards
from trivium.errors import (
    EmbedderMismatchError,
    InputError,
    StoreError,
    StoreFormatError,
    StoreNotFoundError,
)
from trivium.graph.backup import back_up
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.factory import open_store
from trivium.graph.sharded.manifest import FILE, read_manifest
from trivium.graph.shards import create_shards, split_store

A, B = graph("A", [("a", [])]), graph("B", [("b", [])])


def test_stores_stay_where_they_are_and_are_named_relative_to_the_folder(tmp_path: Path) -> None:
    """So that all can be moved together."""
    first, second = make_store(tmp_path / "first", [A]), make_store(tmp_path / "second", [B])
    assert create_shards(tmp_path / "both", [first, second]) == [first, second]
    assert json.loads((tmp_path / "both" / FILE).read_text())["shards"] == ["../first", "../second"]
    with open_shards(tmp_path / "both") as store:
        assert [page.uri for page in store.pages()] == ["A", "B"]
        assert store.location == str(tmp_path / "both")


def test_the_same_document_in_two_stores_is_refused(tmp_path: Path) -> None:
    """With its title, where it is, and what to do; nothing is made."""
    first, second = make_store(tmp_path / "first", [A, B]), make_store(tmp_path / "second", [B])
    with pytest.raises(
        StoreError, match=r"'B' in .*first and .*second:  trivium remove 'B' --store .*second"
    ):
        create_shards(tmp_path / "both", [first, second])
    assert not (tmp_path / "both").exists()


def test_different_embedders_are_refused_now_and_later(tmp_path: Path) -> None:
    """Their vectors cannot be compared. A store that is not embedded yet may be a shard."""
    first, second = make_store(tmp_path / "first", [A], embed=True), make_store(tmp_path / "second", [B])
    create_shards(tmp_path / "both", [first, second])
    with EmbeddedStore.open(second) as store:
        other = replace(IDENTITY, version="2")
        store.set_embedder(other)
        store.put_vectors(["B"], np.eye(1, other.dimension, dtype=np.float32))
    for fails in (
        lambda: open_store(tmp_path / "both"),
        lambda: create_shards(tmp_path / "again", [first, second]),
    ):
        with pytest.raises(
            EmbedderMismatchError, match=r"first was filled by toy version 1 .*second .* version 2"
        ):
            fails()


def test_what_is_no_folder_store_is_refused(tmp_path: Path) -> None:
    """Addresses, other shards, nothing at all, the same one twice, and folders that are stores themselves."""
    first = make_store(tmp_path / "first", [A])
    create_shards(tmp_path / "some", [first])
    with pytest.raises(InputError, match="expected folders that are one store each"):
        create_shards(tmp_path / "x", ["bolt://localhost:7687"])
    with pytest.raises(InputError, match="expected folders that are one store each"):
        create_shards(tmp_path / "x", [tmp_path / "some"])
    with pytest.raises(StoreNotFoundError):
        create_shards(tmp_path / "x", [tmp_path / "nothing"])
    with pytest.raises(InputError, match="expected 1 to 256 shards, got 0 stores and 0 new ones"):
        create_shards(tmp_path / "x")
    with pytest.raises(InputError, match="expected different stores"):
        create_shards(tmp_path / "x", [first, tmp_path / "some" / ".." / "first"])
    for taken in (first, tmp_path / "some"):
        with pytest.raises(StoreError, match="expected a folder that is no store yet"):
            create_shards(taken, new=1)
    assert not (tmp_path / "x").exists()


def test_a_folder_may_stand_for_other_stores_when_that_is_asked_for(tmp_path: Path) -> None:
    """The decision on the fusion stays."""
    first, second = make_store(tmp_path / "first", [A]), make_store(tmp_path / "second", [B])
    create_shards(tmp_path / "some", [first])
    with open_shards(tmp_path / "some") as store:
        store.set_fusion_decision("kept")
    create_shards(tmp_path / "some", [first, second], new=1, replace=True)
    manifest = read_manifest(tmp_path / "some")
    assert manifest.shards == ("../first", "../second", "shard-1")
    assert manifest.fusion == "kept"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 1, "shards": []}',
        '{"format": 1, "shards": [1]}',
        '{"format": 9, "shards": ["a"]}',
    ],
)
def test_a_file_that_names_no_shards_is_refused(tmp_path: Path, text: str) -> None:
    """With its path and what was expected."""
    (tmp_path / FILE).write_text(text)
    with pytest.raises(StoreFormatError, match=FILE):
        open_store(tmp_path)


def test_what_fails_to_split_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No shard and no folder; the store is as it was. Nor is anything written over."""
    whole = make_store(tmp_path / "whole", [A, B], embed=True)

    def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedStore, "put_sentences", fail)
        with pytest.raises(StoreError, match="disk is full"):
            split_store(whole, tmp_path / "parts", 2)
    assert not (tmp_path / "parts").exists()
    with pytest.raises(StoreError, match="new or empty folder"):
        split_store(whole, whole, 2)
    with pytest.raises(InputError, match="expected 1 to 256 shards, got 0"):
        split_store(whole, tmp_path / "parts", 0)
    with EmbeddedStore.open(whole) as store:
        store.set_links_pending(True)
    with pytest.raises(StoreError, match="was interrupted"):
        split_store(whole, tmp_path / "parts", 2)


def test_splitting_balances_passages_and_copies_what_is_embedded_only(tmp_path: Path) -> None:
    """Sentences that wait go on waiting."""
    pages = [graph(f"P{n}", [(f"text {m}", []) for m in range(3 if n == 0 else 1)]) for n in range(5)]
    whole = make_store(tmp_path / "whole", pages, embed=True)
    with EmbeddedStore.open(whole) as store:
        store.write([graph("P5", [("new text", [])])])
    split_store(whole, tmp_path / "parts", 2)
    with open_shards(tmp_path / "parts") as many:
        assert [len(shard.chunk_uris()) for shard in many.shards] == [4, 4]
        assert list(many.pending_texts()) == ["P5: new text", "P5"]
        assert [passage.text for passage in many.pending_sentences()] == ["new text"]


def test_shards_are_merged_by_splitting_into_one(tmp_path: Path) -> None:
    """Links by aliases that came later in another shard are resolved then; nothing waits to be embedded."""
    with new_shards(tmp_path / "parts", 2) as store:
        store.write([graph("War", [("god", ["Ares"])])])
        store.write([graph("Mars", [("red", [])], aliases=["Ares"])])
        embed_pending(store)
        assert store.cited(["War#chunk-1"]) == {"War#chunk-1": ["Ares"]}
    (merged,) = split_store(tmp_path / "parts", tmp_path / "merged", 1)
    with EmbeddedStore.open(merged) as one:
        assert one.cited(["War#chunk-1"]) == {"War#chunk-1": ["Mars"]}
        assert [page.uri for page in one.pages()] == ["Mars", "War"]
        assert one.info().to_embed == 0


def test_a_backup_of_shards_says_how(tmp_path: Path) -> None:
    """Each is backed up by itself."""
    new_shards(tmp_path / "store").close()
    with pytest.raises(InputError, match=r"back up each of them, and shards.json"):
        back_up(tmp_path / "store", tmp_path / "file")


def test_shards_without_vectors_are_searched_by_words(tmp_path: Path) -> None:
    """And get their vectors like any store."""
    with new_shards(tmp_path, 2) as store:
        assert store.embedder is None
        store.write([A, B])
        assert store.keyword_search(["b"], 5) == ["B#chunk-1"]
        embed_pending(store)
        assert store.embedder == IDENTITY
