"""Where documents go, and what a change of one shard leaves as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.graphs import embed_pending, graph
from tests.graph.sharded.stores import make_store, new_shards, open_shards
from trivium.errors import StoreError, StoreNotFoundError
from trivium.graph.schema import Hop
from trivium.graph.shards import create_shards


def test_new_documents_go_to_the_shard_with_the_fewest_and_replaced_ones_stay(tmp_path: Path) -> None:
    """Within a load, too; the first of equal ones."""
    with new_shards(tmp_path, 2) as store:
        store.write([graph(name, [(name, [])]) for name in "ABC"])
        first, second = store.shards
        assert [page.uri for page in first.pages()] == ["A", "C"]
        assert [page.uri for page in second.pages()] == ["B"]
        report = store.write([graph("A", [("other", [])]), graph("D", [("d", [])]), graph("C", [("C", [])])])
        assert (report.added, report.replaced, report.unchanged) == (1, 1, 1)
        assert [page.uri for page in first.pages()] == ["A", "C"]
        assert [page.uri for page in second.pages()] == ["B", "D"]
        assert store.delete(["D", "A", "nobody"]) == ["D", "A"]
        assert [page.uri for page in store.pages()] == ["B", "C"]


def test_a_change_leaves_the_other_shards_in_their_state(tmp_path: Path) -> None:
    """So that their arrays are not made anew, neither by the document nor by its vectors."""
    with new_shards(tmp_path, 2) as store:
        store.write([graph("A", [("a", ["X"])]), graph("B", [("b", ["Y"])])])
        embed_pending(store)
        before = [shard.state for shard in store.shards]
        store.write([graph("A", [("changed", ["X"])])])
        embed_pending(store)
        after = [shard.state for shard in store.shards]
        assert before[0] != after[0] and before[1] == after[1]


def test_a_pinned_and_a_frozen_store_stay_as_they_were(tmp_path: Path) -> None:
    """Whatever is written to a shard meanwhile; the store itself sees it at once."""
    with new_shards(tmp_path, 2) as store:
        store.write([graph("A", [("a", [])]), graph("B", [("b", [])])])
        embed_pending(store)
        frozen, state = store.frozen(2), store.state
        with frozen, store.pinned() as pinned:
            assert frozen.state == pinned.state == state
            store.write([graph("C", [("c", ["A"])])])
            for fixed in (frozen, pinned):
                assert [page.uri for page in fixed.pages()] == ["A", "B"]
                assert list(fixed.adjacency().chunks) == ["A#chunk-1", "B#chunk-1"]
        assert store.state != state
        assert list(store.adjacency().chunks) == ["A#chunk-1", "B#chunk-1", "C#chunk-1"]


def test_links_follow_the_aliases_of_other_shards_that_are_known(tmp_path: Path) -> None:
    """Stored as what they lead to, with their anchors; an alias of its own shard is stored as written."""
    with new_shards(tmp_path, 2) as store:
        store.write([graph("Mars", [("red", [])], aliases=["Ares"])])
        store.write([graph("War", [("god", ["Ares", "Mars", "Sun"])])])
        assert store.cited(["War#chunk-1"]) == {"War#chunk-1": ["Mars", "Sun"]}
        assert store.expand(["Mars"], Hop.CITED_IN) == {"Mars": ["War#chunk-1"]}
        assert "Ares" not in list(store.adjacency().entities)
        assert store.resolve(["Ares"]) == {"Ares": "Mars"}
        assert store.lookup_names(["ares"]) == {"ares": "Mars"}


def test_a_name_means_the_page_wherever_it_is(tmp_path: Path) -> None:
    """One shard knows a page by that name, another one only cites something else that is called so."""
    with new_shards(tmp_path, 2) as store:
        store.write([graph("A", [("a", ["Mercury (god)", "Mercury (metal)"])])])
        store.write([graph("Mercury (planet)", [("b", [])])])
        assert store.lookup_names(["mercury"]) == {"mercury": "Mercury (planet)"}


def test_the_decision_on_the_default_fusion_is_that_of_all(tmp_path: Path) -> None:
    """It is kept in the folder that stands for the shards, and they keep theirs."""
    with new_shards(tmp_path, 2) as store:
        store.shards[0].set_fusion_decision("own")
        store.set_fusion_decision("all")
    with open_shards(tmp_path) as again:
        assert again.fusion_decision == "all"
        assert again.shards[0].fusion_decision == "own"
        again.set_fusion_decision(None)
        assert again.fusion_decision is None


def test_a_document_that_comes_into_two_shards_later_is_found_out(tmp_path: Path) -> None:
    """Not returned twice: the search that would follow links says what to do."""
    first = make_store(tmp_path / "first", [graph("A", [("a", [])])], embed=True)
    second = make_store(tmp_path / "second", [graph("B", [("b", [])])], embed=True)
    create_shards(tmp_path / "both", [first, second])
    with open_shards(tmp_path / "both") as store:
        store.shards[1].write([graph("A", [("copy", [])])])
        with pytest.raises(
            StoreError, match=r"'A' in .*first and .*second:  trivium remove 'A' --store .*second"
        ):
            store.adjacency()
        store.shards[1].delete(["A"])
        assert list(store.adjacency().chunks) == ["A#chunk-1", "B#chunk-1"]


def test_a_shard_that_was_moved_away_is_named(tmp_path: Path) -> None:
    """Both folders moved together are found again."""
    with new_shards(tmp_path / "store", 2):
        pass
    moved = (tmp_path / "store").rename(tmp_path / "elsewhere")
    open_shards(moved).close()
    (moved / "shard-2").rename(tmp_path / "lost")
    with pytest.raises(
        StoreNotFoundError, match=r"no store at .*shard-2, which .*shards.json names as a shard"
    ):
        open_shards(moved)


def test_damage_is_found_in_the_shard_that_has_it_and_repaired_there(tmp_path: Path) -> None:
    """The finding says which one; after the repair there is none."""
    with new_shards(tmp_path, 2) as store:
        store.write([graph("A", [("a", [])]), graph("B", [("b", [])])])
        embed_pending(store)
        store.refresh()
        assert store.checker().check() == []
        (manifest,) = (tmp_path / "shard-2" / "index").glob("*/topology.npz")
        manifest.write_bytes(b"not arrays")
        (finding,) = store.checker().check()
        assert finding.problem.endswith(f"(in {tmp_path / 'shard-2'})")
        store.checker().repair([finding])
        store.refresh()
        assert store.checker().check() == []
