"""Runs the walk for a set of questions under a setting, and evaluates the results."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from asked import DEPTH, Seeds, Set, mixed, sides
from graphs import Edges, solve, transition
from numpy.typing import NDArray

from trivium.evaluation.ranking_measures import measure
from trivium.retrievers.query import best_in_order

BATCH = 64
MEASURES = ("hit@1", "hit@3", "hit@5", "recall@5", "all@5")
DEEP = len(MEASURES)
"""Column of the recall among the first ``DEPTH``."""
MULTIHOP = ("hotpotqa", "2wiki", "musique", "hotpotqa_train", "musique_train")

Values = NDArray[np.float64]
"""(questions, measures); the last column is the recall among the first ``DEPTH``."""
Rankings = list[list[str]]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the walk: graph, seeds and damping."""

    edges: Edges = field(default_factory=Edges)
    seeds: Seeds = field(default_factory=Seeds)
    damping: float = 0.5


def answer(one: Set, setting: Setting) -> Rankings:
    """Return the results of a walk for every question."""
    found = sweep(one, setting.edges, setting.seeds, [setting.damping], [setting.seeds.share])
    return found[setting.damping, setting.seeds.share]


def sweep(
    one: Set, edges: Edges, seeds: Seeds, dampings: Sequence[float], shares: Sequence[float]
) -> dict[tuple[float, float], Rankings]:
    """Return the results for each (damping, share of the entities); all together cost little more than one."""
    matrix = transition(one.links, edges).astype(np.float32)
    count = len(one.links.chunks)
    found: dict[tuple[float, float], Rankings] = {both: [] for both in itertools.product(dampings, shares)}
    for start in range(0, len(one.asked), BATCH):
        chunks, entities = sides(one, one.asked[start : start + BATCH], seeds)
        if len(shares) == 1:  # one walk from both kinds of seeds, not one from each
            solved = solve(matrix, mixed(chunks, entities, shares[0]), dampings, count)
            for damping, mass in solved.items():
                found[damping, shares[0]] += ranked(mass, one.links.chunks)
            continue
        width = chunks.shape[1]
        both = solve(matrix, np.concatenate([chunks, entities], axis=1), dampings, count)
        for damping, mass in both.items():
            for share in shares:
                found[damping, share] += ranked(
                    mixed(mass[:, :width], mass[:, width:], share), one.links.chunks
                )
    return found


def ranked(mass: NDArray[np.float32], uris: Sequence[str]) -> Rankings:
    """Return the ``DEPTH`` best chunks of every column."""
    columns = np.ascontiguousarray(mass.T, dtype=np.float64)
    best = []
    for own in columns:
        reached = np.flatnonzero(own)
        best.append([uris[reached[row]] for row in best_in_order(own[reached], DEPTH)])
    return best


def judge(one: Set, rankings: Rankings) -> Values:
    """Return every measure of every question."""
    gold = [asked.gold for asked in one.asked]
    measured = measure(gold, rankings)
    deep = [
        np.mean([bool(set(group) & set(ranking)) for group in answer.groups])
        for answer, ranking in zip(gold, rankings, strict=True)
    ]
    return np.stack([*(measured[name] for name in MEASURES), np.array(deep)], axis=1)


def headline(one: Set, values: Values) -> Values:
    """Return (questions,) recall@5 for multi-hop questions, else the mean of hit@1, 3 and 5."""
    return values[:, 3] if one.name in MULTIHOP else values[:, :3].mean(axis=1)


def cell(one: Set, values: Values) -> str:
    """Format the means of a set for the tables."""
    own = values.mean(axis=0)
    shown = own[3:5] if one.name in MULTIHOP else own[:3]
    return "/".join(f"{value:.3f}" for value in shown) + f", {own[DEEP]:.3f}"
