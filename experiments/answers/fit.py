"""Fits the classifiers of answers to the rows written by ``collect.py``, and evaluates them on held-out pages.

    python experiments/answers/fit.py bge-small=rows.jsonl,sample.jsonl minilm=minilm.jsonl --save

``--save`` writes them into the package.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from trivium.answering.classifier import NO_EMBEDDER, SentenceClassifier

Rows = Sequence[Mapping[str, Any]]
Floats = NDArray[np.float64]

SENTENCE = [
    *("covered", "covered_lead", "covered_by_text", "covered_by_passage", "rarest", "names", "log_rank"),
    *("new_names", "number_found", "number_missing", "nobody", "log_length", "cosine", "cosine_lead"),
]
ALONE = [name for name in SENTENCE if not name.endswith("_lead")]
"""Features for lists of few sentences, among which standing out from the others means nothing."""
NEARNESS = ["covered", "covered_together", "names", "rarest", "second", "cosine", "best"]
STRAY = ["names", "numbers"]
SUPPORT = ["new", "together", "cosine", *STRAY]
FORGED = ("wrong name", "wrong number", "right, verbatim")
SENTENCE_THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
NEARNESS_THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
SUPPORT_THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8)
FOLDS = 5


def matrix(rows: Rows, names: Sequence[str]) -> Floats:
    return np.array([[row["features"][name] for name in names] for row in rows])


def sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def fit(rows: Rows, names: Sequence[str]) -> tuple[float, Floats]:
    """Return the intercept and the weights."""
    if rows[0]["task"] != "support":
        return solve(rows, names)
    # A forged sentence is as similar to its passage as possible: the weights of similarity are fitted without such
    # rows; the penalties for names and numbers that do not occur are then fitted with them.
    alike = [name for name in names if name not in STRAY]
    intercept, weights = solve([row for row in rows if row["case"] not in FORGED], alike)
    further, strays = solve(rows, STRAY, intercept + matrix(rows, alike) @ weights)
    by_name = dict(zip([*alike, *STRAY], [*weights, *strays], strict=True))
    return intercept + further, np.array([by_name[name] for name in names])


def solve(rows: Rows, names: Sequence[str], offset: Floats | None = None) -> tuple[float, Floats]:
    """Fit a logistic regression with an ``offset``. All lists of sentences have equal total weight, as have both
    classes of statements and of nearness.
    """
    x, sign = matrix(rows, names), np.where([row["right"] for row in rows], 1.0, -1.0)
    group = [(row["question"], row["case"]) if row["task"] == "sentence" else row["right"] for row in rows]
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


def show_sentences(rows: Rows, found: Floats) -> None:
    lists: defaultdict[tuple[str, str, str], list[tuple[float, bool]]] = defaultdict(list)
    for row, probability in zip(rows, found, strict=True):
        lists[row["set"], row["case"], row["question"]].append((probability, row["answers"]))
    for values in lists.values():
        values.sort(key=lambda value: -value[0])
    for name in [*sorted({key[0] for key in lists}), ""]:
        present = [v for (s, case, _), v in lists.items() if case == "present" and s.startswith(name)]
        absent = [v for (s, case, _), v in lists.items() if case == "absent" and s.startswith(name)]
        area = roc_auc_score([1] * len(present) + [0] * len(absent), [v[0][0] for v in [*present, *absent]])
        first = np.mean([v[0][1] for v in present])
        three = np.mean([any(right for _, right in v[:3]) for v in present])
        print(
            f"  {name or 'all':<22}{len(present):>4} questions; right first {first:.3f}, in three {three:.3f};"
            f" present or absent: area {area:.3f}"
        )
        for threshold in SENTENCE_THRESHOLDS:
            answered = [v for v in present if v[0][0] >= threshold]
            right = np.mean([v[0][1] for v in answered]) if answered else 0.0
            wrongly = np.mean([v[0][0] >= threshold for v in absent])
            share = len(answered) / len(present)
            print(
                f"      at {threshold:.2f}: answered {share:.3f} (right first {right:.3f}),"
                f" absent ones {wrongly:.3f}, balanced {(share + 1 - wrongly) / 2:.3f}"
            )


def with_best(rows: Rows, classifier: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return rows of nearness with the probability that the classifier of sentences assigns to their best sentence."""
    judge = SentenceClassifier(**classifier)
    return [
        {
            **row,
            "features": {
                **row["features"],
                "best": max(map(judge.probability, row["sentences"]), default=0.0),
            },
        }
        for row in rows
    ]


def show_nearness(rows: Rows, found: Floats) -> None:
    right = np.array([row["right"] for row in rows])
    print(
        f"  area {roc_auc_score(right, found):.4f}, {right.sum()} near, {(~right).sum()} about other things"
    )
    for name in sorted({row["set"] for row in rows}):
        own = found[[row["set"] == name for row in rows]]
        shares = "; ".join(
            f"{threshold:.2f} {np.mean(own < threshold):.3f}" for threshold in NEARNESS_THRESHOLDS
        )
        print(f"    {name:<28}{len(own):>4} questions; refused below {shares}")


def show_support(rows: Rows, found: Floats) -> None:
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
            "features": {**row["features"], "new": row["features"]["covered"]},
        }
        for row in rows
        if row["case"] in ("right", "wrong answer", "other passage", "random passage")
    ]
    return [*rows, *reworded]


def kept(rows: Rows, names: Sequence[str], threshold: float) -> dict[str, Any]:
    intercept, weights = fit(rows, names)
    return {
        "intercept": round(intercept, 4),
        "weights": {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)},
        "threshold": threshold,
    }


def read(names: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for name in names.split(",") for line in Path(name).read_text("utf-8").splitlines()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "rows",
        nargs="+",
        metavar="EMBEDDER=FILE,...",
        help="the first is also used for unknown embedders",
    )
    parser.add_argument("--threshold", type=float, default=0.2, help="threshold for sentences")
    parser.add_argument(
        "--alone-threshold", type=float, default=0.25, help="threshold for sentences of few passages"
    )
    parser.add_argument("--nearness-threshold", type=float, default=0.3)
    parser.add_argument("--support-threshold", type=float, default=0.8)
    parser.add_argument("--save", action="store_true", help="write the classifiers into the package")
    parser.add_argument(
        "--out", type=Path, help="write the classifiers to this file instead, for outcomes.py"
    )
    arguments = parser.parse_args()
    classifiers: dict[str, dict[str, Any]] = {
        "sentence": {},
        "sentence_alone": {},
        "nearness": {},
        "support": {},
    }
    given = [argument.partition("=")[::2] for argument in arguments.rows]
    for embedder, names in [*given, (NO_EMBEDDER, given[0][1])]:
        rows = read(names)
        of_task = {
            task: [row for row in rows if row["task"] == task] for task in ("sentence", "nearness", "support")
        }

        def seen(columns: Sequence[str], without: bool = embedder == NO_EMBEDDER) -> list[str]:
            return [name for name in columns if not (without and name.startswith("cosine"))]

        compared = [row for row in of_task["sentence"] if row["case"] != "alone"]
        print(f"{embedder}, sentence")
        show_sentences(compared, out_of_fold(compared, seen(SENTENCE)))
        classifiers["sentence"][embedder] = kept(compared, seen(SENTENCE), arguments.threshold)
        print(f"{embedder}, sentence of a single passage")
        show_sentences(
            [{**row, "case": "present"} if row["case"] == "alone" else row for row in of_task["sentence"]
             if row["case"] != "present"],
            out_of_fold([row for row in of_task["sentence"] if row["case"] != "present"], seen(ALONE)),
        )  # fmt: skip
        classifiers["sentence_alone"][embedder] = kept(
            of_task["sentence"], seen(ALONE), arguments.alone_threshold
        )
        near = with_best(of_task["nearness"], classifiers["sentence"][embedder])
        print(f"{embedder}, nearness")
        show_nearness(near, out_of_fold(near, seen(NEARNESS)))
        classifiers["nearness"][embedder] = kept(near, seen(NEARNESS), arguments.nearness_threshold)
        reworded = with_rewordings(of_task["support"])
        if reworded:
            print(f"{embedder}, support")
            show_support(reworded, out_of_fold(reworded, seen(SUPPORT)))
            classifiers["support"][embedder] = kept(reworded, seen(SUPPORT), arguments.support_threshold)
    if arguments.save or arguments.out is not None:
        own = Path(str(files("trivium.answering").joinpath("classifiers.json")))
        target = own if arguments.save else arguments.out
        # Classifiers that were not fitted this time are kept.
        before = json.loads(own.read_text("utf-8"))
        for task, fitted in classifiers.items():
            before[task] = {**before.get(task, {}), **fitted}
        target.write_text(json.dumps(before, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
