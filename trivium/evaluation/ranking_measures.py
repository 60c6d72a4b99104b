"""How good ranked chunks are, question by question.

All measures lie in [0, 1], higher is better, and each is an array with one value a question, so that means,
intervals and tests are taken elsewhere. A question with an empty ranking scores zero.

The gold of a question is a set of groups (:class:`trivium.datasets.gold.Gold`). With G groups and a cutoff k:

================  =====================================================================================
``hit@k``         1 when any gold chunk is in the top k
``all@k``         1 when every group has a chunk in the top k (set coverage)
``recall@k``      groups with a chunk in the top k, divided by G
``precision@k``   gold chunks in the top k, divided by k (also when fewer than k were retrieved)
``f1/f2/f3@k``    weighted harmonic mean of precision and recall; recall counts 1, 2 or 3 times as much
``mrr[@k]``       1 / rank of the first gold chunk
``map[@k]``       mean over the groups of (groups found so far / rank) where the group is first found
``ndcg@k``        discounted gain grade / log2(rank + 1), gained where a group is first found, against the best;
                  the grade is 1 without graded judgements
================  =====================================================================================

Beside these a report has ``passages``: how many a ranking has.

Without ``@k`` the whole ranking counts. Where every group is one chunk these are the usual definitions; where
a group has alternatives, finding a second one adds to precision and to nothing else (as in the sub-topic
retrieval of Zhai, Cohen and Lafferty, SIGIR 2003).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.datasets.gold import Gold
from trivium.errors import InputError

SINGLE_HOP = (1, 3, 5)
MULTI_HOP = (4, 6, 8)
DEEP = (5, 10, 20)
COVERAGE = (4, 5, 6, 8)
SET_CUTOFFS = tuple(sorted({*SINGLE_HOP, *MULTI_HOP}))
PRECISION_CUTOFFS = tuple(sorted({*SET_CUTOFFS, 10, 20}))
CMC_DEPTH = 20


@dataclass(frozen=True, slots=True)
class _Cutoffs:
    """The cutoffs of each kind of measure. Those of f-measures are included in those of recall and precision."""

    hit: Sequence[int] = SINGLE_HOP
    recall: Sequence[int] = tuple(sorted({*SET_CUTOFFS, *DEEP}))
    coverage: Sequence[int] = COVERAGE
    precision: Sequence[int] = PRECISION_CUTOFFS
    f: Sequence[int] = SET_CUTOFFS
    ranked: Sequence[int] = DEEP

    @property
    def deepest(self) -> int:
        """The largest cutoff."""
        return max(*self.hit, *self.recall, *self.coverage, *self.precision, *self.ranked)


def measure(
    gold: Sequence[Gold], rankings: Sequence[Sequence[str]], cutoffs: Sequence[int] | None = None
) -> dict[str, Floats]:
    """Return every measure of one row of rankings, aligned with ``gold``: name -> (questions,).

    Each kind of measure has its usual cutoffs (those above), or ``cutoffs`` if given. Raises InputError if the
    lengths differ, a ranking lists a chunk twice, or a cutoff is below 1.
    """
    if cutoffs is None:
        at = _Cutoffs()
    elif not cutoffs or min(cutoffs) < 1:
        raise InputError(f"expected cutoffs of 1 or more, got {', '.join(map(str, cutoffs)) or 'none'}")
    else:
        at = _Cutoffs(*[tuple(cutoffs)] * len(fields(_Cutoffs)))
    relevant, grades, groups = _judge(gold, rankings, at.deepest)
    first = grades > 0
    ranks = np.arange(1, relevant.shape[1] + 1)
    retrieved = np.cumsum(relevant, axis=1)
    found = np.cumsum(first, axis=1)
    reciprocal = np.maximum.accumulate(relevant / ranks, axis=1)
    precise = np.cumsum(first * found / ranks, axis=1)
    gain = np.cumsum(grades / np.log2(ranks + 1), axis=1)
    ideal = np.cumsum(_best_grades(gold, len(ranks)) / np.log2(ranks + 1), axis=1)

    measures: dict[str, Floats] = {}
    for k in at.hit:
        measures[f"hit@{k}"] = (found[:, k - 1] > 0).astype(np.float64)
    for k in at.recall:
        measures[f"recall@{k}"] = found[:, k - 1] / groups
    for k in at.coverage:
        measures[f"all@{k}"] = (found[:, k - 1] == groups).astype(np.float64)
    for k in at.precision:
        measures[f"precision@{k}"] = retrieved[:, k - 1] / k
    for beta in (1, 2, 3):
        for k in at.f:
            measures[f"f{beta}@{k}"] = _f(measures[f"precision@{k}"], measures[f"recall@{k}"], beta)
    measures["mrr"] = reciprocal[:, -1]
    measures["map"] = precise[:, -1] / groups
    for k in at.ranked:
        measures[f"mrr@{k}"] = reciprocal[:, k - 1]
        measures[f"map@{k}"] = precise[:, k - 1] / groups
        measures[f"ndcg@{k}"] = gain[:, k - 1] / ideal[:, k - 1]
    return measures


def measure_named(gold: Sequence[Gold], rankings: Sequence[Sequence[str]], name: str) -> Floats:
    """Return one measure, at any cutoff, aligned with ``gold``: (questions,). Raises InputError for another name than
    those above.
    """
    _, _, cutoff = name.partition("@")
    at = [int(cutoff)] if re.fullmatch(r"[1-9]\d{0,3}", cutoff) else None
    found = measure(gold, rankings, at)
    if name not in found:
        kinds = dict.fromkeys(one.partition("@")[0] for one in found)
        raise InputError(
            f"expected a measure, one of {', '.join(kinds)}, with a cutoff such as ndcg@10, got {name!r}"
        )
    return found[name]


def measure_also(gold: Sequence[Gold], rankings: Sequence[Sequence[str]], name: str) -> dict[str, Floats]:
    """Return every measure of :func:`measure`, and the one with this ``name`` if it is none of them. Raises InputError as
    :func:`measure_named`.
    """
    found = measure(gold, rankings)
    return found if name in found else {**found, name: measure_named(gold, rankings, name)}


def cumulative_matches(gold: Sequence[Gold], rankings: Sequence[Sequence[str]]) -> Floats:
    """Return the cumulative match characteristic: the share of questions with a gold chunk by rank 1, 2 .. CMC_DEPTH."""
    relevant, _, _ = _judge(gold, rankings, CMC_DEPTH)
    matched: Floats = np.logical_or.accumulate(relevant[:, :CMC_DEPTH], axis=1).mean(axis=0)
    return matched


def _judge(
    gold: Sequence[Gold], rankings: Sequence[Sequence[str]], least: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Return whether the chunk at each rank is gold, the grade of its group if it is the first of it, else 0
    (questions, ranks), and the number of groups (questions,).

    There are at least ``least`` ranks, and at least as many as the largest number of groups.
    """
    if len(gold) != len(rankings):
        raise InputError(f"expected one ranking for each of {len(gold)} questions, got {len(rankings)}")
    groups = np.array([len(answer.groups) for answer in gold], dtype=np.int64)
    depth = max([least, *map(len, rankings), *groups.tolist()])
    relevant = np.zeros((len(gold), depth), dtype=np.bool_)
    grades = np.zeros(relevant.shape, dtype=np.int64)
    for row, (answer, ranking) in enumerate(zip(gold, rankings, strict=True)):
        if len(set(ranking)) < len(ranking):
            raise InputError(
                f"expected a ranking of distinct chunks for question {row}, got one listed twice"
            )
        group_of = {chunk: number for number, group in enumerate(answer.groups) for chunk in group}
        seen: set[int] = set()
        for column, chunk in enumerate(ranking):
            number = group_of.get(chunk)
            if number is not None:
                relevant[row, column] = True
                if number not in seen:
                    grades[row, column] = answer.grades[number] if answer.grades else 1
                seen.add(number)
    return relevant, grades, groups


def _best_grades(gold: Sequence[Gold], depth: int) -> NDArray[np.int64]:
    """Return the grades of each question's groups in the best order (questions, ranks), then zeros."""
    grades = np.zeros((len(gold), depth), dtype=np.int64)
    for row, answer in enumerate(gold):
        grades[row, : len(answer.groups)] = sorted(answer.grades, reverse=True) or 1
    return grades


def _f(precision: Floats, recall: Floats, beta: int) -> Floats:
    below = beta**2 * precision + recall
    return np.divide((1 + beta**2) * precision * recall, below, out=np.zeros_like(below), where=below > 0)
