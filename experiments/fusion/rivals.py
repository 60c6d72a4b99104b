"""Compares the network with LambdaMART on the same features, reciprocal rank fusion and the convex combination, out of
fold.

    pip install 'trivium[train]' lightgbm
    python experiments/fusion/rivals.py hits/*.npz --importance 1 2 1 1 0.7 1 0.6 0.8 --members 3

All systems are evaluated on questions whose pages were not trained on. ``both`` is the sum of the standardised scores of
network and trees. Differences are the network minus the row, with two-sided permutation tests by page.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments import command
from trivium.evaluation.run import evaluate
from trivium.evaluation.tables import chance, grid, share
from trivium.fusion.convex import load
from trivium.fusion.rrf import ReciprocalRank
from trivium.search.ranking import fused_ranking, own_ranking
from trivium.training.crossfit import crossfit
from trivium.training.run import headline_measures, start_of
from trivium.training.settings import Settings
from trivium.training.training_data import Collection, Example, examples_of, read

Scores = list[np.ndarray]
ROUNDS = 200
_GROWTH: dict[str, Any] = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 10,
    "learning_rate": 0.07,
    "num_leaves": 31,
    "min_data_in_leaf": 50,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "verbose": -1,
    # The same trees every time, on any number of threads.
    "deterministic": True,
    "force_row_wise": True,
}


def main() -> None:
    """Run the experiment and print the results."""
    parser = command.Parser(__doc__, takes="minutes", packages=("lightgbm", "trivium[train]"))
    parser.add_argument("hits", nargs="+", type=command.existing)
    parser.add_argument("--importance", nargs="+", type=float, default=[])
    parser.add_argument("--members", type=int, default=1)
    given = parser.parse_args()
    collection = read(given.hits, given.importance, folds=5)
    examples = examples_of(collection)
    began = time.perf_counter()
    settings = replace(Settings(), members=given.members)
    fitted = crossfit(examples, collection.pages, settings, start=start_of(collection, settings))
    between = time.perf_counter()
    trees = lambdamart(examples, fitted.fold)
    print(f"networks {between - began:.0f} s, LambdaMART {time.perf_counter() - between:.0f} s\n")
    both = [standard(a) + standard(b) for a, b in zip(fitted.logits, trees, strict=True)]
    rows = {"network": fitted.logits, "LambdaMART": trees, "both": both}
    print(compared(collection, rows))


def lambdamart(examples: Sequence[Example], fold: np.ndarray) -> Scores:
    """Return out-of-fold scores of boosted trees that optimise nDCG."""
    scores: Scores = [np.zeros(0)] * len(examples)
    for held_out in np.unique(fold).tolist():
        booster = grow([examples[k] for k in np.flatnonzero(fold != held_out).tolist()], ROUNDS, seed=0)
        own = np.flatnonzero(fold == held_out).tolist()
        for k, found in zip(own, scores_by(booster, [examples[k] for k in own]), strict=True):
            scores[k] = found
    return scores


def scores_by(teacher: Any, examples: Sequence[Example]) -> list[np.ndarray]:
    """The scores (n,) that a booster of :func:`grow` gives the candidates of each question, predicted in one call."""
    sizes = [len(example.rows) for example in examples]
    if not sum(sizes):
        return [np.empty(0) for _ in examples]
    scores = np.asarray(teacher.predict(np.concatenate([example.rows for example in examples])))
    return np.split(scores, np.cumsum(sizes)[:-1])


def grow(examples: Sequence[Example], trees: int, seed: int) -> Any:
    """Return LambdaMART on questions that have gold among their candidates, as a LightGBM booster."""
    import lightgbm

    answerable = [example for example in examples if example.gold.any()]
    data = lightgbm.Dataset(
        np.concatenate([example.rows for example in answerable]),
        np.concatenate([example.gold for example in answerable]).astype(np.int32),
        group=[len(example.gold) for example in answerable],
        weight=np.concatenate([np.full(len(example.gold), example.weight) for example in answerable]),
    )
    return lightgbm.train({**_GROWTH, "seed": seed}, data, trees)


def standard(scores: np.ndarray) -> np.ndarray:
    """Standardise to mean 0 and standard deviation 1 over the candidates of a question."""
    return (scores - scores.mean()) / max(float(scores.std()), 1e-9) if len(scores) else scores


def compared(collection: Collection, rows: Mapping[str, Scores]) -> str:
    """Return one table per set: the figures of every row, and the differences between the first row and the others."""
    parts = []
    fusions = {"rrf": ReciprocalRank(), "convex": load(collection.embedder)}
    by_set = {name: [values for _, values in collection.by_set(scores)] for name, scores in rows.items()}
    for place, one in enumerate(collection.sets):
        rankings = {
            name: [fused_ranking(hit.table, own) for hit, own in zip(one.hits, values[place], strict=True)]
            for name, values in by_set.items()
        }
        for name, fusion in fusions.items():
            rankings[name] = [fused_ranking(hit.table, fusion.fuse(hit.table).scores) for hit in one.hits]
        for name in one.hits[0].table.columns:
            rankings[name] = [own_ranking(hit.table, name) for hit in one.hits]
        traced = one.traced
        report = evaluate(traced.questions, traced, rankings)
        measures = headline_measures(report)
        found = {(c.row, c.measure): c for c in report.comparisons}
        lines = []
        for name, row in report.rows.items():
            against = [found.get((name, measure)) for measure in measures]
            cells = [f"{-c.difference.mean:+.3f} ({chance(c.p)})" if c is not None else "" for c in against]
            lines.append([name, *(share(row.means[measure]) for measure in measures), *cells])
        heads = ["", *measures, *(f"network - row, {measure}" for measure in measures)]
        parts.append(f"### {one.name} ({len(traced.questions):,} questions)\n\n{grid(heads, lines)}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    command.run(main)
