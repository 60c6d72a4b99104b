"""Splits that keep what belongs together on one side.

Questions on one page share its chunks, so a fold that has seen some of them has seen the others' gold. Pass
the pages of each question (:attr:`trivium.datasets.gold.Gold.pages`) to split by page, or one key a question
to split by question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from trivium.errors import InputError

Groups = Sequence[Collection[str]]
"""For each question the keys (pages) it depends on. Questions that share a key belong together; one without
keys stands alone."""


def clusters(groups: Groups) -> NDArray[np.int64]:
    """The connected components of questions that share keys, also through other questions.

    Returns (n,) component numbers, counted from 0 in order of first appearance.

    >>> clusters([["Mars"], ["Venus", "Mars"], ["Moon"], ["Venus"]])
    array([0, 0, 1, 0])
    """
    if not groups:
        return np.empty(0, dtype=np.int64)
    keys = {key: i for i, key in enumerate(dict.fromkeys(key for group in groups for key in group))}
    rows = [row for row, group in enumerate(groups) for _ in group]
    columns = [len(groups) + keys[key] for group in groups for key in group]
    nodes = len(groups) + len(keys)
    links = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(nodes, nodes))
    labels = connected_components(links, directed=False)[1][: len(groups)]
    number = {label: i for i, label in enumerate(dict.fromkeys(labels.tolist()))}
    return np.array([number[label] for label in labels.tolist()], dtype=np.int64)


def folds(groups: Groups, n: int, seed: int) -> NDArray[np.int64]:
    """Folds 0..n-1 for cross-validation, (questions,): whole clusters, of about equal numbers of questions.

    The largest cluster goes first, each to the fold that is lightest so far; ``seed`` decides the order among
    clusters of one size. The same questions in another order get the same folds (those without keys aside).
    Raises InputError unless there are at least two folds and as many clusters as folds.
    """
    cluster = clusters(groups)
    sizes = np.bincount(cluster)
    if n < 2 or len(sizes) < n:
        raise InputError(
            f"expected 2 to {len(sizes)} folds, got {n}: "
            f"the {len(groups)} questions fall into {len(sizes)} groups that share no page"
        )
    least_key = [""] * len(sizes)
    for label, group in zip(cluster.tolist(), groups, strict=True):
        least_key[label] = min([*group, *([least_key[label]] if least_key[label] else [])], default="")
    canonical = sorted(range(len(sizes)), key=lambda label: (least_key[label], label))
    shuffled = np.random.default_rng(seed).permutation(canonical)
    fold_of = np.empty(len(sizes), dtype=np.int64)
    load = np.zeros(n, dtype=np.int64)
    for label in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of[label] = np.argmin(load)
        load[fold_of[label]] += sizes[label]
    return fold_of[cluster]
