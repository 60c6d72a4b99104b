"""A store gives the same material for synthetic questions whichever home it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.chat_model import ScriptedModel
from tests.fakes.memory_store import MemoryStore
from tests.synthetic.world import PAGES, hall, many
from trivium.graph.build_page_graph import build
from trivium.graph.protocols import GraphStore
from trivium.synthetic import plain
from trivium.synthetic.generate import generate
from trivium.synthetic.plain import PlainSampling, draw_passages
from trivium.synthetic.run_folder import Run
from trivium.synthetic.sample_bridges import Sampling, draw


def test_bridges_are_drawn_alike_and_a_run_goes_on_in_another_home(store: GraphStore, tmp_path: Path) -> None:
    """The same entities, passages and names in one order, in batches and by weight; the same contents elsewhere are the
    same store to a run."""
    graphs = [*map(build, PAGES), *many(20).page_graphs()]
    twin = MemoryStore()
    for home in (store, twin):
        home.write(graphs)
    everything = draw(store, Sampling())
    assert len(everything) == 21 and hall() in everything
    for sampling in (Sampling(), Sampling(entities=15, seed=3, sources=2)):
        assert draw(store, sampling) == draw(twin, sampling)
    run, sampling = Run(tmp_path), Sampling(entities=3)
    generate(run, twin, ScriptedModel("no"), sampling)
    again = ScriptedModel("never asked")
    generate(run, store, again, sampling)
    assert again.asked == [] and len(run.written.records()) == 3


def test_passages_for_plain_questions_are_drawn_alike(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same passages in one order, in whichever home, and fewer are the first of more."""
    monkeypatch.setattr(plain, "_LEAST_TOKENS", 10)
    graphs = [*map(build, PAGES), *many(5).page_graphs()]
    twin = MemoryStore()
    for home in (store, twin):
        home.write(graphs)
    drawn = draw_passages(store, PlainSampling(chunks=50, seed=4))
    assert drawn == draw_passages(twin, PlainSampling(chunks=50, seed=4))
    assert len(drawn) == len({one.uri for one in drawn}) == 13
    assert draw_passages(store, PlainSampling(chunks=3, seed=4)) == drawn[:3]
