"""A trained network: its features, its scores, its explanations, and the folder it is kept in."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import FusionError
from trivium.fusion.artefact import DESCRIPTION, NUMBERS, SUMS, Artefact, load, save
from trivium.fusion.features import QUESTION, Layout, features
from trivium.fusion.network import Network, NetworkFusion, weight_together
from trivium.fusion.registry import make_fusion
from trivium.fusion.score_table import Table
from trivium.fusion.shapley import shapley

LAYOUT = Layout(
    retrievers=("vector", "entity", "lexical"),
    signals=("coverage", "linked"),
    owners={"coverage": "lexical", "linked": "entity"},
    logarithmic=("linked",),
    gaps=("entity",),
    question=("terms",),
)


def test_of_views_of_one_name_the_first_is_meant() -> None:
    """A retriever of one's own may be called like a signal."""
    assert Layout(retrievers=("vector", "phrase"), signals=("before", "phrase")).places(
        ["phrase", "before"]
    ) == [1, 2]


def table(columns: tuple[str, ...] = LAYOUT.retrievers, seed: int = 0, n: int = 4) -> Table:
    """Candidates with scores drawn at random; the second is in no list."""
    generator = np.random.default_rng(seed)
    raw = generator.random((n, 3))
    raw[:1, 1] = np.nan
    ranks = np.tile(np.arange(1, n + 1)[:, np.newaxis], (1, 3))
    ranks[1:2] = 0
    kept = [LAYOUT.retrievers.index(name) for name in columns]
    return Table(
        chunks=tuple(f"A#chunk-{row}" for row in range(n)),
        columns=columns,
        raw=raw[:, kept],
        ranks=ranks[:, kept],
        source_nodes=({},) * n,
        signals={"coverage": generator.random(n), "linked": generator.random(n)},
        question={"terms": 3.0},
    )


def network(width: int = len(LAYOUT.columns), seed: int = 1) -> Network:
    """Two layers of random numbers."""
    generator = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return generator.normal(size=shape).astype(np.float32)

    return Network(
        numbers(width),
        np.abs(numbers(width)) + 1,
        ((numbers(2, width, 5), numbers(2, 5)), (numbers(2, 5, 1), numbers(2, 1))),
    )


def test_the_score_of_a_row_depends_on_that_row_only() -> None:
    """To the last bit, whatever rows are scored with it and how many."""
    made = network(seed=4)
    rows = np.random.default_rng(4).normal(size=(300, len(LAYOUT.columns)))
    together = made.logits(rows)
    assert [made.logits(rows[row : row + 1])[0] for row in range(300)] == together.tolist()
    assert made.logits(rows[::-1]).tolist() == together[::-1].tolist()


def test_scores_are_worked_out_in_double_precision() -> None:
    """A difference of 1e-12 in a feature is one in the score: nothing is rounded on the way."""
    made = network(seed=4)
    rows = np.random.default_rng(4).normal(size=(1, len(LAYOUT.columns)))
    assert 0 < abs(made.logits(rows + 1e-12)[0] - made.logits(rows)[0]) < 1e-9


def test_the_columns_by_hand() -> None:
    """Standardised, raw, found, height of the rank, gap, and the numbers of the question, under their names."""
    given = Table(
        chunks=("a", "b"),
        columns=("vector", "entity", "lexical"),
        raw=np.array([[0.8, np.nan, 3.0], [0.6, 0.5, 3.0]]),
        ranks=np.array([[1, 0, 2], [2, 1, 0]]),
        source_nodes=({}, {}),
        signals={"coverage": np.array([1.0, 0.5]), "linked": np.array([np.e, 1.0])},
        question={"terms": 4.0},
    )
    rows = features(given, LAYOUT)
    found = dict(zip([name for name, _ in LAYOUT.columns], rows.T.tolist(), strict=True))
    assert found["standard vector"] == pytest.approx([1, -1])
    assert found["standard lexical"] == [0, 0]
    assert found["raw entity"] == [0.5, 0.5]
    assert found["no entity"] == [1, 0]
    assert found["raw linked"] == pytest.approx([1, 0])
    assert found["found by entity"] == [0, 1]
    assert found["rank in vector"] == pytest.approx([1, 1 / (1 + np.log(2))])
    assert found["terms"] == [4, 4]
    assert found["agreement with lexical"] == [0.1, 0.1]
    assert (found["lead of vector"], found["best of vector"]) == (pytest.approx([2, 2]), [0.8, 0.8])
    assert found["candidates"] == pytest.approx([np.log(3)] * 2)
    assert found["lists a candidate"] == [2, 2]


def test_every_column_has_one_player() -> None:
    """A signal plays for its owner."""
    players = LAYOUT.players
    assert list(players) == ["vector", "entity", "lexical", QUESTION]
    assert sorted(column for own in players.values() for column in own) == list(range(len(LAYOUT.columns)))
    names = [name for name, _ in LAYOUT.columns]
    assert names.index("raw coverage") in players["lexical"]
    assert names.index("terms") in players[QUESTION]


def test_the_network_by_hand() -> None:
    """(x - mean) / deviation, cut at 8; max(0, Wx + b); a last layer without."""
    one = np.float32
    tiny = Network(
        np.array([1, 0], one),
        np.array([2, 1], one),
        (
            (np.array([[[1, -1], [0, 1]]], one), np.array([[0, 1]], one)),
            (np.array([[[2], [3]]], one), np.array([[0.5]], one)),
        ),
    )
    # (3 - 1) / 2 = 1 and -4: hidden max(0, 1) = 1 and max(0, -1 - 4 + 1) = 0
    # (1 - 1) / 2 = 0 and 100, cut at 8: hidden 0 and 8 + 1 = 9
    assert tiny.logits(np.array([[3.0, -4.0], [1.0, 100.0]])).tolist() == [2.5, 27.5]


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), n=st.integers(1, 6))
def test_contributions_add_up_to_the_score(seed: int, n: int) -> None:
    """Of every candidate; also when a retriever was not asked."""
    for columns in (LAYOUT.retrievers, ("vector", "lexical")):
        asked = table(columns, seed, n)
        fused = NetworkFusion(network(seed=seed), LAYOUT).fuse(asked)
        shares = fused.explain(range(n))
        assert shares.shape == (n, len(columns))
        np.testing.assert_allclose(fused.baseline + shares.sum(axis=1), fused.scores, atol=1e-4)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), n=st.integers(1, 6), competition=st.floats(0.01, 0.9))
def test_competition_lowers_all_alike(seed: int, n: int, competition: float) -> None:
    """By its share of the logarithm of the sum of exponentials, the baseline too; contributions stay as they were."""
    asked = table(seed=seed, n=n)
    plain = NetworkFusion(network(seed=seed), LAYOUT).fuse(asked)
    lowered = NetworkFusion(network(seed=seed), LAYOUT, competition=competition).fuse(asked)
    expected = competition * np.log(np.exp(plain.scores).sum())
    np.testing.assert_allclose(plain.scores - lowered.scores, expected, atol=1e-9)
    np.testing.assert_allclose(plain.baseline - lowered.baseline, expected, atol=1e-9)
    np.testing.assert_array_equal(plain.explain(range(n)), lowered.explain(range(n)))


def test_the_weight_of_all_is_the_same_in_any_order_and_never_overflows() -> None:
    """To the last bit: the stores give candidates in orders of their own."""
    scores = np.random.default_rng(1).normal(0, 30, 200)
    weights = {weight_together(np.random.default_rng(seed).permutation(scores)) for seed in range(20)}
    assert len(weights) == 1
    assert weights.pop() == pytest.approx(np.logaddexp.reduce(scores))
    assert weight_together(np.array([5000.0, 5000.0])) == pytest.approx(5000 + np.log(2))
    assert weight_together(np.array([-5000.0])) == -5000


def test_shapley_values_are_means_over_all_orders() -> None:
    """Of what a player adds when it comes in, worked out the long way."""
    rows, average = np.random.default_rng(2).normal(size=(2, 6)), np.zeros(6)
    players = [[0, 1], [2], [3, 4, 5]]
    own = network(6)

    def score(row: np.ndarray, present: list[int]) -> float:
        mixed = average.copy()
        columns = [column for player in present for column in players[player]]
        mixed[columns] = row[columns]
        return float(own.logits(mixed[np.newaxis])[0])

    expected = np.zeros((2, 3))
    for place, row in enumerate(rows):
        for order in permutations(range(3)):
            for step, player in enumerate(order):
                expected[place, player] += score(row, [*order[: step + 1]]) - score(row, [*order[:step]])
    worth = own.logits_of_coalitions(rows, average, players)
    np.testing.assert_allclose(shapley(worth), expected / 6, atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000), n=st.sampled_from([1, 3, 60]), count=st.integers(0, 4))
def test_scores_of_coalitions_are_those_of_mixed_rows(seed: int, n: int, count: int) -> None:
    """Whichever columns the players have, also if they have none; columns of no player keep their mean."""
    random = np.random.default_rng(seed)
    rows, average = 20 * random.normal(size=(n, 6)), random.normal(size=6)
    owner = random.integers(0, count + 1, 6)
    players = [np.flatnonzero(owner == player).tolist() for player in range(count)]
    own = network(6, seed=seed)
    worth = own.logits_of_coalitions(rows, average, players)
    assert worth.shape == (2**count, n)
    for coalition, scores in enumerate(worth):
        present = [owner == player for player in range(count) if coalition >> player & 1]
        mixed = np.where(np.any(present, axis=0) if present else np.zeros(6, bool), rows, average)
        np.testing.assert_allclose(scores, own.logits(mixed), rtol=1e-9, atol=1e-9)


def test_a_retriever_that_was_not_asked_says_nothing() -> None:
    """Nor do the signals that belong to it."""
    rows = features(table(("vector", "entity")), LAYOUT)
    assert np.ptp(rows[:, LAYOUT.players["lexical"]], axis=0).tolist() == [0] * len(LAYOUT.players["lexical"])


def test_no_candidates_give_no_scores() -> None:
    """And nothing to explain."""
    empty = Table((), LAYOUT.retrievers, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), ())
    fused = NetworkFusion(network(), LAYOUT).fuse(empty)
    assert (fused.scores.shape, fused.explain([]).shape) == ((0,), (0, 3))


def test_an_artefact_comes_back_as_it_was(tmp_path: Path) -> None:
    """The same scores to the last bit, by the name of its folder."""
    save(Artefact(network(), LAYOUT, "bge-small", {"squad": 3}, {"squad": [0.5]}), tmp_path / "new" / "one")
    found = load(tmp_path / "new" / "one")
    assert (found.layout, found.embedder, found.data, found.scores) == (
        LAYOUT,
        "bge-small",
        {"squad": 3},
        {"squad": [0.5]},
    )
    fusion = make_fusion(str(tmp_path / "new" / "one"), "bge-small")
    assert fusion.needs_signals
    assert (fusion.fuse(table()).scores == NetworkFusion(network(), LAYOUT).fuse(table()).scores).all()


def test_an_artefact_keeps_its_competition_and_earlier_ones_have_none(tmp_path: Path) -> None:
    """It is part of what is written of the calibration."""
    for name, calibration in (("now", {"competition": 0.5}), ("before", {"slope": 0.7})):
        save(Artefact(network(), LAYOUT, "bge-small", calibration=calibration), tmp_path / name)
    now, before = (make_fusion(str(tmp_path / name), "bge-small") for name in ("now", "before"))
    expected = NetworkFusion(network(), LAYOUT, competition=0.5).fuse(table()).scores
    assert (now.fuse(table()).scores == expected).all()
    assert (before.fuse(table()).scores == NetworkFusion(network(), LAYOUT).fuse(table()).scores).all()


def test_an_artefact_of_another_embedder_is_refused(tmp_path: Path) -> None:
    """Its scores would mean something else."""
    save(Artefact(network(), LAYOUT, "bge-small"), tmp_path)
    with pytest.raises(FusionError, match="trained on scores of bge-small, the store was filled by minilm"):
        make_fusion(str(tmp_path), "minilm")


def _without_numbers(folder: Path) -> None:
    (folder / NUMBERS).unlink()


def _cut_short(folder: Path) -> None:
    (folder / NUMBERS).write_bytes((folder / NUMBERS).read_bytes()[:100])


def _other_format(folder: Path) -> None:
    description = json.loads((folder / DESCRIPTION).read_text("utf-8"))
    (folder / DESCRIPTION).write_text(json.dumps({**description, "format": 99}), "utf-8")


def _other_features(folder: Path) -> None:
    description = json.loads((folder / DESCRIPTION).read_text("utf-8"))
    description["layout"]["signals"] = ["coverage"]
    (folder / DESCRIPTION).write_text(json.dumps(description), "utf-8")


def _not_json(folder: Path) -> None:
    (folder / DESCRIPTION).write_text("{", "utf-8")


def _one_bit(folder: Path) -> None:
    content = bytearray((folder / NUMBERS).read_bytes())
    content[-1] ^= 1
    (folder / NUMBERS).write_bytes(content)


def _opened_gate(folder: Path) -> None:
    text = (folder / DESCRIPTION).read_text("utf-8")
    (folder / DESCRIPTION).write_text(text.replace('"gate": {}', '"gate": {"active": true}'), "utf-8")


def _without_sums(folder: Path) -> None:
    (folder / SUMS).unlink()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_one_bit, "network.safetensors is damaged: expected sha256 [0-9a-f]{64}, got [0-9a-f]{64}"),
        (_opened_gate, "fusion.json is damaged: expected sha256"),
        (_without_sums, "has no SHA256SUMS.*train it again"),
        (_without_numbers, "damaged"),
        (_cut_short, "damaged"),
        (_other_format, "format 99"),
        (_other_features, "other features"),
        (_not_json, "damaged"),
    ],
)
def test_what_is_no_sound_artefact_is_refused(
    tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    """With what is wrong and, where it helps, what to do."""
    save(Artefact(network(), LAYOUT, "bge-small"), tmp_path)
    damage(tmp_path)
    with pytest.raises(FusionError, match=message):
        load(tmp_path)


def test_layers_that_do_not_fit_are_refused() -> None:
    """Neither together nor to the layout, and no numbers that are none."""
    sound = network(4)
    (first, second) = sound.layers
    with pytest.raises(FusionError, match="do not fit together"):
        Network(sound.mean, sound.deviation, (second, first))
    with pytest.raises(FusionError, match="do not fit together"):
        Network(sound.mean, sound.deviation, (first, (second[0] * np.float32("nan"), second[1])))
    with pytest.raises(FusionError, match="must be positive"):
        Network(sound.mean, sound.deviation * 0, sound.layers)
    with pytest.raises(
        FusionError, match=f"the layout has {len(LAYOUT.columns)} features, the network takes 4"
    ):
        NetworkFusion(sound, LAYOUT)
