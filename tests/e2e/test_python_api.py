"""The Python door: the same answers as the command line, with types."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import trivium
from trivium.errors import (
    ConfigurationError,
    EmbedderMismatchError,
    FusionError,
    InputError,
    StoreError,
    StoreNotFoundError,
)
from trivium.fusion.artefact import Artefact, save
from trivium.fusion.features import Layout
from trivium.fusion.network import Network
from trivium.retrievers.registry import RETRIEVERS
from trivium.retrievers.signals import OWNERS

QUESTIONS = ["Who discovered the moons of Mars?", "largest volcano in the Solar System", "lute player"]


@pytest.fixture(scope="module")
def engine(sample_store: Path) -> Iterator[trivium.Engine]:
    with trivium.Engine.open(sample_store) as opened:
        yield opened


def test_a_trained_fusion_ranks_and_explains_itself(engine: trivium.Engine, tmp_path: Path) -> None:
    """From its folder, by its name; what the retrievers contributed is the score."""
    layout = Layout(
        retrievers=RETRIEVERS,
        signals=tuple(OWNERS),
        owners=OWNERS,
        logarithmic=("walk",),
        gaps=("entity",),
        question=("terms", "asks"),
    )
    generator = np.random.default_rng(5)
    width = len(layout.columns)
    layers = tuple(
        (generator.normal(size=(1, a, b)).astype(np.float32), np.zeros((1, b), np.float32))
        for a, b in pairwise((width, 8, 1))
    )
    one = np.ones(width, np.float32)
    save(Artefact(Network(one, one, layers), layout, engine.embedder.identity.name), tmp_path)
    hits = engine.search(QUESTIONS[0], k=5, fusion=str(tmp_path), explain=True)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.baseline + sum(hit.contributions.values()) == pytest.approx(hit.score, rel=1e-4, abs=1e-3)
    assert set(hits[0].contributions) == set(RETRIEVERS)
    assert hits != engine.search(QUESTIONS[0], k=5)


def test_a_longer_list_begins_with_the_shorter_one(engine: trivium.Engine) -> None:
    """With the same scores, probabilities and explanations, however many hits are asked for."""
    for question in QUESTIONS:
        longest = engine.search(question, k=1000, explain=True)
        for k in (3, 30, 250):
            assert engine.search(question, k=k, explain=True) == longest[:k]
        assert len(longest) == engine.info().nodes["Chunk"]
        falling = [hit.score for hit in longest]
        assert falling == sorted(falling, reverse=True)


def test_a_hit_has_a_probability_where_scores_are_calibrated(engine: trivium.Engine) -> None:
    """The sigmoid of the trained network's score; no other fusion and no single retriever promises one."""
    for hit in engine.search(QUESTIONS[0], k=50):
        assert hit.probability == pytest.approx(1 / (1 + math.exp(-hit.score)), rel=1e-5)
        assert 0 <= hit.probability <= 1
    for others in ({"fusion": "convex"}, {"fusion": "rrf"}, {"retrievers": ["vector"]}):
        assert {hit.probability for hit in engine.search(QUESTIONS[0], **others)} == {None}


def test_a_write_while_a_question_is_answered_is_not_seen(
    sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that a retriever found are removed before the next one is asked: the hits are those of the state before."""
    folder = tmp_path / "store"
    shutil.copytree(sample_store, folder)
    with trivium.Engine.open(folder) as engine:
        before = engine.search(QUESTIONS[0], k=5)
        entity, removed = type(engine.searcher.retrievers.choose()["entity"]), []
        retrieve = entity.retrieve

        def removing(*given: object) -> object:
            if not removed:
                removed.extend(engine.store.delete([hit.page for hit in before]))
                engine.store.refresh()
            return retrieve(*given)

        monkeypatch.setattr(entity, "retrieve", removing)
        assert engine.search(QUESTIONS[0], k=5) == before
        assert removed
        assert not {hit.page for hit in before} & {hit.page for hit in engine.search(QUESTIONS[0], k=5)}


def test_exact_search_on_a_small_store_changes_nothing(engine: trivium.Engine) -> None:
    for question in QUESTIONS:
        assert engine.search(question, exact=True) == engine.search(question)


def test_a_fusion_of_one_view_keeps_its_order(engine: trivium.Engine) -> None:
    """Standardising is monotonous, so only ties may move."""
    for question in QUESTIONS:
        alone = engine.search(question, retrievers=["vector"], k=10)
        fused = engine.search(question, retrievers=["vector"], fusion="convex", k=10)
        assert [hit.uri for hit in fused] == [hit.uri for hit in alone]


def test_contributions_are_there_only_when_asked_for(engine: trivium.Engine) -> None:
    assert not engine.search(QUESTIONS[0])[0].contributions
    assert len(engine.search(QUESTIONS[0], explain=True)[0].contributions) == 8


def test_wrong_arguments_are_named(engine: trivium.Engine) -> None:
    with pytest.raises(InputError, match="unknown retriever"):
        engine.search("x", retrievers=["telepathy"])
    for asks in (engine.search, engine.ask):
        with pytest.raises(InputError, match="at least one retriever"):
            asks("x", retrievers=[])
    with pytest.raises(FusionError, match="unknown fusion"):
        engine.search("x", fusion="cold")
    with pytest.raises(InputError, match="question"):
        engine.search("\n")
    with pytest.raises(InputError, match="k must be"):
        engine.search("x", k=0)
    with pytest.raises(InputError, match="no such page"):
        engine.remove(["Vulcan"])


@pytest.mark.parametrize(
    "hostile", ["'; DROP TABLE chunk; --", "(((", 'a"b~/\\*?:^', "\x00\x07", "月" * 3000, "the of and"]
)
def test_hostile_questions_are_only_questions(engine: trivium.Engine, hostile: str) -> None:
    before = engine.info()
    engine.search(hostile)
    assert engine.info() == before


def test_stores_that_cannot_be_opened(tmp_path: Path, sample_store: Path) -> None:
    with pytest.raises(StoreNotFoundError):
        trivium.Engine.open(tmp_path / "nowhere")
    with pytest.raises(StoreError, match=r"no Neo4j server answers at bolt://127.0.0.1:1 .*make neo4j"):
        trivium.Engine.open("bolt://127.0.0.1:1")
    with pytest.raises(ConfigurationError, match="expected the address of a Neo4j server"):
        trivium.Engine.open("postgres://localhost/wiki")
    with pytest.raises(ConfigurationError, match="NEO4J_PASSWORD"):
        trivium.Engine.open("bolt://neo4j:secret@localhost")
    with pytest.raises(EmbedderMismatchError, match="filled by minilm"):
        trivium.Engine.open(sample_store, embedder="bge-small")


def test_another_version_of_the_embedder_is_refused(
    tmp_path: Path, sample_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of two versions do not mix, even when the name is the same."""
    from dataclasses import replace

    from trivium.embedding.onnx import OnnxEmbedder

    identity = OnnxEmbedder("minilm").identity
    monkeypatch.setattr(OnnxEmbedder, "identity", replace(identity, version="other"))
    store = shutil.copytree(sample_store, tmp_path / "store")
    with trivium.Engine.open(store) as engine, pytest.raises(EmbedderMismatchError, match="version other"):
        engine.search("x")
