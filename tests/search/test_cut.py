"""Where a list ends by its scores: hand-computed, and what holds for any scores."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import InputError
from trivium.search.cut import RULES, Cut

SHARP = [10.0, 9.0, 3.0, 2.5, 2.0, 1.5]
"""Drops 1, 6, .5, .5, .5."""
PLATEAU = [5.0, 4.9, 4.8, 4.7, 4.6, 4.5]


@pytest.mark.parametrize(
    ("cut", "scores", "k", "count"),
    [
        ("gap", SHARP, 6, 2),  # the largest drop is behind the second
        ("gap:3-6", SHARP, 6, 3),  # from the third on all are equal: the first
        ("gap:1-1", SHARP, 6, 1),
        ("gap", [4.0, 4.0, 4.0], 3, 3),  # no drop at all: to the end
        ("gap", [9.0, 8.0, 7.0, 0.0], 3, 3),  # the largest is behind the last that may stay: all three do
        ("gap", [9.0, 8.0, 7.0], 3, 1),  # equal ones: the first; behind the last none is known
        ("gap", [7.0], 5, 1),
        ("gap:2-9", SHARP, 1, 2),  # bounds win over k
        ("gap:4-", SHARP, 6, 4),
        ("near:0.5", SHARP, 6, 2),  # at least 10 - .5 * 8.5 = 5.75
        ("near:0.9", SHARP, 6, 4),  # at least 10 - .9 * 8.5 = 2.35
        ("near:0.1", SHARP, 6, 1),
        ("near:0.5:3-6", SHARP, 6, 3),
        ("near:0.5", SHARP, 2, 1),  # up to the second only: at least 10 - .5 * 1
        ("near:0.5", PLATEAU, 6, 3),  # an even slope: half of the way, 4.75
        ("near:0.5", [3.0, 3.0, 3.0], 3, 3),  # no slope: all
        ("near:0.5", [3.0, 3.0, 3.0, 2.9, 0.0], 5, 4),
        ("near", [7.0], 5, 1),
        ("near", SHARP, 6, 2),  # usually .7: at least 4.05
    ],
)
def test_by_scores(cut: str, scores: list[float], k: int, count: int) -> None:
    assert Cut.read(cut).count(scores, k) == count


LIKELY = [0.6, 0.5, 0.02, 0.3, 0.01]
"""To be the first right one: .6, .2, .004, .0588, .0014."""


@pytest.mark.parametrize(
    ("cut", "count"),
    [
        ("probability:0.25", 1),
        ("probability:0.15", 2),
        ("probability:0.0045", 2),
        ("probability:0.0035", 4),
        ("probability:0.001", 5),
        ("probability", 2),  # usually .01
        ("probability:0.9", 1),  # at least one stays
        ("probability:0.9:2-5", 2),
        ("probability:0.001:1-3", 3),
    ],
)
def test_by_probabilities(cut: str, count: int) -> None:
    assert Cut.read(cut).count([0.0] * 5, 5, LIKELY) == count


cuts = st.builds(
    lambda rule, least, more: Cut(rule, None, least, None if more is None else least + more),
    st.sampled_from(RULES),
    st.integers(1, 8),
    st.none() | st.integers(0, 8),
)
falling = st.lists(st.floats(-1e3, 1e3), max_size=20).map(lambda scores: sorted(scores, reverse=True))


@given(cuts, falling, st.integers(1, 15))
def test_bounds_hold_whatever_the_scores(cut: Cut, scores: list[float], k: int) -> None:
    most = min(cut.most(k), len(scores))
    assert min(cut.min_k, most) <= cut.count(scores, k, [0.5] * len(scores)) <= most


@given(st.sampled_from(["gap", "near:0.25"]), st.lists(st.integers(-50, 50), max_size=15), st.integers(1, 10))
def test_the_scale_of_the_scores_does_not_matter(cut: str, scores: list[int], k: int) -> None:
    """Multiplied by a positive number, and moved: whole numbers, so that nothing is rounded."""
    ordered = sorted(map(float, scores), reverse=True)
    moved = [4.0 * score - 7.0 for score in ordered]
    assert Cut.read(cut).count(ordered, k) == Cut.read(cut).count(moved, k)


@given(falling.filter(bool), st.floats(0.01, 0.98), st.floats(0.001, 0.01))
def test_a_larger_share_never_ends_the_list_sooner(scores: list[float], share: float, more: float) -> None:
    less, greater = (Cut("near", threshold).count(scores, len(scores)) for threshold in (share, share + more))
    assert less <= greater


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=15), st.floats(0.001, 0.5))
def test_every_passage_that_stays_had_a_chance_to_be_the_first_right_one(
    likely: list[float], threshold: float
) -> None:
    """By the chance that none before it is right, worked out anew for each."""
    count = Cut("probability", threshold).count([0.0] * len(likely), len(likely), likely)
    first = [p * math.prod(1 - before for before in likely[:place]) for place, p in enumerate(likely)]
    assert all(chance >= threshold * (1 - 1e-9) for chance in first[1:count])
    if first[0] >= threshold and count < len(likely):
        assert first[count] <= threshold * (1 + 1e-9)


@given(cuts)
def test_written_and_read_again_it_is_the_same(cut: Cut) -> None:
    assert Cut.read(str(cut)) == cut


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "unknown cut ''"),
        ("elbow", "expected gap, near:SHARE"),
        ("gap:0.3", "has no threshold"),
        ("near:x", "expected gap, near:SHARE"),
        ("near:0.3:0.4", "expected gap, near:SHARE"),
        ("near:1.5", "between 0 and 1"),
        ("probability:nan", "between 0 and 1"),
        ("gap:5-2", "bounds such as 2-12"),
        ("gap:0-2", "bounds such as 2-12"),
        ("gap:-2", "expected|has no threshold"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_can(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Cut.read(text)
