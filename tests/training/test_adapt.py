"""Adapting a trained network with few questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.training.world import collection_of, hits_of
from trivium.datasets.cross_validation import apart
from trivium.errors import InputError
from trivium.fusion.artefact import Artefact
from trivium.fusion.hit_lists import HitList
from trivium.fusion.network import CLIP, Network
from trivium.training.adapt import PENALTY, adapted, base_of, crossfit_adapted
from trivium.training.fit import Added, corrected
from trivium.training.run import adapt_fusion
from trivium.training.settings import MOST
from trivium.training.training_data import Collection, Example, HitSet, examples_of

pytest.importorskip("scipy", reason="SciPy is not installed (the extra `train`)")


def base_for(collection: Collection, view: str = "vector") -> Artefact:
    """Two networks of two layers that rank by one view."""
    layout = collection.layout
    width = len(layout.columns)
    first = np.zeros((2, width, 2), np.float32)
    place = [name for name, _ in layout.columns].index(f"standard {view}")
    first[:, place] = 1, -1
    last = np.array([[[1], [-1]], [[2], [-2]]], np.float32)
    layers = ((first, np.zeros((2, 2), np.float32)), (last, np.ones((2, 1), np.float32)))
    network = Network(np.full(width, 0.5, np.float32), np.full(width, 2, np.float32), layers)
    settings = {"hidden": (2,), "members": 2}
    return Artefact(network, layout, collection.embedder, settings=settings)


def test_what_is_added_to_the_score_is_a_sum_of_the_first_features() -> None:
    """Clipped as the network's own features are."""
    collection = collection_of(6)
    network = base_for(collection).network
    weights = np.array([0.5, -2.0, 1.5])
    rows = np.random.default_rng(0).normal(0, 9, (40, len(collection.layout.columns)))
    scaled = np.clip((rows - 0.5) / 2, -CLIP, CLIP)[:, :3]
    expected = 0.25 * network.logits(rows) + scaled @ weights
    assert corrected(network, 0.25, Added(weights.tolist())).logits(rows) == pytest.approx(expected, rel=1e-5)


def test_what_is_added_fades_by_a_feature_that_the_layers_do_not_see() -> None:
    """The sum is brought nearer to 0 by the rate times the feature itself, and to 0 if it is no larger than that."""
    collection = collection_of(6)
    network = base_for(collection).network
    share = len(collection.layout.views)
    added = Added([0.5, -2.0, 1.5], share, 3.0)
    rows = np.random.default_rng(0).normal(0, 2, (200, len(collection.layout.columns) + 1))
    rows[:, share] = np.random.default_rng(1).choice([0, 0.1, 1], 200)
    seen = added.hidden_from(Example(rows, np.zeros(200, dtype=bool), 1.0)).rows
    total = network.scaled(seen)[:, :3] @ added.weights
    expected = network.logits(seen) + np.sign(total) * np.maximum(abs(total) - 3 * rows[:, share], 0)
    assert added.to(network).logits(rows) == pytest.approx(expected, abs=1e-4)
    assert (expected != network.logits(seen))[rows[:, share] == 0].all()


def slow_loss(base: Artefact, examples: list[Example], factor: float, weights: np.ndarray) -> float:
    """The loss as its docstring says it, candidate by candidate."""
    total = PENALTY * ((factor - 1) ** 2 + float(weights @ weights))
    for example in examples:
        scores = corrected(base.network, factor, Added(weights.tolist())).logits(
            example.rows.astype(np.float64)
        )
        others = np.logaddexp.reduce(scores[~example.gold])
        total += example.weight * float(np.mean(np.logaddexp(0, others - scores[example.gold])))
    return total


def test_the_weights_have_the_smallest_loss() -> None:
    """Of a question with two gold candidates and one with half the weight; no step away makes it smaller."""
    collection = collection_of(12)
    base = base_for(collection)
    examples = examples_of(collection)
    two = examples[0].gold.copy()
    two[:2] = True
    examples = [Example(examples[0].rows, two, 1.5), Example(examples[1].rows, examples[1].gold, 0.5)]
    found = adapted(base, examples)
    weights = found.layers[0][0][0, : len(collection.layout.views), -2].astype(np.float64)
    factor = float(found.layers[1][0][0, 0, 0]) / float(base.network.layers[1][0][0, 0, 0])
    least = slow_loss(base, examples, factor, weights)
    assert least < slow_loss(base, examples, 1.0, np.zeros_like(weights)) - 0.01
    for step in (0.02, -0.02):
        assert least < slow_loss(base, examples, factor + step, weights)
        for place in range(len(weights)):
            moved = weights.copy()
            moved[place] += step
            assert least < slow_loss(base, examples, factor, moved)


def test_a_collection_where_another_view_is_right_is_learnt_from_few_questions() -> None:
    """The base ranks by a view that says nothing; it is judged on pages that the adaptation has not seen."""
    generator = np.random.default_rng(3)
    hits = tuple(_where_lexical_is_right(hit, generator) for hit in hits_of(180))
    collection = Collection((HitSet("mine", hits, "0" * 64),), "minilm")
    outcome = adapt_fusion(collection, base_for(collection, "walk"), 3)
    scores = outcome.artefact.scores["mine"]
    assert scores["shipped"]["hit@1"] < 0.5 < 0.9 < scores["network"]["hit@1"]
    assert outcome.gate.active and "the network that ships" in outcome.gate.because
    assert outcome.artefact.layout == collection.layout


def test_noise_changes_little_and_is_not_taken() -> None:
    collection = collection_of(60, signal=0.0)
    outcome = adapt_fusion(collection, base_for(collection), 3)
    assert not outcome.gate.active


def test_a_question_is_scored_by_a_network_that_saw_none_of_its_pages() -> None:
    """Also where questions share pages with so many others that they are all joined."""
    hits = hits_of(12)
    chain = [(f"Page {n}", f"Page {(n + 1) % 12}") for n in range(12)]
    hits = tuple(replace(hit, pages=pages) for hit, pages in zip(hits, chain, strict=True))
    collection = Collection((HitSet("mine", hits, "0" * 64),), "minilm")
    base, examples = base_for(collection), examples_of(collection)
    fitted = crossfit_adapted(base, examples, collection.pages, 3)
    assert sorted(set(fitted.fold.tolist())) == [0, 1, 2]
    for place, fold in enumerate(fitted.fold.tolist()):
        seen = apart(collection.pages, fitted.fold == fold)
        assert not any(seen[other] for other in range(12) if set(chain[other]) & set(chain[place]))
        network = adapted(base, [example for example, one in zip(examples, seen, strict=True) if one])
        expected = network.logits(examples[place].rows.astype(np.float64))
        assert fitted.logits[place] == pytest.approx(expected)


def test_what_ships_is_adapted_where_it_fits_and_questions_are_few() -> None:
    """Made-up hit lists have other columns than the networks that ship."""
    collection = collection_of(12)
    assert base_of(collection, None) is None and base_of(collection, False) is None
    with pytest.raises(InputError, match="no network to adapt for minilm"):
        base_of(collection, True)
    many = replace(collection, sets=(HitSet("mine", hits_of(3) * (MOST // 3 + 1), "0" * 64),))
    assert base_of(many, None) is None


def _where_lexical_is_right(hit: HitList, generator: np.random.Generator) -> HitList:
    raw = generator.normal(0, 1, hit.table.raw.shape)
    raw[hit.gold >= 0, 1] = 4
    return replace(hit, table=replace(hit.table, raw=raw))
