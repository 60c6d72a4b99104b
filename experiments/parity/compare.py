"""Asks two stores of one corpus the same questions and compares their results, retriever by retriever.

    python experiments/parity/compare.py ../shared/data/wiki/squad_questions.jsonl --stores joint-store bolt://localhost:7687

Vector search is exact in both. Prints for every retriever how many questions have the same candidates (depth 30), and
the largest difference between the scores of a chunk; for full-text search, whose candidates depend on the engine, the
overlap of the ten best. Then hit@5 of the default fusion on both stores, exact and approximate.
"""

from __future__ import annotations

import json

import numpy as np

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.fusion.score_table import Table
from trivium.types import Question

SCORE_TOLERANCE = 1e-5
TOP = 10


def main() -> None:
    """Run the comparison and print the results."""
    parser = command.Parser(__doc__, takes="a minute or two")
    parser.add_argument("questions", type=command.existing)
    parser.add_argument("--stores", type=command.store, nargs=2, required=True, metavar="STORE")
    parser.add_argument("--sample", type=int, default=100, help="Number of questions (default 100).")
    parser.add_argument("--json", action="store_true", help="Print one JSON document.")
    given = parser.parse_args()
    questions = read_questions(given.questions)
    questions = questions[:: max(1, len(questions) // given.sample)][: given.sample]
    first, second = given.stores
    with trivium.Engine.open(first) as one, trivium.Engine.open(second) as other:
        report = {"questions": len(questions), "views": compare(one, other, questions)}
        report["default hit@5"] = {
            mode: {
                name: hit_at_5(engine, questions, exact=mode == "exact")
                for name, engine in ((first, one), (second, other))
            }
            for mode in ("exact", "approximate")
        }
    if given.json:
        print(json.dumps(report, indent=1))
        return
    print(f"{report['questions']} questions, exact vector search")
    for view, found in report["views"].items():
        print(
            f"{view:<10} same candidates {found['same candidates']:>4}   largest score difference "
            f"{found['largest difference']:.1e}   mean overlap of the {TOP} best {found['overlap']:.3f}"
        )
    for mode, rates in report["default hit@5"].items():
        print(
            f"default fusion, {mode}: hit@5 "
            + ", ".join(f"{rate:.4f} ({name})" for name, rate in rates.items())
        )


def compare(
    one: trivium.Engine, other: trivium.Engine, questions: list[Question]
) -> dict[str, dict[str, float]]:
    """Return the agreement of two stores by retriever."""
    views: dict[str, dict[str, list[float]]] = {}
    tables = zip(
        Evaluator(one.searcher).tables(questions, exact=True),
        Evaluator(other.searcher).tables(questions, exact=True),
        strict=True,
    )
    for left, right in tables:
        for view in left.columns:
            found = views.setdefault(view, {"same": [], "difference": [], "overlap": []})
            mine, theirs = ranking(left, view), ranking(right, view)
            found["same"].append(set(mine) == set(theirs))
            found["difference"].append(largest_difference(left, right, view))
            found["overlap"].append(overlap(mine[:TOP], theirs[:TOP]))
    return {
        view: {
            "same candidates": int(np.sum(found["same"])),
            "largest difference": float(np.nanmax(found["difference"])),
            "overlap": float(np.mean(found["overlap"])),
        }
        for view, found in views.items()
    }


def ranking(table: Table, view: str) -> list[str]:
    """Return the chunks found by a retriever, best first."""
    ranks = table.ranks[:, table.column(view)]
    rows = sorted(np.flatnonzero(ranks).tolist(), key=lambda row: int(ranks[row]))
    return [table.chunks[row] for row in rows]


def overlap(mine: list[str], theirs: list[str]) -> float:
    """Return the share of the longer list that both contain; 1 for two empty lists."""
    longer = max(len(mine), len(theirs))
    return len(set(mine) & set(theirs)) / longer if longer else 1.0


def largest_difference(left: Table, right: Table, view: str) -> float:
    """Return the largest difference between the scores of chunks in both tables; infinity if only one has a score."""
    rows = {uri: row for row, uri in enumerate(right.chunks)}
    shared = [(row, rows[uri]) for row, uri in enumerate(left.chunks) if uri in rows]
    if not shared:
        return 0.0
    mine = left.raw[[row for row, _ in shared], left.column(view)]
    theirs = right.raw[[row for _, row in shared], right.column(view)]
    if (np.isnan(mine) != np.isnan(theirs)).any():
        return float("inf")
    return float(np.nanmax(np.abs(mine - theirs), initial=0.0))


def hit_at_5(engine: trivium.Engine, questions: list[Question], *, exact: bool) -> float:
    """Return hit@5 of the default fusion."""
    report = engine.evaluate(questions, fusions=["default"], exact=exact)
    return float(report.to_json()["rows"]["default"]["hit@5"])


if __name__ == "__main__":
    command.run(main)
