"""Several shards answer every read as one store with the same documents does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.contract.graphs import embed_pending, graph, pages, unit
from tests.contract.state import state_of
from tests.graph.sharded.stores import new_shards, open_shards
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.model import PageGraph
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import Hop, Label
from trivium.graph.shards import split_store

_OF_EACH = ("pending", "embedded", "pending_sentences")
"""What is waiting is so in each shard, in its order."""
_AS_WRITTEN = ("graphs", "embedded")
"""Splitting writes links as what they lead to."""
_plain = pages.map(lambda page: replace(page, aliases=()))
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without shrinking: stores are made for each example."""
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.lists(_plain, min_size=1, max_size=4)),
        st.tuples(st.just("delete"), st.lists(st.sampled_from(("A", "B", "a")), min_size=1, max_size=2)),
        st.tuples(st.just("embed"), st.none()),
    ),
    min_size=1,
    max_size=6,
)


def _carry_out(store: GraphStore, action: str, argument: Any) -> object:
    if action == "write":
        return replace(store.write(argument), skipped=())
    if action == "delete":
        return store.delete(argument)
    embed_pending(store)
    return None


def _state(store: GraphStore, without: tuple[str, ...]) -> dict[str, Any]:
    return {name: answer for name, answer in state_of(store).items() if name not in without}


@given(_steps)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=_PHASES)
def test_shards_answer_as_one_store_after_any_history(steps: list[tuple[str, Any]]) -> None:
    """Of pages that cite one another and have no aliases: graph, words, vectors, and searches to 6 digits."""
    with (
        TemporaryDirectory() as name,
        EmbeddedStore.create(Path(name) / "one") as one,
        new_shards(Path(name) / "many") as many,
    ):
        for action, argument in [*steps, ("embed", None)]:
            assert _carry_out(many, action, argument) == _carry_out(one, action, argument)
        assert sorted(many.pending_texts()) == sorted(one.pending_texts()) == []
        assert _state(many, _OF_EACH) == _state(one, _OF_EACH)
        with many.pinned() as pinned:
            assert pinned.adjacency().indices.tolist() == one.adjacency().indices.tolist()


@given(st.lists(pages, min_size=2, max_size=8), st.integers(2, 4))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=_PHASES)
def test_a_split_store_answers_as_the_whole_one(written: list[PageGraph], into: int) -> None:
    """With aliases, types and vectors: nothing waits to be embedded, and who cites whom is the same."""
    with TemporaryDirectory() as name:
        whole, parts = Path(name) / "whole", Path(name) / "parts"
        with EmbeddedStore.create(whole) as one:
            one.write(written)
            one.set_types({"A": "x", "b": "y"})
            embed_pending(one)
            split_store(whole, parts, into)
            with open_shards(parts) as many:
                assert many.info().to_embed == 0
                mine, theirs = _state(many, _AS_WRITTEN), _state(one, _AS_WRITTEN)
                for facts in (mine, theirs):
                    facts["relationships"].pop("semantic_rel")  # what two shards state counts twice
                assert mine == theirs


def test_texts_of_several_shards_wait_once(tmp_path: Path) -> None:
    """A title that pages of two shards cite is embedded once, and both get the vector."""
    with new_shards(tmp_path, 2) as store:
        store.write([graph("A", [("a", ["Sun"])]), graph("B", [("b", ["Sun"])])])
        pending = store.pending_texts()
        assert sorted(pending) == ["A", "A: a", "B", "B: b", "Sun"]
        assert len(pending) == 5
        embed_pending(store)
        assert all(len(shard.pending_texts()) == 0 for shard in store.shards)
        assert np.array_equal(store.vectors(Label.ENTITY, ["Sun"])[0], unit("Sun"))


def test_one_entity_of_two_shards_is_one_neighbour_and_leads_to_both(tmp_path: Path) -> None:
    """And counts once among the nearest."""
    with new_shards(tmp_path, 2) as store:
        store.write([graph("A", [("a", ["Sun", "X"])]), graph("B", [("b", ["Sun"])])])
        embed_pending(store)
        near = store.nearest([Label.ENTITY], unit("Sun"), 2)
        assert near[0].uri == "Sun" and near[1].uri != "Sun"
        found = store.expand_nearest([Label.ENTITY], unit("Sun"), 1, Hop.CITED_IN, None)
        assert {chunk.uri for chunk in found} == {"A#chunk-1", "B#chunk-1"}
        assert {chunk.source_node for chunk in found} == {"Sun"}


def test_document_frequencies_are_those_of_all_shards(tmp_path: Path) -> None:
    """By hand: three chunks of 2, 3 and 4 terms with their headings; one term is in all of them, one in two."""
    with new_shards(tmp_path, 3) as store:
        store.write(
            [graph("A", [("red", [])]), graph("B", [("red moon", [])]), graph("C", [("red red moon", [])])]
        )
        statistics = store.term_statistics(["red", "moon", "none"])
        assert statistics.chunks == 3
        assert statistics.document_frequency.tolist() == [3, 2, 0]
        assert statistics.mean_length == (2 + 3 + 4) / 3
