"""A trained network gets the numbers that it was trained on, whatever the defaults of this program are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.search.test_counted_work import QUESTIONS, page
from trivium.engine import Engine
from trivium.errors import FusionError
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import make_fusion, shipped, shipped_for
from trivium.retrievers.diffusion import DiffusionSettings
from trivium.retrievers.lexical import BM25Settings, LexicalSettings
from trivium.retrievers.path import MatchSettings, PathSettings
from trivium.retrievers.signals import WordSettings
from trivium.retrievers.vector_retrievers import EntitySettings, PageSettings, SectionSettings
from trivium.retrievers.walk import WalkSettings
from trivium.search.fuse import Inputs, inputs_of
from trivium.testing.toys import HashEmbedder

SETTINGS: tuple[type, ...] = (
    BM25Settings,
    DiffusionSettings,
    EntitySettings,
    Inputs,
    LexicalSettings,
    MatchSettings,
    PageSettings,
    PathSettings,
    SectionSettings,
    WalkSettings,
    WordSettings,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stores") / "store"
    with Engine.create(folder, HashEmbedder()) as engine:
        engine.store.write([page(number) for number in range(120)])
        engine.indexer.embed()
    return folder


def found(store: Path, fusion: NetworkFusion) -> list[list[tuple[str, float]]]:
    with Engine.open(store, embedder=HashEmbedder(), fusion=fusion) as engine:
        return [[(hit.uri, hit.score) for hit in engine.search(question)] for question in QUESTIONS]


def trained(embedder: str = "bge-small", names: bool = False) -> NetworkFusion:
    fusion = make_fusion("network", embedder, names=names)
    assert isinstance(fusion, NetworkFusion)
    return fusion


def other(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return value + 1 if isinstance(value, int) else value * 0.9


@pytest.mark.parametrize(("embedder", "names"), shipped_for())
def test_a_changed_default_changes_no_shipped_score(
    embedder: str, names: bool, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fusion = trained(embedder, names)
    assert inputs_of(fusion) == Inputs(), "a default has changed: the network keeps what it was trained with"
    before, without = found(store, fusion), replace(fusion, inputs={})
    for settings in SETTINGS:
        made: Any = settings.__init__
        monkeypatch.setattr(made, "__defaults__", tuple(map(other, made.__defaults__ or ())))
    assert Inputs() != inputs_of(fusion)
    assert found(store, fusion) == before
    assert found(store, without) != before


@pytest.mark.parametrize(("embedder", "names"), shipped_for())
def test_an_artefact_keeps_every_setting(embedder: str, names: bool) -> None:
    artefact = shipped(embedder, names)
    assert artefact is not None
    assert artefact.inputs == json.loads(json.dumps(Inputs().values))


def test_the_settings_of_an_engine_come_before_those_of_a_network(store: Path) -> None:
    fusion = replace(trained(), inputs={**trained().inputs, "retrievers.lexical.bm25.k1": 2.0})
    with Engine.open(store, embedder=HashEmbedder(), fusion=fusion) as engine:
        retrievers = engine.searcher.retrievers
        of_network = retrievers.choose(["lexical"], inputs=inputs_of(fusion))
        named = retrievers.choose(["lexical"], {"lexical.bm25.k1": 3}, inputs_of(fusion))
        for chosen, k1 in ((of_network, 2.0), (named, 3.0), (retrievers.choose(["lexical"]), 0.9)):
            assert chosen["lexical"].settings.bm25.k1 == k1  # type: ignore[attr-defined]


def test_inputs_that_this_program_has_not_are_told() -> None:
    with pytest.raises(FusionError, match=r"has other inputs than this program.*train it again"):
        inputs_of(replace(trained(), inputs={"signals.words.nearest": 4}))
