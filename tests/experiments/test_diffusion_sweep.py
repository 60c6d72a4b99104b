"""The sweep of experiments/diffusion: its grid is the product's diffusion, and it counts as reports do."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.retrievers.test_diffusion import asked
from tests.retrievers.world import ask, page, store_of
from trivium.datasets.gold import Gold
from trivium.evaluation.ranking_measures import measure
from trivium.retrievers.diffusion import DiffusionRetriever, RankedList, diffuse, first_stage

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "diffusion"))

from grid import MEASURES, Setting, grid, measures, solutions
from sweep import Measured, both, halves, load, number


def test_the_grid_has_the_settings_that_are_the_products_own() -> None:
    assert Setting().settings() == DiffusionRetriever().settings
    assert len(set(grid())) == len(grid())


def test_each_solution_is_what_the_product_gives_up_to_a_factor() -> None:
    """Every 29th of all settings, on five passages that vectors found."""
    query = asked()
    found = first_stage(query, "vector", 50)
    scores = solutions(query, found)
    assert scores.shape == (len(grid()), 5)
    for place in range(0, len(grid()), 29):
        theirs = diffuse(query, found, grid()[place].settings())
        assert scores[place] / scores[place].sum() == pytest.approx(theirs, abs=1e-8), str(grid()[place])


def test_what_a_setting_does_not_look_at_has_no_score() -> None:
    """Of 25 passages the first 20 only, where n is 20."""
    query = ask(store_of([page(f"P{n}", lead=[(f"text {n}", ["Sun"])]) for n in range(25)], {}))
    found = RankedList([f"P{n}#chunk-1" for n in range(25)], np.linspace(1, 0.5, 25))
    scores = solutions(query, found)
    few = [place for place, setting in enumerate(grid()) if setting.chunks == 20]
    assert np.isnan(scores[few, 20:]).all() and not np.isnan(scores[few, :20]).any()
    assert not np.isnan(np.delete(scores, few, axis=0)).any()


def test_measures_are_those_of_reports() -> None:
    """Five random orders of twelve passages; one group has two of them, one has none."""
    random = np.random.default_rng(3)
    uris = [f"p{number}" for number in range(12)]
    gold = Gold.of([["p3"], ["p7", "p8"], ["elsewhere"]])
    groups = [next((g for g, group in enumerate(gold.groups) if uri in group), -1) for uri in uris]
    scores = random.permuted(np.tile(np.arange(12.0), (5, 1)), axis=1)
    ours = measures(scores, groups, len(gold.groups))
    rankings = [[uris[row] for row in np.argsort(-own)] for own in scores]
    theirs = measure([gold] * 5, rankings)
    np.testing.assert_allclose(ours, np.stack([theirs[name] for name in MEASURES], axis=1))


def test_a_list_without_passages_counts_as_nothing_found() -> None:
    alone, diffused = both(asked(), RankedList([], np.empty(0)), Gold.of([["x"]]))
    assert not alone.any() and not diffused.any() and diffused.shape == (len(grid()), len(MEASURES))


def test_halves_share_no_document_unless_nearly_all_hang_together() -> None:
    apart = [Gold.of([[f"P{n // 2}#chunk-{n % 2 + 1}"]]) for n in range(20)]
    half = halves(apart)
    assert half.sum() == 10 and all(half[n] == half[n + 1] for n in range(0, 20, 2))
    together = [Gold.of([["P#chunk-1"], [f"Q{n}#chunk-1"]]) for n in range(20)]
    assert halves(together).sum() == 10


def test_equal_lists_gain_nothing(tmp_path: Path) -> None:
    """Though one side is kept in single precision."""
    alone = np.array([[1.0, 1, 1, 1 / np.log2(3)]] * 4)
    diffused = np.repeat(alone[:, np.newaxis], 2, axis=1).astype(np.float32)
    np.savez(
        tmp_path / "s.npz",
        name="S",
        first="vector",
        alone=alone,
        diffused=diffused,
        tuning=np.array([True, False] * 2),
        documents=np.arange(4),
    )
    kept = load(tmp_path / "s.npz")
    assert isinstance(kept, Measured) and kept.interval(1) == (0.0, 0.0, 0.0)
    assert number(0.0, signed=True) == "+.000"
