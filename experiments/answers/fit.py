"""Fits the regression that tells whether a part of a passage says what a statement says to the rows written by
``collect.py``, and evaluates it on held-out pages.

    python experiments/answers/fit.py squad.jsonl qed.jsonl sample.jsonl

It prints the constants of :mod:`trivium.answering.check_statements`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import command

Rows = Sequence[Mapping[str, Any]]
Floats = NDArray[np.float64]

STRAY = ["names", "numbers"]
SUPPORT = ["new", "said", *STRAY]
FORGED = ("wrong name", "wrong number", "right, verbatim")
SUPPORT_THRESHOLDS = (0.5, 0.7, 0.86)
FOLDS = 5


def matrix(rows: Rows, names: Sequence[str]) -> Floats:
    return np.array([[row["features"][name] for name in names] for row in rows])


def sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def fit(rows: Rows, names: Sequence[str]) -> tuple[float, Floats]:
    """Return the intercept and the weights."""
    # A forged sentence is as similar to its passage as possible: the weights of similarity are fitted without such
    # rows; the penalties for names and numbers that do not occur are then fitted with them.
    alike = [name for name in names if name not in STRAY]
    intercept, weights = solve([row for row in rows if row["case"] not in FORGED], alike)
    further, strays = solve(rows, STRAY, intercept + matrix(rows, alike) @ weights)
    by_name = dict(zip([*alike, *STRAY], [*weights, *strays], strict=True))
    return intercept + further, np.array([by_name[name] for name in names])


def solve(rows: Rows, names: Sequence[str], offset: Floats | None = None) -> tuple[float, Floats]:
    """Fit a logistic regression with an ``offset``. Both classes have equal total weight."""
    x, sign = matrix(rows, names), np.where([row["right"] for row in rows], 1.0, -1.0)
    group = [row["right"] for row in rows]
    size: defaultdict[Any, int] = defaultdict(int)
    for one in group:
        size[one] += 1
    weight = np.array([1 / size[one] for one in group])
    weight *= len(rows) / weight.sum()
    mean, deviation = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = (x - mean) / deviation
    base = np.zeros(len(rows)) if offset is None else offset

    def loss(parameters: Floats) -> tuple[float, Floats]:
        margin = sign * (base + parameters[0] + z @ parameters[1:])
        pull = -weight * sign * sigmoid(-margin)
        value = weight @ np.logaddexp(0, -margin) + parameters[1:] @ parameters[1:] / 2
        return float(value), np.concatenate([[pull.sum()], z.T @ pull + parameters[1:]])

    from scipy.optimize import minimize

    found = minimize(loss, np.zeros(1 + len(names)), jac=True, method="L-BFGS-B")
    weights = found.x[1:] / deviation
    return float(found.x[0] - weights @ mean), weights


def out_of_fold(rows: Rows, names: Sequence[str]) -> Floats:
    """Return out-of-fold probabilities, by models that were trained on no question of the same page."""
    pages = sorted({row["page"] for row in rows})
    shuffled = np.random.default_rng(0).permutation(len(pages)) % FOLDS
    fold_of = dict(zip(pages, shuffled, strict=True))
    fold = np.array([fold_of[row["page"]] for row in rows])
    x, found = matrix(rows, names), np.zeros(len(rows))
    for one in range(FOLDS):
        intercept, weights = fit([row for row, f in zip(rows, fold, strict=True) if f != one], names)
        found[fold == one] = sigmoid(intercept + x[fold == one] @ weights)
    return found


def show_support(rows: Rows, found: Floats) -> None:
    from sklearn.metrics import roc_auc_score

    print(f"  area {roc_auc_score([row['right'] for row in rows], found):.3f}")
    for threshold in SUPPORT_THRESHOLDS:
        shares: defaultdict[str, list[bool]] = defaultdict(list)
        for row, probability in zip(rows, found, strict=True):
            shares[row["case"]].append(probability >= threshold)
        cases = "; ".join(f"{case} {np.mean(values):.3f}" for case, values in sorted(shares.items()))
        print(f"      at {threshold:.2f}: {cases}")


def with_rewordings(rows: Rows) -> list[Mapping[str, Any]]:
    """Add copies of the rows of statements judged as if there were no question, so that all of a statement is new.

    Models use other words than the passage, as did the people who wrote the questions: without a question, its words in
    the statement are such rewordings.
    """
    reworded = [
        {
            **row,
            "case": f"{row['case']}, reworded",
            "features": {**row["features"], "new": row["features"]["said"]},
        }
        for row in rows
        if row["case"] in ("right", "wrong answer", "other passage", "random passage")
    ]
    return [*rows, *reworded]


def read(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def main() -> None:
    parser = command.Parser(__doc__, takes="seconds", packages=("scipy", "scikit-learn"))
    parser.add_argument("rows", nargs="+", type=command.existing, metavar="FILE")
    reworded = with_rewordings(read(parser.parse_args().rows))
    show_support(reworded, out_of_fold(reworded, SUPPORT))
    intercept, weights = fit(reworded, SUPPORT)
    print(f"INTERCEPT = {intercept:.4f}")
    print({name: round(float(weight), 4) for name, weight in zip(SUPPORT, weights, strict=True)})


if __name__ == "__main__":
    command.run(main)
