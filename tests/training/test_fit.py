"""Training with Keras: what is learnt, what is exported, and that it is the same every time."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.training.world import QUICK, collection_of, needs_tensorflow
from trivium.errors import ConfigurationError, InputError
from trivium.fusion.convex import load as load_convex
from trivium.fusion.hit_lists import HitList
from trivium.fusion.network import Network
from trivium.retrievers.signals import LINKED
from trivium.training import fit
from trivium.training.crossfit import crossfit, fit_all, stack
from trivium.training.fit import Added, train, validate
from trivium.training.run import added_after, start_of
from trivium.training.settings import Settings
from trivium.training.training_data import Example, examples_of

pytestmark = needs_tensorflow


def _examples(questions: int = 60, *, signal: float = 1.0) -> list[Example]:
    return examples_of(collection_of(questions, signal=signal))


def _same(one: Network, other: Network) -> bool:
    arrays = [[n.mean, n.deviation, *(a for layer in n.layers for a in layer)] for n in (one, other)]
    return all(a.tobytes() == b.tobytes() for a, b in zip(*arrays, strict=True))


@pytest.mark.parametrize("start", [(), (0.7,), (0.0, -1.2, 3.0)], ids=["none", "one", "three"])
@pytest.mark.parametrize(("width", "hidden"), [(5, (4,)), (104, (128, 64)), (3, ())])
def test_numpy_says_what_keras_says(width: int, hidden: tuple[int, ...], start: tuple[float, ...]) -> None:
    """In double precision on both sides, for networks of random numbers, also beyond where features are cut off. Keras's
    own single precision is off by more than 1e-5 where scores are large, by how much depends on the processor."""
    import keras

    numbers, policy = keras.config.floatx(), keras.config.dtype_policy()
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    try:
        generator = np.random.default_rng(width)
        model = fit._model(keras, width, Settings(hidden=hidden), generator, start)
        model.set_weights([generator.normal(0, 0.2, w.shape) for w in model.get_weights()])
        mean = generator.normal(size=width).astype(np.float32)
        deviation = (0.5 + generator.random(width)).astype(np.float32)
        network = fit._network(model, mean, deviation, start)
        rows = generator.normal(0, 4, (300, width))
        scaled = np.clip((rows - mean) / deviation, -8, 8)
        expected = model(scaled[np.newaxis]).numpy()[0, :, 0]
    finally:
        keras.config.set_floatx(numbers)
        keras.config.set_dtype_policy(policy)
    # The start is kept in single precision.
    np.testing.assert_allclose(network.logits(rows), expected, atol=1e-6)


def test_three_hundred_candidates_take_no_time() -> None:
    """Scores of a network of the default shape over 104 features in a few milliseconds at most, at the best of some
    tries: the machine may be busy."""
    generator = np.random.default_rng(0)
    sizes = (104, *Settings().hidden, 1)
    layers = tuple(
        (generator.normal(size=(1, i, o)).astype(np.float32), np.zeros((1, o), np.float32))
        for i, o in pairwise(sizes)
    )
    network = Network(np.zeros(104, np.float32), np.ones(104, np.float32), layers)
    rows = generator.normal(size=(300, 104))
    times = []
    for _ in range(20):
        began = time.perf_counter()
        network.logits(rows)
        times.append(time.perf_counter() - began)
    assert min(times) < 0.01


def test_the_loss_by_hand() -> None:
    """Gold at 1 and 3 against another at 2: mean of log(1 + e^(2-1)) and log(1 + e^(2-3)); the best is gold."""
    one = np.float32
    network = Network(np.zeros(1, one), np.ones(1, one), ((np.ones((1, 1, 1), one), np.zeros((1, 1), one)),))
    example = Example(np.array([[1], [2], [3]], one), np.array([True, False, True]), 2.0)
    beaten = Example(np.array([[1], [2]], one), np.array([True, False]), 1.0)
    loss, hit = validate(network, [example, beaten])
    low, high = np.log1p(np.e), np.log1p(1 / np.e)
    assert loss == pytest.approx((2 * (low + high) / 2 + low) / 3, rel=1e-6)
    assert hit == pytest.approx(2 / 3)


def test_the_score_starts_from_the_first_columns() -> None:
    """A network that has learnt nothing ranks by their weighted sum."""
    examples = _examples()
    settings = Settings(hidden=(8,), epochs=1, rate=1e-9)
    rows = examples[0].rows.astype(np.float64)
    network = train(examples, (), settings, 0, start=(2e4, -1e4)).network
    sums = network.scaled(rows)[:, :2] @ [2, -1]
    assert np.argsort(network.logits(rows)).tolist() == np.argsort(sums).tolist()


def test_the_same_seed_gives_the_same_bytes_and_another_other_ones() -> None:
    """Whatever was drawn before."""
    import keras

    settings = Settings(hidden=(8,), epochs=3, members=1, folds=3)
    first = train(_examples(), (), settings, 1)
    np.random.default_rng().random(7)
    keras.utils.set_random_seed(99)
    assert _same(first.network, train(_examples(), (), settings, 1).network)
    assert not _same(first.network, train(_examples(), (), settings, 2).network)


def test_the_weights_of_the_best_watched_epoch_are_kept() -> None:
    """Not those of the last, which has learnt the noise by heart: training so many epochs and no more is the same."""
    examples = _examples(90, signal=0.2)
    settings = Settings(hidden=(32,), dropout=0.0, epochs=12, rate=0.1, members=1, folds=3)
    trained = train(examples[:60], examples[60:], settings, 0)
    losses = [epoch.validation_loss for epoch in trained.history]
    assert len(losses) == 12
    assert trained.epochs == 1 + int(np.argmin(np.array(losses)))
    assert trained.epochs < 12
    again = train(examples[:60], (), settings, 0, epochs=trained.epochs)
    assert _same(trained.network, again.network)
    assert validate(trained.network, examples[60:])[0] == pytest.approx(
        min(loss for loss in losses if loss is not None)
    )


def test_several_networks_average_their_scores() -> None:
    """Members differ in their seed."""
    examples = _examples()
    settings = Settings(hidden=(8,), epochs=2, members=2, seed=3)
    both = fit_all(examples, settings, 2)
    rows = examples[0].rows.astype(np.float64)
    alone = [fit_all(examples, replace(settings, members=1, seed=seed), 2) for seed in (3, 4)]
    np.testing.assert_allclose(
        both.logits(rows), (alone[0].logits(rows) + alone[1].logits(rows)) / 2, atol=1e-6
    )
    assert _same(both, stack(alone))


def test_what_is_added_after_training_adds_to_the_scores() -> None:
    """So many times the standardised first features, to those of the whole and of the folds."""
    collection = collection_of(60)
    examples = examples_of(collection)
    plain, more = (fit_all(examples, QUICK, 2, added=Added(added)) for added in ((), (0.5, 2.0)))
    rows = examples[0].rows.astype(np.float64)
    expected = plain.logits(rows) + plain.scaled(rows)[:, :2] @ [0.5, 2.0]
    np.testing.assert_allclose(more.logits(rows), expected, atol=1e-4)
    folds = [
        crossfit(examples, collection.pages, QUICK, added=Added(added)).logits[0] for added in ((), (0.5,))
    ]
    assert not np.allclose(*folds)


def test_the_convex_combination_and_the_years_of_titles_are_added() -> None:
    """Each retriever by its weight in the shipped combination, the signal by its own, other signals not at all."""
    collection = collection_of(60)
    weights = load_convex(collection.embedder).weights
    added = dict(
        zip(
            collection.layout.views,
            added_after(collection, replace(QUICK, convex=2.0, title_time=0.7)).weights,
            strict=True,
        )
    )
    for view, weight in added.items():
        assert weight == pytest.approx(0.7 if view == "title_time" else 2 * weights.get(view, 0.0))
    assert any(added.values())
    start = dict(zip(collection.layout.retrievers, start_of(collection, QUICK), strict=True))
    assert start == pytest.approx({name: QUICK.start * weights.get(name, 0.0) for name in start})


def test_how_many_candidates_are_linked_fades_what_is_added_and_nothing_else() -> None:
    """Networks trained on questions whose candidates are linked in all, some or no cases are the same."""
    plain = collection_of(60)
    shares = dict(zip((hit.question_id for hit in plain.hits), [0.0, 0.5, 1.0] * 20, strict=True))

    def linked(hit: HitList) -> HitList:
        share = shares[hit.question_id]
        return replace(hit, table=replace(hit.table, question={**hit.table.question, LINKED: share}))

    hit_set = replace(plain.sets[0], hits=tuple(linked(hit) for hit in plain.hits))
    collection = replace(plain, sets=(hit_set,))
    added = added_after(collection, replace(QUICK, fading=60.0))
    assert added.faded_by is not None
    assert collection.layout.columns[added.faded_by][0] == LINKED
    assert (
        added_after(plain, QUICK).faded_by
        is added_after(collection, replace(QUICK, hidden=())).faded_by
        is None
    )
    network = fit_all(examples_of(collection), QUICK, 2, added=replace(added, rate=0.0))
    for example in examples_of(collection)[:3]:
        rows = example.rows.astype(np.float64)
        other = rows.copy()
        other[:, added.faded_by] = 0.3
        assert network.logits(other) == pytest.approx(network.logits(rows), abs=1e-3)
    faded = fit_all(examples_of(collection), QUICK, 2, added=added)
    alone = fit_all(examples_of(collection), QUICK, 2, added=replace(added, weights=()))
    not_linked, half, all_linked = (
        example.rows.astype(np.float64) for example in examples_of(collection)[:3]
    )
    assert faded.logits(not_linked) == pytest.approx(network.logits(not_linked), abs=1e-3)
    for rows in (half, all_linked):
        assert faded.logits(rows) == pytest.approx(alone.logits(rows), abs=1e-3)
    assert not np.allclose(faded.logits(not_linked), alone.logits(not_linked), atol=0.1)


def test_a_network_sees_that_two_views_agree() -> None:
    """Out of fold it finds what neither view alone does; every question is scored once."""
    collection = collection_of(120)
    examples = examples_of(collection)
    fitted = crossfit(examples, collection.pages, QUICK)
    hits = [example.gold[np.argmax(own)] for example, own in zip(examples, fitted.logits, strict=True)]
    assert np.mean(hits) > 0.9
    assert not any(hit.gold[np.argmax(hit.table.raw[:, 0])] >= 0 for hit in collection.hits)
    assert sorted(set(fitted.fold.tolist())) == [0, 1, 2]
    folds_of: dict[str, set[int]] = {}
    for (page,), own in zip(collection.pages, fitted.fold.tolist(), strict=True):
        folds_of.setdefault(page, set()).add(own)
    assert all(len(own) == 1 for own in folds_of.values())


def test_what_cannot_be_learnt_from_is_refused() -> None:
    """No gold among the candidates, nothing but gold, and a rate at which numbers overflow."""
    rows = np.zeros((3, 2), np.float32)
    nothing = [Example(rows, np.zeros(3, bool), 1.0), Example(rows, np.ones(3, bool), 1.0)]
    with pytest.raises(InputError, match="nothing to learn from"):
        train(nothing, (), QUICK, 0)
    with pytest.raises(ConfigurationError, match="diverged in epoch"):
        train(_examples(), (), Settings(hidden=(8,), rate=1e30, epochs=4), 0)
