"""Grid search over settings of the walk: selected on one half of the questions, evaluated on the other, both ways.

Questions are split by page. One setting is selected for all sets, with equal weights, because there is one default. The
objective is the headline measure (recall@5 for multi-hop questions, else the mean of hit@1, 3 and 5) or the recall
among the first 30, which are the input of a fusion.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from asked import Seeds, Set
from graphs import Edges
from numpy.typing import NDArray
from runs import DEEP, Rankings, Setting, Values, cell, headline, judge, sweep

from trivium.datasets.cross_validation import clusters, folds
from trivium.evaluation.significance import holm, mean_interval, p_value
from trivium.fusion.hit_lists import HitList, load_hits

DAMPINGS = (0.5, 0.6)
SHARES = (0.25,)
EDGES = (
    Edges(),
    Edges(own=2.0),
    Edges(own_page_weight=2.0),
    Edges(own_page_weight=4.0),
    Edges(own_page_weight=8.0),
)
SEEDS = (Seeds(), Seeds(lexical=0.25))

Objective = Callable[[Set, Values], Values]
OBJECTIVES: Mapping[str, Objective] = {
    "headline": headline,
    "first 30": lambda _, values: values[:, DEEP],
}


def grid(sets: Sequence[Set], hits: Path | None) -> None:
    """Run the grid search and print the results."""
    answers = {
        setting: rankings
        for edges in EDGES
        for seeds in SEEDS
        for setting, rankings in tried(sets, edges, seeds)
    }
    values = {
        setting: [judge(one, own) for one, own in zip(sets, rankings, strict=True)]
        for setting, rankings in answers.items()
    }
    lists = {} if hits is None else {one.name: load_hits(hits / f"{one.name}.npz").hits for one in sets}
    print(f"{len(values)} settings")
    without_words = {setting: own for setting, own in values.items() if setting.seeds.lexical == 0}
    for name, objective in OBJECTIVES.items():
        for which, among in (("all", values), ("no lexical seeds", without_words)):
            print(f"\n## By {name}, {which}")
            best = compare(sets, among, objective)
            for number, one in enumerate(sets if lists else ()):
                hit = {hit.question_id: hit for hit in lists[one.name]}
                now, then = (union(one, hit, answers[setting][number]) for setting in (Setting(), best))
                print(f"{one.name}: the union of all views finds {now.mean():.4f}, then {then.mean():.4f}")


def compare(sets: Sequence[Set], values: Mapping[Setting, Sequence[Values]], objective: Objective) -> Setting:
    """Print the selected settings with their out-of-fold quality; print and return the setting selected on all
    questions.
    """
    halves = [folds([asked.gold.pages for asked in one.asked], 2, seed=0) for one in sets]
    picked = [pick(sets, values, halves, objective, half) for half in (0, 1)]
    for half, setting in enumerate(picked):
        print(f"for half {half}: {setting}")
    held_out = [
        np.where((half == 0)[:, np.newaxis], values[picked[0]][i], values[picked[1]][i])
        for i, half in enumerate(halves)
    ]
    show(sets, values[Setting()], held_out)
    best = best_of(sets, values, objective)
    print(f"\non all questions: {best}")
    return best


def tried(sets: Sequence[Set], edges: Edges, seeds: Seeds) -> list[tuple[Setting, list[Rankings]]]:
    """Run every damping and share on one graph."""
    found = [sweep(one, edges, seeds, DAMPINGS, SHARES) for one in sets]
    return [
        (Setting(edges, replace(seeds, share=share), damping), [own[damping, share] for own in found])
        for damping, share in itertools.product(DAMPINGS, SHARES)
    ]


def pick(
    sets: Sequence[Set],
    values: Mapping[Setting, Sequence[Values]],
    halves: Sequence[NDArray[np.int64]],
    objective: Objective,
    half: int,
) -> Setting:
    """Select the best setting on one half and evaluate it on the other."""
    seen = {
        setting: [own[of != half] for own, of in zip(several, halves, strict=True)]
        for setting, several in values.items()
    }
    return best_of(sets, seen, objective)


def best_of(sets: Sequence[Set], values: Mapping[Setting, Sequence[Values]], objective: Objective) -> Setting:
    """Return the setting with the best mean over the sets; ties are broken by order."""
    return max(
        values,
        key=lambda setting: round(
            float(np.mean([objective(s, v).mean() for s, v in zip(sets, values[setting], strict=True)])), 9
        ),
    )


def show(sets: Sequence[Set], before: Sequence[Values], after: Sequence[Values]) -> None:
    """Print one row per set: measures before and after, and the difference of each objective with its interval and
    test.
    """
    print("\n| | shipped | held out | headline | p | first 30 | p |\n|---|---|---|---|---|---|---|")
    rows, tests = [], []
    for one, old, new in zip(sets, before, after, strict=True):
        pages = clusters([asked.gold.pages for asked in one.asked])
        row = [one.name, cell(one, old), cell(one, new)]
        for objective in OBJECTIVES.values():
            difference = objective(one, new) - objective(one, old)
            bound = mean_interval(difference, pages)
            row.append(f"{bound.mean:+.4f} [{bound.low:+.4f}, {bound.high:+.4f}]")
            tests.append(p_value(difference, pages))
        rows.append(row)
    adjusted = iter(holm(tests))
    for name, old_cell, new_cell, first, deep in rows:
        print(
            f"| {name} | {old_cell} | {new_cell} | {first} | {next(adjusted):.3f} | {deep} | {next(adjusted):.3f} |"
        )


def union(one: Set, lists: Mapping[str, HitList], rankings: Rankings) -> NDArray[np.float64]:
    """Return (questions,) the share of the gold found by some retriever, with these rankings in place of the walk's."""
    found = []
    for asked, ranking in zip(one.asked, rankings, strict=True):
        chunks = others_find(lists[asked.id]) | set(ranking)
        found.append(np.mean([bool(chunks & set(group)) for group in asked.gold.groups]))
    return np.array(found)


def others_find(hits: HitList) -> set[str]:
    """Return the chunks found by the retrievers other than the walk."""
    others = np.delete(hits.table.ranks, hits.table.column("walk"), axis=1)
    return {hits.table.chunks[row] for row in np.flatnonzero(others.any(axis=1))}
