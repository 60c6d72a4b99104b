"""The networks that ship with the package fit the program."""

from __future__ import annotations

import pytest

from tests.retrievers.world import SOLAR, ask, store_of
from trivium.embedding.manifest import manifest
from trivium.fusion.artefact import Artefact
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import artefacts, make_fusion, shipped, shipped_for
from trivium.retrievers.registry import RETRIEVERS, make_retrievers
from trivium.retrievers.signals import LINKED, OWNERS, SignalSettings
from trivium.search.candidates import gather

Shipped = tuple[str, bool]
"""An embedder, and whether the network is for stores with names."""


@pytest.fixture(params=shipped_for())
def which(request: pytest.FixtureRequest) -> Shipped:
    found: Shipped = request.param
    return found


@pytest.fixture
def artefact(which: Shipped) -> Artefact:
    found = shipped(*which)
    assert found is not None
    return found


def test_there_are_two_for_each_of_the_programs_own_embedders() -> None:
    """One of them for stores in which names in texts are entities."""
    embedders = set(manifest()) - {"e5-small"}  # which is there to be compared with
    assert {(embedder, names) for embedder in embedders for names in (False, True)} <= set(shipped_for())


def test_it_was_trained_on_what_the_program_gathers(which: Shipped, artefact: Artefact) -> None:
    """Every view, every signal with its owner, every number of the question. All but one were trained before what is
    added to them faded, and that of MiniLM for stores without names before there were signals of what passages share and
    of titles."""
    table = gather(ask(store_of(SOLAR, {}), "Who found Phobos?"), make_retrievers(), signals=SignalSettings())
    layout = artefact.layout
    assert layout.retrievers == table.columns == RETRIEVERS
    early = which == ("minilm", False)
    later = {name for name in OWNERS if name.startswith(("sharing", "title")) and early}
    assert set(layout.signals) == set(table.signals) - later
    assert dict(layout.owners) == {name: owner for name, owner in OWNERS.items() if name not in later}
    fades = which == ("bge-small", True)
    assert set(layout.question) == set(table.question) - (set() if fades else {LINKED})


def test_it_is_small_and_says_where_it_is_from(which: Shipped, artefact: Artefact) -> None:
    """Under a megabyte, with its questions, its scores on those it had not seen, the gate's reasons and a card."""
    embedder, names = which
    assert artefact.embedder == embedder
    folder = artefacts() / (embedder + "-names" * names)
    assert (folder / "README.md").is_file()
    assert sum(len(entry.read_bytes()) for entry in folder.iterdir()) < 1_000_000
    assert set(artefact.scores) == set(artefact.data) == set(artefact.gate["sets"])
    assert artefact.gate["because"]


def test_the_default_is_the_network_where_its_gate_is_open(which: Shipped, artefact: Artefact) -> None:
    fusion = make_fusion("default", which[0], names=which[1])
    assert isinstance(fusion, NetworkFusion) is artefact.active


def test_baseline_and_contributions_add_up_to_the_score(artefact: Artefact) -> None:
    """Of real candidates, with the network that is used."""
    table = gather(ask(store_of(SOLAR, {}), "Who found Phobos?"), make_retrievers(), signals=SignalSettings())
    fused = artefact.fusion().fuse(table)
    rows = range(len(table.chunks))
    total = fused.baseline + fused.explain(rows).sum(axis=1)
    assert total == pytest.approx(fused.scores, abs=1e-3)
