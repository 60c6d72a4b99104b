"""A store over a source of truth: what the contract of all stores does not say."""

from __future__ import annotations

from tests.contract.graphs import embed_pending, graph, unit
from tests.fakes.dict_store import DictSource
from trivium.graph.schema import Label
from trivium.graph.source_store import SourceStore


def test_a_pinned_store_keeps_its_state_and_others_see_the_change() -> None:
    """Also a store over the same source that did not make it."""
    source = DictSource()
    store, other = SourceStore(source), SourceStore(source)
    store.write([graph("Mars", [("red planet", [])])])
    embed_pending(store)
    with other.pinned() as view:
        store.write([graph("Sun", [("red star", [])])])
        assert view.keyword_search(["red"], 9) == view.chunk_uris() == ["Mars#chunk-1"]
        assert (
            sorted(other.keyword_search(["red"], 9)) == other.chunk_uris() == ["Mars#chunk-1", "Sun#chunk-1"]
        )
    (found,) = other.nearest([Label.PAGE], unit("Mars"), 9)
    assert found.uri == "Mars"


def test_a_vector_of_another_size_is_found_and_a_repair_makes_it_pending() -> None:
    source = DictSource()
    store = SourceStore(source)
    store.write([graph("Mars", [("red planet", [])])])
    embed_pending(store)
    assert store.checker().check() == []
    with source.writing():
        source.put_vectors("texts", {"Mars": b"1234"})
    (finding,) = store.checker().check()
    assert finding.where == ("Mars",)
    store.checker().repair([finding])
    assert store.checker().check() == []
    assert list(store.pending_texts()) == ["Mars"]
