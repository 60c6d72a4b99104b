"""Fits the boosted trees that judge parts of passages to the rows written by ``collect_parts.py``, for one embedder.

    pip install lightgbm
    python experiments/answers/fit_parts.py bge-small boats.npz backup.npz coop.npz --others squad2.npz --save
    python experiments/answers/fit_parts.py none boats.npz ... --words --save

Prints, for each set of ordinary files, how the trees that were fitted to all other sets do on it: of how many
answerable questions the most probable part is right, how well its probability tells questions that the collection does
not answer (area under the curve), those without their passages and those about other things, and how many of the
answers are right.
``--words`` leaves out the features of meaning. ``--save`` writes trees fitted to all sets into the package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from experiments import command
from trivium.answering.evidence import of_all

if TYPE_CHECKING:
    import lightgbm

WEIGHT_OF_OTHERS, WEIGHT_OF_FOREIGN = 0.3, 1.0
"""Sets that are not ordinary files with questions of many kinds weigh less."""
TOO_LONG, WEIGHT_OF_TOO_LONG = 1.7, 0.3
"""How much longer than the shortest right part (and 80 characters) a right one may be to count fully."""
PARTS = 40
TREES = {
    "n_estimators": 250,
    "learning_rate": 0.06,
    "num_leaves": 15,
    "min_child_samples": 30,
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": 0.5,
    "reg_lambda": 5,
    "random_state": 0,
    "verbose": -1,
    "n_jobs": 1,
}
OF_MEANING = ("cosine", "cosine_mean", "cosine_of_passage", "cosine_lead", "sentences", "cosine_gap")
ANSWERED, NOTHING, NEAR = 0.11, 0.005, 0.4
"""The probability from which a part answers, below which nothing is said of the question, and that of nearness from which
the passages are about it.
"""
FOLDS = 3
RISKS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
"""Shares of answers that may be wrong, for which the probability is measured from which on they are not more."""


@dataclass
class Question:
    """A question, the features of its parts (n, columns), their labels and lengths (n,)."""

    set: str
    group: str
    kind: str
    answerable: bool
    rows: NDArray[np.float32]
    right: NDArray[np.int8]
    lengths: NDArray[np.int64]

    def targets(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what is to be predicted and the weights (n,)."""
        target, weight = (self.right == 1).astype(float), np.ones(len(self.right))
        if target.any():
            shortest = self.lengths[self.right == 1].min()
            weight[(self.right == 1) & (self.lengths > TOO_LONG * shortest + 80)] = WEIGHT_OF_TOO_LONG
        elif self.answerable:
            weight[:] = 0  # the answer was not read: nothing can be learned
        weight[self.right == -1] = 0
        return target, weight * PARTS / len(weight)


def read(file: Path, words: bool) -> tuple[list[str], list[Question]]:
    """Return the names of the features and the questions of a set."""
    data = np.load(file)
    columns = [str(name) for name in data["columns"]]
    kept = [place for place, name in enumerate(columns) if not (words and name in OF_MEANING)]
    ends = np.cumsum(data["counts"])
    questions = []
    for told, end, count in zip(data["asked"], ends, data["counts"], strict=True):
        one, own = json.loads(str(told)), slice(end - count, end)
        rows = data["rows"][own][:, kept]
        questions.append(
            Question(
                file.stem,
                one["group"],
                one["kind"],
                one["answerable"],
                rows,
                data["right"][own],
                data["lengths"][own],
            )
        )
    return [columns[place] for place in kept], questions


def fit(questions: Sequence[Question], first: Sequence[str]) -> lightgbm.LGBMClassifier:
    """Return trees fitted to questions, each of which weighs the same but for its set."""
    import lightgbm

    targets, weights = [], []
    for one in questions:
        target, weight = one.targets()
        of_set = 1.0 if one.set in first else WEIGHT_OF_OTHERS
        targets.append(target)
        weights.append(weight * of_set * (WEIGHT_OF_FOREIGN if one.kind == "foreign" else 1.0))
    every, weight = np.concatenate(targets), np.concatenate(weights)
    rows, counted = np.concatenate([one.rows for one in questions]), weight > 0
    model = lightgbm.LGBMClassifier(**TREES)
    model.fit(rows[counted], every[counted], sample_weight=weight[counted])
    return model


def together(columns: Sequence[str], one: Question, best: float) -> list[float]:
    """Return :func:`trivium.answering.evidence.of_all` of a question."""
    rows = [dict(zip(columns, row.tolist(), strict=True)) for row in one.rows]
    return of_all(rows, best)


def fit_nearness(
    columns: Sequence[str], questions: Sequence[Question], first: Sequence[str]
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return intercept and weights for whether passages are about a question, and :func:`risks`, and print how well both
    are told. The probabilities of parts are of trees that were not fitted to the question's document.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    groups = sorted({one.group for one in questions})
    fold = dict(zip(groups, np.random.default_rng(0).permutation(len(groups)) % FOLDS, strict=True))
    told: list[tuple[list[float], bool]] = []
    answers: list[tuple[float, bool, float, str]] = []
    for place in range(FOLDS):
        model = fit([one for one in questions if fold[one.group] != place], first)
        for one in questions:
            if fold[one.group] != place:
                continue
            found = model.predict_proba(one.rows)[:, 1]
            best = int(found.argmax())
            is_near = one.answerable and bool((one.right == 1).any())
            if is_near or one.kind == "foreign":
                told.append((together(columns, one, float(found[best])), is_near))
            if one.kind not in ("foreign", "without"):
                weight = 1.0 if one.set in first else WEIGHT_OF_OTHERS
                answers.append((float(found[best]), bool(one.right[best] == 1), weight, one.set))
    values = np.array([row for row, _ in told])
    near: NDArray[np.bool_] = np.array([is_near for _, is_near in told])
    regression = LogisticRegression(class_weight="balanced", max_iter=2000).fit(values, near)
    about = regression.predict_proba(values)[:, 1]
    print(
        f"nearness: area {roc_auc_score(near, about):.4f}; below {NEAR}: {np.mean(about[near] < NEAR):.3f} of"
        f" {near.sum()} near, {np.mean(about[~near] < NEAR):.3f} of {(~near).sum()} about other things"
    )
    nearness = np.concatenate([regression.intercept_, regression.coef_[0]]).astype(np.float32)
    return nearness, risks(answers)


Best = tuple[float, bool, float, str]
"""The probability of the best part of a question, whether it is right, and the weight and the set of the question."""


def risks(answers: Sequence[Best]) -> NDArray[np.float64]:
    """Return for each of :data:`RISKS` the probability from which on no more answers are wrong. Prints it, with what is
    found on each set from the probability that the others promise so much of; and how many are right by tenth.
    """
    rows = []
    for level in RISKS:
        rows.append((level, sure_from(answers, level)))
        told = []
        for name in dict.fromkeys(one[3] for one in answers):
            least = sure_from([one for one in answers if one[3] != name], level)
            own = [right for found, right, _, of_set in answers if of_set == name and found >= least]
            told.append(f"{name} {own.count(False)} of {len(own)}")
        share = np.average([one[0] >= rows[-1][1] for one in answers], weights=[one[2] for one in answers])
        print(
            f"risk {level}: from {rows[-1][1]:.3f}, {share:.2f} answered; promised by the others: {', '.join(told)}"
        )
    for low in np.arange(0, 1, 0.1):
        inside = [one for one in answers if low <= one[0] < low + 0.1]
        if inside:
            said, right = (np.mean([one[place] for one in inside]) for place in (0, 1))
            print(f"said {said:.2f}: right {right:.2f} of {len(inside)}")
    return np.array(rows)


def sure_from(answers: Sequence[Best], level: float) -> float:
    """Return the lowest probability from which on at most a share ``level`` of the answers is wrong, by their weights; 1
    if there is none.
    """
    best_first = sorted(answers, reverse=True)
    wrong = np.cumsum([weight * (not right) for _, right, weight, _ in best_first])
    few_enough = np.flatnonzero(wrong <= level * np.cumsum([one[2] for one in best_first]))
    return best_first[few_enough[-1]][0] if len(few_enough) else 1.0


def report(name: str, model: lightgbm.LGBMClassifier, questions: Sequence[Question]) -> None:
    """Print how trees do on questions that they were not fitted to."""
    from sklearn.metrics import roc_auc_score

    best: list[tuple[Question, float, bool]] = []
    for one in questions:
        found = model.predict_proba(one.rows)[:, 1]
        first = int(found.argmax())
        best.append((one, float(found[first]), bool(one.right[first] == 1)))
    answerable = [
        (p, right) for one, p, right in best if one.answerable and one.kind not in ("foreign", "without")
    ]
    told = f"{name}: right first {sum(right for _, right in answerable)} of {len(answerable)}"
    for label, others in (
        (
            "not answered",
            [p for one, p, _ in best if not one.answerable and one.kind not in ("foreign", "without")],
        ),
        ("without", [p for one, p, _ in best if one.kind == "without"]),
        ("foreign", [p for one, p, _ in best if one.kind == "foreign"]),
    ):
        if others:
            scores = [*(p for p, _ in answerable), *others]
            area = roc_auc_score([1] * len(answerable) + [0] * len(others), scores)
            told += f"; {label} ({len(others)}): area {area:.3f}, answered {np.mean(np.array(others) >= ANSWERED):.2f}"
    sure = sorted(((p, right) for _, p, right in best if p >= ANSWERED), reverse=True)
    print(f"{told}; right of the {len(sure)} from {ANSWERED} on: {np.mean([right for _, right in sure]):.3f}")


def arrays(
    model: lightgbm.LGBMClassifier, nearness: NDArray[np.float32], risky: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Return trees as the arrays of :class:`trivium.answering.judge_parts.Trees`."""
    trees: list[list[tuple[int, float, int, int, float]]] = []
    for tree in model.booster_.dump_model()["tree_info"]:
        nodes: list[tuple[int, float, int, int, float]] = []

        def add(node: Mapping[str, Any], nodes: list[tuple[int, float, int, int, float]] = nodes) -> int:
            place = len(nodes)
            if "split_feature" not in node:
                nodes.append((-1, 0.0, 0, 0, node["leaf_value"]))
                return place
            nodes.append((0, 0.0, 0, 0, 0.0))
            left, right = add(node["left_child"]), add(node["right_child"])
            nodes[place] = (node["split_feature"], node["threshold"], left, right, 0.0)
            return place

        add(tree["tree_structure"])
        trees.append(nodes)
    most = max(map(len, trees))
    padded = [[*nodes, *[(-1, 0.0, 0, 0, 0.0)] * (most - len(nodes))] for nodes in trees]
    kinds = {
        "feature": np.int16,
        "threshold": np.float32,
        "left": np.int16,
        "right": np.int16,
        "value": np.float32,
    }
    return {
        **{
            name: np.array([[node[place] for node in nodes] for nodes in padded], kind)
            for place, (name, kind) in enumerate(kinds.items())
        },
        "thresholds": np.array([ANSWERED, NOTHING, NEAR], np.float32),
        "of_all": nearness,
        "risks": risky,
    }


def main() -> None:
    """Print the figures, and save the trees."""
    parser = command.Parser(__doc__, takes="minutes", packages=("lightgbm", "scikit-learn"))
    parser.add_argument("embedder")
    parser.add_argument(
        "sets", type=command.existing, nargs="+", help="ordinary files with questions of many kinds"
    )
    parser.add_argument(
        "--others", type=command.existing, nargs="*", default=[], help="other sets, which weigh less"
    )
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    sets = {file.stem: read(file, given.words)[1] for file in [*given.sets, *given.others]}
    columns = read(given.sets[0], given.words)[0]
    first = [file.stem for file in given.sets]
    for held in [] if given.save else first:
        report(held, fit([q for name in sets if name != held for q in sets[name]], first), sets[held])
    every = [q for one in sets.values() for q in one]
    nearness, risky = fit_nearness(columns, every, first)
    if given.save:
        folder = Path(str(files("trivium.answering").joinpath("evidence_trees")))
        save_file(arrays(fit(every, first), nearness, risky), folder / f"{given.embedder}.safetensors")


if __name__ == "__main__":
    command.run(main)
