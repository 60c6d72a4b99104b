"""Splitting by page: what shares a page stays together, and the folds are even."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.datasets.cross_validation import apart, clusters, folds, most_folds, page_folds
from trivium.errors import InputError

PAGES = st.lists(st.lists(st.sampled_from("ABCDEFGHIJKL"), max_size=2), max_size=20)


def test_questions_are_joined_through_pages_they_share_with_a_third() -> None:
    assert clusters([["A"], ["B"], ["A", "B"], ["C"], []]).tolist() == [0, 0, 0, 1, 2]
    assert clusters([]).tolist() == []


@settings(deadline=None, max_examples=50)
@given(PAGES)
def test_clusters_are_the_components_networkx_finds(groups: list[list[str]]) -> None:
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(groups)))
    graph.add_edges_from((row, page) for row, group in enumerate(groups) for page in group)
    expected = {
        frozenset(n for n in part if isinstance(n, int)) for part in networkx.connected_components(graph)
    }
    found = clusters(groups)
    assert {frozenset(np.flatnonzero(found == c).tolist()) for c in set(found.tolist())} == expected


@settings(deadline=None, max_examples=50)
@given(PAGES, st.integers(2, 5), st.integers(0, 9))
def test_no_page_is_in_two_folds_and_no_fold_is_empty(groups: list[list[str]], n: int, seed: int) -> None:
    if len(set(clusters(groups).tolist())) < n:
        with pytest.raises(InputError, match="folds"):
            folds(groups, n, seed)
        return
    fold = folds(groups, n, seed)
    for page in {page for group in groups for page in group}:
        assert len({int(fold[row]) for row, group in enumerate(groups) if page in group}) == 1
    assert set(fold.tolist()) == set(range(n))


def test_folds_are_balanced_by_questions_not_by_pages() -> None:
    """Pages of 50, 30, 20 and ten of 10 questions into four folds: 200 / 4 is met but for the granularity."""
    sizes = [50, 30, 20] + [10] * 10
    groups = [[f"page {i}"] for i, size in enumerate(sizes) for _ in range(size)]
    assert sorted(np.bincount(folds(groups, 4, seed=1)).tolist()) == [50, 50, 50, 50]


def test_the_order_of_the_questions_does_not_matter_and_the_seed_does() -> None:
    groups = [[f"page {i % 40}"] for i in range(120)]
    fold = folds(groups, 4, seed=3)
    order = np.random.default_rng(0).permutation(len(groups))
    assert folds([groups[i] for i in order], 4, seed=3).tolist() == fold[order].tolist()
    assert folds(groups, 4, seed=4).tolist() != fold.tolist()


def test_a_key_for_each_question_splits_by_question() -> None:
    assert np.bincount(folds([[str(i)] for i in range(103)], 5, seed=0)).tolist() == [21, 21, 21, 20, 20]


def test_one_fold_is_no_split() -> None:
    with pytest.raises(InputError, match="expected 2 to 3 folds, got 1"):
        folds([["A"], ["B"], ["C"]], 1, seed=0)


@settings(deadline=None, max_examples=50)
@given(PAGES, st.integers(2, 4))
def test_questions_that_are_all_joined_are_divided_by_their_first_page(
    groups: list[list[str]], n: int
) -> None:
    """And what is trained on for a fold shares no page with what is judged in it."""
    if most_folds(groups) < n:
        with pytest.raises(InputError, match="folds"):
            page_folds(groups, n, 0)
        return
    fold = page_folds(groups, n, 0)
    assert set(fold.tolist()) == set(range(n))
    if len(set(clusters(groups).tolist())) >= n:
        assert fold.tolist() == folds(groups, n, 0).tolist()
    for judged in range(n):
        held_out = fold == judged
        pages = {page for row in np.flatnonzero(held_out) for page in groups[row]}
        rest = apart(groups, held_out)
        assert not (rest & held_out).any()
        assert all(rest[row] == pages.isdisjoint(groups[row]) for row in np.flatnonzero(~held_out))
