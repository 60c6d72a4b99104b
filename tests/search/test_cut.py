"""Where a list ends by its scores: hand-computed, and what holds for any scores."""

from __future__ import annotations

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
        ("drop:0.5", SHARP, 6, 2),  # 6 of 8.5
        ("drop:0.1", SHARP, 6, 1),  # 1 of 8.5 is a tenth already
        ("drop:0.5:3-6", SHARP, 6, 6),  # behind the third no drop is half of 8.5: it runs on
        ("drop:0.5", PLATEAU, 6, 6),
        ("drop:0.2", [3.0, 3.0, 3.0], 3, 3),
        ("drop", [7.0], 5, 1),
        ("gap", [7.0], 5, 1),
        ("gap:2-9", SHARP, 1, 2),  # bounds win over k
        ("gap:4-", SHARP, 6, 4),
    ],
)
def test_by_drops(cut: str, scores: list[float], k: int, count: int) -> None:
    assert Cut.read(cut).kept(scores, k) == list(range(count))


LIKELY = [0.6, 0.5, 0.02, 0.3, 0.01]


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        ("probability:0.25", [0, 1, 3]),  # what is unlikely is left out, wherever it stands
        ("probability:0.9", [0]),  # at least one stays
        ("probability:0.9:2-5", [0, 1]),
        ("probability:0.55:3-5", [0, 1, 2]),
        ("probability:0.25:1-2", [0, 1]),
        ("chance:0.6", [0]),  # .6
        ("chance:0.7", [0, 1]),  # 1 - .4 * .5 = .8
        ("chance:0.85", [0, 1, 2, 3]),  # 1 - .4 * .5 * .98 * .7 = .8628
        ("chance:0.99", [0, 1, 2, 3, 4]),
        ("chance:0.5:2-5", [0, 1]),
    ],
)
def test_by_probabilities(cut: str, kept: list[int]) -> None:
    assert Cut.read(cut).kept([0.0] * 5, 5, LIKELY) == kept


cuts = st.builds(
    lambda rule, least, more: Cut(rule, None, least, None if more is None else least + more),
    st.sampled_from(RULES),
    st.integers(1, 8),
    st.none() | st.integers(0, 8),
)
falling = st.lists(st.floats(-1e3, 1e3), max_size=20).map(lambda scores: sorted(scores, reverse=True))


@given(cuts, falling, st.integers(1, 15))
def test_bounds_hold_whatever_the_scores(cut: Cut, scores: list[float], k: int) -> None:
    kept = cut.kept(scores, k, [0.5] * len(scores))
    most = min(cut.most(k), len(scores))
    assert min(cut.min_k, most) <= len(kept) <= most
    assert kept == sorted(set(kept))
    assert all(0 <= place < len(scores) for place in kept)


@given(st.sampled_from(["gap", "drop:0.25"]), st.lists(st.integers(-50, 50), max_size=15), st.integers(1, 10))
def test_the_scale_of_the_scores_does_not_matter(cut: str, scores: list[int], k: int) -> None:
    """Multiplied by a positive number, and moved: whole numbers, so that nothing is rounded."""
    ordered = sorted(map(float, scores), reverse=True)
    moved = [4.0 * score - 7.0 for score in ordered]
    assert Cut.read(cut).kept(ordered, k) == Cut.read(cut).kept(moved, k)


@given(falling.filter(bool), st.floats(0.01, 0.98), st.floats(0.001, 0.01))
def test_a_larger_share_never_ends_the_list_sooner(scores: list[float], share: float, more: float) -> None:
    kept = [len(Cut("drop", threshold).kept(scores, len(scores))) for threshold in (share, share + more)]
    assert kept[0] <= kept[1]


@given(cuts)
def test_written_and_read_again_it_is_the_same(cut: Cut) -> None:
    assert Cut.read(str(cut)) == cut


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "unknown cut ''"),
        ("elbow", "expected gap, drop:SHARE"),
        ("gap:0.3", "has no threshold"),
        ("drop:x", "expected gap, drop:SHARE"),
        ("drop:0.3:0.4", "expected gap, drop:SHARE"),
        ("drop:1.5", "between 0 and 1"),
        ("probability:nan", "between 0 and 1"),
        ("gap:5-2", "bounds such as 2-12"),
        ("gap:0-2", "bounds such as 2-12"),
        ("gap:-2", "expected|has no threshold"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_can(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Cut.read(text)
