"""Tunes the convex combination on several question sets at once, and evaluates it on held-out pages.

    python experiments/convex/tune.py --store joint-store --questions \\
        ../shared/data/wiki/squad_questions.jsonl ../shared/data/nq/earth_questions.jsonl \\
        ../shared/data/nq/qed_questions.jsonl --importance 1 1.7 1 --save

Prints hit@1/3/5 of each retriever, of ``rrf`` and of the combination, each of whose questions is answered with weights
fitted to the other folds (5, by page). Every set has the same total weight, whatever its size, times its
``--importance``: SQuAD's questions share more words with their paragraphs than those of real users, so the few
questions of users weigh more. ``--save`` writes weights fitted to all pages to ``trivium/fusion/convex.json``, under
the name of the store's embedder.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

import trivium
from experiments import command
from experiments.convex.weights import Example, fit_weights
from trivium.datasets.cross_validation import folds
from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.fusion.convex import Convex, features
from trivium.fusion.rrf import ReciprocalRank
from trivium.fusion.score_table import Table

LOGARITHMIC = ("walk",)
CUTOFFS = (1, 3, 5)
FOLDS = 5
WEIGHTS_FILE = Path(__file__).parents[2] / "trivium" / "fusion" / "convex.json"


def main() -> None:
    """Run the experiment and print the results."""
    parser = command.Parser(__doc__, takes="minutes", packages=("scipy",))
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", nargs="+", type=command.existing, required=True)
    parser.add_argument(
        "--importance", nargs="+", type=float, help="Weight of each question file (default 1 each)."
    )
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    importance = given.importance or [1.0] * len(given.questions)
    if len(importance) != len(given.questions):
        parser.error(f"expected {len(given.questions)} numbers after --importance, got {len(importance)}")
    with trivium.Engine.open(given.store) as engine:
        sets = {path.stem: _read(engine, path, given.exact) for path in given.questions}
        embedder = engine.embedder.identity.name
    show(judge(sets, importance))
    if given.save:
        save(embedder, fit(*_flatten(sets, importance)))


Tables = list[Table]
Set = tuple[Tables, list[Gold]]


def _read(engine: trivium.Engine, path: Path, exact: bool) -> Set:
    questions = read_questions(path)
    traced = Evaluator(engine.searcher).trace(questions)
    asked = [question for question in questions if question.id in traced.gold]
    print(f"{path.stem}: {len(questions)} questions, {len(asked)} traced")
    tables = list(
        track(Evaluator(engine.searcher).tables(asked, exact=exact), total=len(asked), description=path.stem)
    )
    return tables, [traced.gold[question.id] for question in asked]


def _flatten(sets: dict[str, Set], importance: list[float]) -> tuple[Tables, list[Gold], np.ndarray]:
    tables = [table for tables, _ in sets.values() for table in tables]
    gold = [one for _, golds in sets.values() for one in golds]
    weight = np.concatenate(
        [np.full(len(t), factor / len(t)) for (t, _), factor in zip(sets.values(), importance, strict=True)]
    )
    return tables, gold, weight


def _gold_mask(table: Table, gold: Gold) -> np.ndarray:
    wanted = {chunk for group in gold.groups for chunk in group}
    return np.array([chunk in wanted for chunk in table.chunks], dtype=bool)


def fit(tables: Tables, gold: list[Gold], weight: np.ndarray) -> Convex:
    """Fit weights to questions with gold. ``weight`` (n,) is the weight of each question."""
    examples = [
        Example(features(table, LOGARITHMIC), _gold_mask(table, one), float(share))
        for table, one, share in zip(tables, gold, weight, strict=True)
    ]
    found = fit_weights(examples)
    return Convex(dict(zip(tables[0].columns, found.tolist(), strict=True)), LOGARITHMIC)


def judge(sets: dict[str, Set], importance: list[float]) -> dict[str, dict[str, list[float]]]:
    """Return {set: {row: [hit@1, hit@3, hit@5]}}, out of fold for the combination."""
    tables, gold, weight = _flatten(sets, importance)
    fold = folds([one.pages for one in gold], FOLDS, seed=0)
    tuned: list[Convex] = []
    for held_out in range(FOLDS):
        rest = np.flatnonzero(fold != held_out)
        tuned.append(fit([tables[i] for i in rest], [gold[i] for i in rest], weight[rest]))
        print(f"fold {held_out}: " + "  ".join(f"{k} {v:.3f}" for k, v in tuned[-1].weights.items()))
    result: dict[str, dict[str, list[float]]] = {}
    start = 0
    for name, (own, golds) in sets.items():
        rows: dict[str, list[list[bool]]] = {}
        for place, (table, one) in enumerate(zip(own, golds, strict=True), start=start):
            mask = _gold_mask(table, one)
            for column, view in enumerate(table.columns):
                rows.setdefault(view, []).append(_own_hits(table, column, mask))
            rows.setdefault("rrf", []).append(_hits(ReciprocalRank().fuse(table).scores, mask))
            rows.setdefault("tuned", []).append(_hits(tuned[fold[place]].fuse(table).scores, mask))
            rows.setdefault("(any candidate)", []).append([bool(mask.any())] * len(CUTOFFS))
        result[name] = {row: np.mean(found, axis=0).tolist() for row, found in rows.items()}
        start += len(own)
    return result


def _hits(scores: np.ndarray, gold: np.ndarray) -> list[bool]:
    order = np.argsort(-scores, kind="stable")
    return [bool(gold[order[:k]].any()) for k in CUTOFFS]


def _own_hits(table: Table, column: int, gold: np.ndarray) -> list[bool]:
    ranks = table.ranks[:, column]
    return [bool((gold & (ranks > 0) & (ranks <= k)).any()) for k in CUTOFFS]


def show(judged: dict[str, dict[str, list[float]]]) -> None:
    """Print the table of the README."""
    grid = Grid()
    grid.add_column("hit@1 / 3 / 5")
    for name in judged:
        grid.add_column(name)
    for row in next(iter(judged.values())):
        grid.add_row(row, *(" / ".join(f"{value:.3f}" for value in rows[row]) for rows in judged.values()))
    Console().print(grid)


def save(embedder: str, convex: Convex) -> None:
    """Write weights to the package's data, rounded to three digits."""
    data = json.loads(WEIGHTS_FILE.read_text("utf-8"))
    data["logarithmic"] = list(LOGARITHMIC)
    data["weights"][embedder] = {view: round(weight, 3) for view, weight in convex.weights.items()}
    WEIGHTS_FILE.write_text(json.dumps(data, indent=2) + "\n", "utf-8")
    print(f"saved weights for {embedder}: {data['weights'][embedder]}")


if __name__ == "__main__":
    command.run(main)
