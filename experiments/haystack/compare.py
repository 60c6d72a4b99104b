"""Measures the effect of collection size on quality: the same questions on a small and on a large store.

    trivium evaluate questions.jsonl --store small --hits small/questions.npz
    trivium evaluate questions.jsonl --store large --hits large/questions.npz
    python experiments/haystack/compare.py questions.jsonl --store small --hits small large --folds network/folds

The larger store contains the pages of the smaller one. With ``--folds`` (networks of ``trivium train --keep-folds``)
each question is ranked, in both stores, by the same network, which was not trained on its pages; otherwise by the
bundled network. Every row of the larger store is compared with the same row of the smaller one by paired tests over
pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import trivium
from experiments import command
from trivium.datasets.gold import Traced
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.run import evaluate
from trivium.fusion.fold_networks import read_folds
from trivium.fusion.hit_lists import HitList, load_hits
from trivium.fusion.registry import make_fusion
from trivium.fusion.score_table import Fusion
from trivium.search.ranking import Ranking, fused_ranking, own_ranking

SHOWN = ("hit@1", "hit@3", "hit@5", "mrr")
Rank = Callable[[HitList], Ranking]


def systems(hits: Sequence[HitList], embedder: str, folds: Path | None) -> Iterator[tuple[str, Rank]]:
    """Yield the rows of the table: the network, the convex combination, and every retriever."""
    read = None if folds is None else read_folds(folds)

    @cache
    def fusion_called(name: str) -> Fusion:
        return make_fusion(name, embedder)

    def by(name: str, hit: HitList) -> Ranking:
        return fused_ranking(hit.table, fusion_called(name).fuse(hit.table).scores)

    if read is None:
        yield "network", partial(by, "network")
    else:
        yield "network, out of fold", lambda hit: by(str(read.fusion_for(hit.question_id)), hit)
    yield "convex", partial(by, "convex")
    for retriever in hits[0].table.columns:
        yield retriever, lambda hit, name=retriever: own_ranking(hit.table, name)  # type: ignore[misc]


def compare(
    traced: Traced, stores: Mapping[str, Sequence[HitList]], embedder: str, folds: Path | None
) -> list[dict[str, Any]]:
    """Return for each system its measures on both stores, and the p-value of the difference."""
    rows = []
    for name, rank in systems(next(iter(stores.values())), embedder, folds):
        rankings = {}
        for store, hits in stores.items():
            found = {hit.question_id: rank(hit) for hit in hits}
            rankings[store] = [found[question.id] for question in traced.questions]
        report = evaluate(traced.questions, traced, rankings)
        tests = {one.measure: one for one in report.comparisons}
        means = {store: {m: report.rows[store].means[m] for m in SHOWN} for store in stores}
        rows.append({"system": name, **means, "p": {m: tests[m].p for m in SHOWN if m in tests}})
    return rows


def main() -> None:
    """Run the comparison and print the results."""
    parser = command.Parser(__doc__, takes="a minute a file")
    parser.add_argument("questions", nargs="+", type=command.existing, help="Question files.")
    parser.add_argument(
        "--store",
        type=command.store,
        required=True,
        help="The smaller store, in which the questions are traced.",
    )
    parser.add_argument(
        "--hits",
        nargs=2,
        type=command.existing,
        required=True,
        help="Folders of hit lists of the smaller and of the larger store.",
    )
    parser.add_argument(
        "--folds", type=command.existing, help="Networks of folds trained on these questions."
    )
    parser.add_argument("--json", type=command.output, help="Also write the figures to this file.")
    given = parser.parse_args()
    for file in given.questions:
        for folder in given.hits:
            command.existing(folder / f"{file.stem}.npz")
    figures = {}
    with trivium.Engine.open(given.store) as engine:
        for file in given.questions:
            traced = Evaluator(engine.searcher).trace(read_questions(file))
            asked = Traced(traced.questions, traced.gold)
            files = {folder.name: load_hits(folder / f"{file.stem}.npz") for folder in given.hits}
            embedder = next(iter(files.values())).embedder
            stores = {name: found.hits for name, found in files.items()}
            figures[file.stem] = compare(asked, stores, embedder, given.folds)
            _print(f"{file.stem}: {len(asked.questions)} questions", figures[file.stem], list(stores))
            if given.json is not None:
                given.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


def _print(title: str, rows: Sequence[Mapping[str, Any]], stores: Sequence[str]) -> None:
    print(f"\n{title}\n")
    print("| | " + " | ".join(f"{store}: {'/'.join(SHOWN)}" for store in stores) + " | p |")
    print("|---|" + "---|" * (len(stores) + 1))
    for row in rows:
        cells = ["/".join(f"{row[store][m]:.3f}" for m in SHOWN) for store in stores]
        chance = "/".join(f"{row['p'][m]:.3f}" for m in SHOWN if m in row["p"])
        print(f"| {row['system']} | " + " | ".join(cells) + f" | {chance} |")


if __name__ == "__main__":
    command.run(main)
