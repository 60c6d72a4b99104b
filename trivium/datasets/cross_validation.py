"""Cross-validation splits by group.

Questions about the same page share its chunks, so training on some of them would leak the gold of the others. Pass the
pages of each question (:attr:`trivium.datasets.gold.Gold.pages`) to split by page, or one key per question to split by
question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.errors import InputError

Groups = Sequence[Collection[str]]
"""For each question the keys (pages) it depends on. Questions that share a key belong together; a question without keys
is a group of its own.
"""


def clusters(groups: Groups) -> NDArray[np.int64]:
    """Return the connected components of questions that share keys, directly or through other questions, as (n,)
    component numbers counted from 0 in order of first appearance.

    >>> clusters([["Mars"], ["Venus", "Mars"], ["Moon"], ["Venus"]])
    array([0, 0, 1, 0])
    """
    if not groups:
        return np.empty(0, dtype=np.int64)
    having: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        for key in group:
            having.setdefault(key, []).append(row)
    labels = np.full(len(groups), -1, dtype=np.int64)
    count = 0
    for first in range(len(groups)):
        if labels[first] >= 0:
            continue
        waiting = [first]
        while waiting:
            row = waiting.pop()
            labels[row] = count
            # Nobody has to look at a key again whose questions are known.
            waiting += (other for key in groups[row] for other in having.pop(key, ()) if labels[other] < 0)
        count += 1
    return labels


def _canonical(groups: Groups, cluster: NDArray[np.int64]) -> list[int]:
    """Order the clusters by their smallest key, independent of the order of the questions."""
    smallest: dict[int, str] = {}
    for label, group in zip(cluster.tolist(), groups, strict=True):
        keys = [*group, *([smallest[label]] if smallest.get(label) else [])]
        smallest[label] = min(keys, default="")
    return sorted(smallest, key=lambda label: (smallest[label], label))


def folds(groups: Groups, n: int, seed: int) -> NDArray[np.int64]:
    """Return the fold, 0 to n-1, of each question as (questions,). Clusters are kept whole; folds have about equal
    numbers of questions.

    Clusters are assigned largest first, each to the fold with the fewest questions so far; ``seed`` determines the
    order among clusters of equal size. Except for questions without keys, the folds do not depend on the order of the
    questions. Raises InputError unless 2 <= n <= number of clusters.
    """
    cluster = clusters(groups)
    sizes = np.bincount(cluster)
    if n < 2 or len(sizes) < n:
        raise InputError(
            f"expected 2 to {len(sizes)} folds, got {n}: "
            f"the {len(groups)} questions fall into {len(sizes)} groups that share no page"
        )
    shuffled = np.random.default_rng(seed).permutation(_canonical(groups, cluster))
    fold_of = np.empty(len(sizes), dtype=np.int64)
    load = np.zeros(n, dtype=np.int64)
    for label in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of[label] = np.argmin(load)
        load[fold_of[label]] += sizes[label]
    return fold_of[cluster]


def page_folds(groups: Groups, n: int, seed: int) -> NDArray[np.int64]:
    """Return the fold (questions,) of each question by :func:`folds`; or where so many questions share pages, directly or
    through others, that these are fewer than ``n`` groups, by their first page alone. Train for a fold with
    :func:`apart`. Raises InputError when even the first pages are too few (:func:`most_folds`).
    """
    return folds(groups if count_clusters(groups) >= n else _by_first_page(groups), n, seed)


def most_folds(groups: Groups) -> int:
    """Return into how many folds :func:`page_folds` can divide the questions."""
    return max(count_clusters(groups), count_clusters(_by_first_page(groups)))


def apart(groups: Groups, held_out: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask (questions,) of the questions that share no page with any that is held out.

    >>> apart([["Mars"], ["Venus", "Mars"], ["Moon"], ["Venus"]], np.array([True, False, False, False])).tolist()
    [False, False, True, True]
    """
    taken = {page for group, out in zip(groups, held_out, strict=True) if out for page in group}
    return np.array([not out and taken.isdisjoint(own) for own, out in zip(groups, held_out, strict=True)])


def count_clusters(groups: Groups) -> int:
    """Return how many :func:`clusters` there are."""
    return int(clusters(groups).max(initial=-1)) + 1


def _by_first_page(groups: Groups) -> list[list[str]]:
    return [sorted(group)[:1] for group in groups]
