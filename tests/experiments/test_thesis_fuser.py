"""The fuser of the thesis: its columns, its network as plain numbers, its mining."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.training.world import collection_of, needs_tensorflow
from trivium.errors import ConfigurationError, InputError
from trivium.fusion.artefact import CARD, load
from trivium.fusion.features import counted, features
from trivium.fusion.hit_lists import HitFile, HitList, save_hits
from trivium.fusion.network import Network
from trivium.fusion.registry import make_fusion
from trivium.fusion.score_table import Table
from trivium.search.ranking import fused_ranking, own_ranking
from trivium.training.fit import Trained
from trivium.training.training_data import Collection, HitSet

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "thesis"))

import fuser as thesis
import negatives
from fuser_network import Sample, build, without_batch_norm
from fuser_settings import ThesisSettings

RETRIEVERS = ("vector", "page", "section", "entity", "path", "lexical")
THESIS = RETRIEVERS[:5]
QUICK = ThesisSettings(
    hidden=(32,),
    dropout=(0.1,),
    l2=1e-4,
    rate=2e-2,
    batch=32,
    epochs=25,
    sampling="share",
    mining="mixed",
    share=0.3,
    folds=2,
)


def _hit(number: int, returned: dict[str, dict[int, float]], candidates: int, gold: int) -> HitList:
    """A question with the scores of what each retriever returned, best first, and 9 for what it did not."""
    raw = np.full((candidates, len(RETRIEVERS)), 9.0)
    ranks = np.zeros(raw.shape, dtype=np.int64)
    for name, scores in returned.items():
        for rank, (row, score) in enumerate(sorted(scores.items(), key=lambda own: -own[1]), start=1):
            raw[row, RETRIEVERS.index(name)], ranks[row, RETRIEVERS.index(name)] = score, rank
    page = f"Page {number // 3}"
    table = Table(
        chunks=tuple(f"{page}#chunk-{number}-{row + 1}" for row in range(candidates)),
        columns=RETRIEVERS,
        raw=raw,
        ranks=ranks,
        source_nodes=({},) * candidates,
        signals={"coverage": np.zeros(candidates)},
        question={"terms": 1.0},
    )
    groups = np.where(np.arange(candidates) == gold, 0, -1)
    return HitList(f"q{number}", f"question {number}?", table, groups, 1, (page,))


def _world(questions: int = 120, seed: int = 0) -> Collection:
    """Gold is good for vector and for section; four others shine in the one, four in the other, five are poor in both: no
    weights of the two put gold first. Four more only lexical returns."""
    generator = np.random.default_rng(seed)
    hits = []
    for number in range(questions):
        rows = generator.permutation(18).tolist()
        noise = iter(generator.normal(0, 0.005, 40).tolist())
        gold, one, other, poor, rest = rows[0], rows[1:5], rows[5:9], rows[9:14], rows[14:]
        both = {gold: 0.70 + next(noise)} | {row: 0.60 + next(noise) for row in poor}
        returned = {
            "vector": both | {row: 0.85 + next(noise) for row in one},
            "section": both | {row: 0.85 + next(noise) for row in other},
            "page": {row: 0.5 + 0.1 * float(generator.random()) for row in rows[:14]},
            "path": {poor[0]: 1.0},
            "lexical": {row: 5.0 + next(noise) for row in rest},
        }
        hits.append(_hit(number, returned, 18, gold))
    return Collection((HitSet("made-up", tuple(hits), "0" * 64),), "minilm")


def _lesson(collection: Collection, settings: ThesisSettings) -> thesis.TrainingSet:
    return thesis.make_training_set(collection.hits, collection.pages, collection.weights, settings)


def _same(one: Network, other: Network) -> bool:
    arrays = [[n.mean, n.deviation, *(a for layer in n.layers for a in layer)] for n in (one, other)]
    return all(a.tobytes() == b.tobytes() for a, b in zip(*arrays, strict=True))


def test_columns_by_hand() -> None:
    """Of five candidates the fifth is lexical's alone and does not count, nor does vector's third, beyond its depth of
    two. Constants: the hundredth below the lowest score, of vector .62 within its depth; 0 where nothing was returned,
    and for path."""
    returned = {
        "vector": {0: 0.8, 1: 0.62, 2: 0.5},
        "page": {0: 0.70, 1: 0.70},
        "path": {2: 1.0},
        "lexical": {4: 7.0, 3: 6.0},
        "entity": {3: 0.333},
    }
    hit = _hit(0, returned, 5, 0)
    settings = replace(QUICK, depths={"vector": 2}, standardisation="global")
    layout = thesis.layout_of([hit], settings)
    assert layout.floors == {"vector": 0.61, "page": 0.69, "section": 0.0, "entity": 0.33, "path": 0.0}
    assert counted(hit.table, layout).tolist() == [True, True, True, True, False]
    example = thesis.example_of(hit, layout, 1.0)
    by_hand = [
        [0.80, 0.70, 0.0, 0.33, 0.0],
        [0.62, 0.70, 0.0, 0.33, 0.0],
        [0.61, 0.69, 0.0, 0.33, 1.0],
        [0.61, 0.69, 0.0, 0.333, 0.0],
    ]
    np.testing.assert_allclose(example.rows, np.array(by_hand), atol=1e-6)
    assert example.gold.tolist() == [True, False, False, False]
    bare = replace(settings, standardisation="none")
    unscaled = thesis.make_training_set([hit], [["P"]], np.ones(1), bare)
    np.testing.assert_allclose(unscaled.pool.rows, np.array(by_hand), atol=1e-6)
    assert unscaled.scale[0].tolist() == [0] * 5 and unscaled.scale[1].tolist() == [1] * 5
    local = thesis.layout_of([hit], replace(settings, standardisation="local"))
    own = thesis.example_of(hit, local, 1.0).rows
    # page: .70 .70 .69 .69 has the mean .695 and the deviation .005; path: 0 0 1 0 has .25 and sqrt(3)/4.
    np.testing.assert_allclose(own[:, 1], [1, 1, -1, -1], atol=1e-6)
    np.testing.assert_allclose(own[:, 4], np.array([-1, -1, 3, -1]) / np.sqrt(3), atol=1e-6)
    assert own[:, 2].tolist() == [0, 0, 0, 0]


def test_a_constant_is_below_also_where_the_lowest_score_is_round() -> None:
    """.6 gives .59, .601 gives .6, a negative cosine -.005 gives -.01."""
    for lowest, floor in ((0.6, 0.59), (0.601, 0.6), (-0.005, -0.01)):
        hit = _hit(0, {"vector": {0: 0.9, 1: lowest}}, 2, 0)
        assert thesis.layout_of([hit], QUICK).floors["vector"] == floor


def test_mining_keeps_the_top_of_each_question() -> None:
    """Two questions, the second with higher scores throughout: half of the four negatives of each stay, though all four
    of the second beat those of the first; of a question with one negative that one; of one with gold alone nothing. Then
    1:1: as many of them as gold."""
    #            question 0            question 1              2     3
    scores = np.array([0.9, 0.1, 0.3, 0.2, 0.4, 5.0, 8.0, 6.0, 7.0, 5.5, -1.0, 0.0])
    question = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 3])
    gold = np.zeros(12, dtype=bool)
    gold[[0, 9, 11]] = True
    kept = negatives.hardest_of_each(gold, scores, question, 0.5)
    assert kept.tolist() == [0, 2, 4, 6, 8, 9, 10, 11]
    assert negatives.hardest(gold, scores, 0.5).tolist() == [0, 5, 6, 7, 8, 9, 11]  # all of one question
    scores[:] = 1.0  # ties: the first
    assert negatives.hardest_of_each(gold, scores, question, 0.5).tolist() == [0, 1, 2, 5, 6, 9, 10, 11]
    assert negatives.hardest_of_each(np.ones(3, dtype=bool), scores[:3], question[:3], 0.5).tolist() == [
        0,
        1,
        2,
    ]


def test_mining_of_all_questions_together_keeps_gold_and_the_top_tenth_of_the_rest() -> None:
    """Of 30 others the three with the highest scores, of equal ones the first, in the order of the rows."""
    gold = np.zeros(33, dtype=bool)
    gold[[2, 20, 32]] = True
    scores = np.arange(33, dtype=np.float64)
    scores[[5, 6]] = 30.0
    assert negatives.hardest(gold, scores, 0.1).tolist() == [2, 5, 6, 20, 31, 32]
    scores[31] = 0.0
    assert negatives.hardest(gold, scores, 0.1).tolist() == [2, 5, 6, 20, 30, 32]


def test_a_sample_is_all_gold_and_a_random_tenth_of_the_rest() -> None:
    """Each of the others about as often."""
    gold = np.zeros(41, dtype=bool)
    gold[7] = True
    generator = np.random.default_rng(0)
    drawn = [negatives.sampled(gold, 0.1, generator) for _ in range(2000)]
    assert all(own.tolist() == sorted(set(own.tolist())) and len(own) == 5 and 7 in own for own in drawn)
    often = np.bincount(np.concatenate(drawn), minlength=41)
    assert often[7] == 2000
    assert np.delete(often, 7).min() > 150
    assert np.delete(often, 7).max() < 250


def test_the_preset_is_the_thesis() -> None:
    """As many negatives as gold, then of the top tenth of each question; a fifth of the rows validates; network and
    optimiser by hand."""
    preset = ThesisSettings()
    assert (preset.validation, preset.floor, preset.seed, preset.split_seed) == (0.2, None, 0, 0)
    assert (preset.sampling, preset.mining, preset.share) == ("balanced", "hard", 0.1)
    assert (preset.standardisation, preset.depths, preset.folds) == ("local", {"vector": 10}, 5)
    assert (preset.hidden, preset.dropout, preset.l2) == ((254, 128, 64), (0.2, 0.3, 0.4), 0.01)
    assert (preset.rate, preset.factor, preset.least_rate, preset.batch) == (1e-3, 0.2, 1e-4, 64)
    assert (preset.epochs, preset.patience, preset.plateau) == (100, 10, 5)


def test_a_balanced_sample_has_as_many_negatives_as_gold() -> None:
    """All gold; each of the others about as often; all of them where there are fewer than gold."""
    gold = np.zeros(42, dtype=bool)
    gold[[7, 9]] = True
    generator = np.random.default_rng(0)
    drawn = [negatives.balanced(gold, generator) for _ in range(2000)]
    assert all(own.tolist() == sorted(set(own.tolist())) and len(own) == 4 for own in drawn)
    often = np.bincount(np.concatenate(drawn), minlength=42)
    assert often[[7, 9]].tolist() == [2000, 2000]
    assert np.delete(often, [7, 9]).min() > 60 and np.delete(often, [7, 9]).max() < 140
    assert negatives.balanced(np.array([True, True, False]), generator).tolist() == [0, 1, 2]
    chosen = negatives.sample_negatives(gold, ThesisSettings(), generator)
    assert len(chosen) == 4 and len(negatives.sample_negatives(gold, QUICK, generator)) == 2 + 12


@needs_tensorflow
@pytest.mark.parametrize("standardisation", ["local", "global"])
def test_batch_normalisation_is_folded_away(standardisation: str) -> None:
    """Keras and NumPy agree within 1e-5, before and after the sigmoid, with moving means and variances of any size, and
    for features as far out as standardisation can bring them."""
    import keras

    generator = np.random.default_rng(3)
    model = build(keras, 5, ThesisSettings(), generator)
    weights = [generator.normal(0, 0.1, array.shape) for array in model.get_weights()]
    for place, layer in enumerate(model.weights):
        if "variance" in layer.path:
            weights[place] = generator.uniform(0.05, 3, layer.shape)
        elif "gamma" in layer.path:
            weights[place] = generator.uniform(-2, 2, layer.shape)
    model.set_weights(weights)
    mean, deviation = np.zeros(5, np.float32), np.ones(5, np.float32)
    if standardisation == "global":
        mean, deviation = (
            generator.normal(size=5).astype(np.float32),
            generator.uniform(0.5, 2, 5).astype(np.float32),
        )
    rows = (mean + deviation * np.clip(generator.normal(0, 16, (300, 5)), -63.9, 63.9)).astype(np.float32)
    expected = model((rows - mean) / deviation, training=False).numpy()[:, 0]
    scores = without_batch_norm(model, mean, deviation).logits(rows.astype(np.float64))
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    np.testing.assert_allclose(1 / (1 + np.exp(-scores)), 1 / (1 + np.exp(-expected)), atol=1e-5)
    assert [w.shape[1:] for w, _ in without_batch_norm(model, mean, deviation).layers] == [
        (5, 254),
        (254, 128),
        (128, 64),
        (64, 1),
    ]


@needs_tensorflow
def test_the_network_is_that_of_the_thesis() -> None:
    """Dense with ReLU and L2, batch normalisation, dropout: three times, then one output."""
    import keras

    model = build(keras, 5, ThesisSettings(), np.random.default_rng(0))
    kinds = [type(layer).__name__ for layer in model.layers]
    assert kinds == ["InputLayer", *["Dense", "BatchNormalization", "Dropout"] * 3, "Dense"]
    dense = [layer for layer in model.layers if isinstance(layer, keras.layers.Dense)]
    assert [layer.units for layer in dense] == [254, 128, 64, 1]
    assert [float(layer.kernel_regularizer.l2) for layer in dense[:3]] == pytest.approx([0.01] * 3)
    assert [layer.rate for layer in model.layers if isinstance(layer, keras.layers.Dropout)] == [
        0.2,
        0.3,
        0.4,
    ]


@needs_tensorflow
def test_only_together_the_columns_tell_gold() -> None:
    """Out of fold the network finds it, though each retriever puts others first; what does not count comes last."""
    collection = _world()
    fitted = thesis.crossfit(collection, QUICK)
    layout = thesis.layout_of(collection.hits, QUICK)
    first = []
    for hit, scores in zip(collection.hits, fitted.logits, strict=True):
        ranking = [uri for uri, _ in fused_ranking(hit.table, scores)]
        gold = hit.table.chunks[int(np.argmax(hit.gold))]
        first.append(ranking[0] == gold)
        assert all(own_ranking(hit.table, name)[0][0] != gold for name in ("vector", "section"))
        out = {hit.table.chunks[row] for row in np.flatnonzero(~counted(hit.table, layout))}
        assert len(out) == 4 and set(ranking[-4:]) == out
    assert np.mean(first) > 0.9
    assert sorted(set(fitted.fold.tolist())) == [0, 1]


@needs_tensorflow
def test_the_same_seed_gives_the_same_bytes() -> None:
    """Whatever was drawn before, in both passes; another seed gives another network."""
    import keras

    own = _lesson(_world(30), QUICK)
    short = replace(QUICK, epochs=2)
    one = thesis.fit(own, short, 1).network
    keras.utils.set_random_seed(99)
    assert _same(one, thesis.fit(own, short, 1).network)
    assert not _same(thesis.first_pass(own, short, 1).network, thesis.first_pass(own, short, 2).network)


@needs_tensorflow
def test_training_stops_early_and_keeps_the_best_weights() -> None:
    """With patience 3 it ends three epochs after the one with the least loss on the watched candidates."""
    own = _lesson(_world(45), QUICK)
    trained = thesis.first_pass(own, replace(QUICK, patience=3, epochs=100, rate=0.05, dropout=(0.0,)), 0)
    losses = [epoch.validation_loss for epoch in trained.history]
    assert None not in losses
    assert trained.epochs == 1 + int(np.argmin(np.array(losses, dtype=float)))
    assert len(losses) == trained.epochs + 3 < 100


class _First:
    """A network whose score of a candidate is its first feature."""

    @staticmethod
    def logits(rows: np.ndarray) -> np.ndarray:
        return rows[:, 0]


def _samples_of(monkeypatch: pytest.MonkeyPatch, settings: ThesisSettings) -> tuple[Sample, Sample]:
    """What the second pass trains on and validates with, of 20 questions with one gold candidate and 40 others each,
    whose scores by the first network are 0 to 39, and 100 more for each later question."""
    seen: list[Sample] = []

    def spy(sample: Sample, validation: Sample, *_: object) -> Trained:
        seen.extend([sample, validation])
        return Trained(_First(), (), 1)

    monkeypatch.setattr(thesis, "train", spy)
    question = np.repeat(np.arange(20), 41)
    gold = np.tile(np.arange(41) == 40, 20)
    scores = np.where(gold, 0, 100 * question + np.tile(np.arange(41), 20))
    rows = np.stack([scores, np.arange(820)], axis=1).astype(np.float32)
    pool = Sample(rows, gold, np.ones(820, np.float32), question)
    scale = np.zeros(2, np.float32), np.ones(2, np.float32)
    layout = thesis.layout_of(_world(3).hits, settings)
    own = thesis.TrainingSet((), (), np.ones(20), layout, pool, scale)
    thesis.second_pass(own, _First(), settings, 0)
    return seen[0], seen[1]


def test_the_second_pass_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """As published: of each question the four best of forty (36 to 39) stay, and of these eighty as many as gold, twenty,
    are drawn; a fifth of the forty rows, eight of any question, validates, the others train."""
    learnt, validates = _samples_of(monkeypatch, ThesisSettings())
    assert (len(learnt.gold), len(validates.gold)) == (32, 8)
    assert learnt.gold.sum() + validates.gold.sum() == 20
    both = np.concatenate([learnt.rows, validates.rows])
    assert len(np.unique(both[:, 1])) == 40
    drawn = np.concatenate([part.rows[~part.gold, 0] for part in (learnt, validates)])
    assert len(drawn) == 20 and set(drawn % 100) <= {36, 37, 38, 39}
    assert len(set(drawn // 100)) > 8, "of many questions, not of the last ones"
    assert len(np.intersect1d(learnt.question, validates.question)) > 0, "rows, not questions, are held out"
    _, none = _samples_of(monkeypatch, ThesisSettings(validation=0.0))
    assert none is None


def test_the_other_second_passes_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all questions together the best eighty of 800 are the forty of each of the last two; mixed has random ones,
    too."""
    learnt, validates = _samples_of(monkeypatch, ThesisSettings(mining="global"))
    drawn = np.concatenate([part.rows[~part.gold, 0] for part in (learnt, validates)])
    assert sorted(drawn) == [*range(1800, 1840), *range(1900, 1940)]
    learnt, validates = _samples_of(monkeypatch, ThesisSettings(mining="mixed"))
    drawn = np.concatenate([part.rows[~part.gold, 0] for part in (learnt, validates)])
    assert 80 < len(drawn) <= 100 and drawn.min() < 1800


def test_a_floor_and_a_split_of_ones_own() -> None:
    """.75 is the value of all that was not returned, but in path; by question two questions on one page may fall apart,
    by document never; another seed divides otherwise, and folds without questions are refused."""
    hit = _hit(0, {"vector": {0: 0.9, 1: 0.81}, "path": {1: 1.0}}, 3, 0)
    floors = thesis.layout_of([hit], replace(QUICK, floor=0.75)).floors
    assert floors == {"vector": 0.75, "page": 0.75, "section": 0.75, "entity": 0.75, "path": 0.0}
    pages = [[f"page {number // 4}"] for number in range(40)]
    by_document, by_question = (replace(QUICK, split=way).fold_of(pages) for way in ("document", "question"))
    whole = [len(set(by_document[start : start + 4].tolist())) for start in range(0, 40, 4)]
    apart = [len(set(by_question[start : start + 4].tolist())) for start in range(0, 40, 4)]
    assert set(whole) == {1} and max(apart) == 2
    assert np.bincount(by_question).tolist() == [20, 20]
    other = replace(QUICK, split="question", split_seed=1).fold_of(pages)
    assert other.tolist() != by_question.tolist()
    one_page = [["same"]] * 6
    assert sorted(replace(QUICK, split="question").fold_of(one_page).tolist()) == [0, 0, 0, 1, 1, 1]
    with pytest.raises(InputError, match="1 groups"):
        QUICK.fold_of(one_page)


@needs_tensorflow
def test_the_command_makes_a_fusion_to_search_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The artefact has five columns and their constants, ranks as it did in training, explains in numbers that add up,
    and its card says what it is."""
    collection = _world(60)
    hits, net = tmp_path / "made-up.npz", tmp_path / "net"
    save_hits(hits, HitFile(tuple(collection.hits), "minilm"))
    more = ["--epochs", "3", "--folds", "2", "--seed", "5", "--share", "0.3", "--split", "question"]
    thesis.main([str(hits), "--out", str(net), *more])
    printed = capsys.readouterr().out
    assert "made-up: hit@1/3/5 network " in printed and "fit for search: " in printed
    layout = load(net).layout
    assert load(net).inputs["depth"] == 14, "a search has lists as long as those of the training"
    assert (load(net).settings["seed"], load(net).settings["share"]) == (5, 0.3)
    assert (layout.retrievers, layout.signals, layout.blocks) == (THESIS, (), ("standard",))
    assert layout.depths == {"vector": 10}
    assert layout.floors["entity"] == 0.0 and 0.55 < layout.floors["section"] < 0.6
    assert "thesis" in (net / CARD).read_text("utf-8")
    table = collection.hits[0].table
    fused = make_fusion(str(net), "minilm").fuse(table)
    kept = np.flatnonzero(counted(table, layout))
    rows = features(table.take(kept.tolist()), layout)
    line = load(net).network.logits(rows)
    competition = load(net).calibration["competition"]
    np.testing.assert_allclose(fused.scores[kept], line - competition * np.log(np.exp(line).sum()), atol=1e-9)
    whole = fused.baseline + fused.explain(range(len(table.chunks))).sum(axis=1)
    np.testing.assert_allclose(whole, fused.scores, atol=1e-4)


def test_where_no_retriever_returned_anything_all_come_alike() -> None:
    """A question that only lexical answers has candidates, of which none counts."""
    from trivium.fusion.network import NetworkFusion

    ones = (np.ones((1, 5, 1), np.float32), np.zeros((1, 1), np.float32))
    network = Network(np.zeros(5, np.float32), np.ones(5, np.float32), (ones,))
    layout = thesis.layout_of([_hit(0, {"vector": {0: 0.5}}, 2, 0)], QUICK)
    fused = NetworkFusion(network, layout).fuse(_hit(1, {"lexical": {0: 3.0, 1: 2.0}}, 2, 0).table)
    assert fused.scores.tolist() == [0.0, 0.0]
    assert fused.explain([0, 1]).tolist() == [[0.0] * 6] * 2


def test_what_makes_no_sense_is_refused() -> None:
    """By name; hit lists without the thesis's retrievers too."""
    for wrong in (
        {"epochs": 0},
        {"share": 0.0},
        {"mining": "soft"},
        {"split": "page"},
        {"validation": 1.0},
        {"floor": float("nan")},
        {"sampling": "some"},
        {"standardisation": "some"},
        {"dropout": (0.2,)},
        {"dropout": (0.2, 0.3, 1.0)},
        {"rate": 0.0},
    ):
        with pytest.raises(ConfigurationError):
            ThesisSettings(**wrong)
    with pytest.raises(InputError, match="page, section, entity, path missing"):
        thesis.layout_of(collection_of(3).hits, QUICK)
