"""The networks that ship with the package fit the program."""

from __future__ import annotations

from importlib.resources import as_file

import pytest

from tests.retrievers.world import SOLAR, ask, store_of
from trivium.embedding.manifest import manifest
from trivium.fusion.artefact import Artefact, load
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import artefacts, make_fusion
from trivium.retrievers.registry import RETRIEVERS, make_retrievers
from trivium.retrievers.signals import OWNERS, SignalSettings
from trivium.search.candidates import gather

SHIPPED = sorted(entry.name for entry in artefacts().iterdir())


@pytest.fixture(params=SHIPPED)
def artefact(request: pytest.FixtureRequest) -> Artefact:
    with as_file(artefacts() / request.param) as folder:
        return load(folder)


def test_there_is_one_for_each_of_the_programs_own_embedders() -> None:
    assert set(manifest()) - {"e5-small"} <= set(SHIPPED)  # which is there to be compared with


def test_it_was_trained_on_what_the_program_gathers(artefact: Artefact) -> None:
    """Every view, every signal with its owner, every number of the question."""
    table = gather(ask(store_of(SOLAR, {}), "Who found Phobos?"), make_retrievers(), signals=SignalSettings())
    layout = artefact.layout
    assert layout.retrievers == table.columns == RETRIEVERS
    assert set(layout.signals) == set(table.signals)
    assert dict(layout.owners) == dict(OWNERS)
    assert set(layout.question) == set(table.question)


def test_it_is_small_and_says_where_it_is_from(artefact: Artefact) -> None:
    """Under a megabyte, with its questions, its scores on those it had not seen, the gate's reasons and a card."""
    folder = artefacts() / artefact.embedder
    assert (folder / "README.md").is_file()
    assert sum(len(entry.read_bytes()) for entry in folder.iterdir()) < 1_000_000
    assert set(artefact.scores) == set(artefact.data) == set(artefact.gate["sets"])
    assert artefact.gate["because"]


def test_the_default_is_the_network_where_its_gate_is_open(artefact: Artefact) -> None:
    fusion = make_fusion("default", artefact.embedder)
    assert isinstance(fusion, NetworkFusion) is artefact.active


def test_baseline_and_contributions_add_up_to_the_score(artefact: Artefact) -> None:
    """Of real candidates, with the network that is used."""
    table = gather(ask(store_of(SOLAR, {}), "Who found Phobos?"), make_retrievers(), signals=SignalSettings())
    fused = artefact.fusion().fuse(table)
    rows = range(len(table.chunks))
    total = fused.baseline + fused.explain(rows).sum(axis=1)
    assert total == pytest.approx(fused.scores, abs=1e-3)
