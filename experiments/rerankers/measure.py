"""Measures rerankers after three first stages, and rules that cut off a list: passages kept against answers lost.

    python experiments/rerankers/measure.py rerankers --store joint-store --questions \\
        ../shared/data/wiki/squad_questions.jsonl ../shared/data/nq/earth_questions.jsonl \\
        ../shared/data/nq/qed_questions.jsonl --sample 400
    python experiments/rerankers/measure.py cuts --store joint-store --questions ...

``--sample`` draws that many questions of a set (seed 0). ``--first`` names first stages, or TREC runs whose lists are
reranked or cut. ``--rerank`` names other rerankers, such as a cross-encoder or a language model; ``--set`` gives
settings, such as rerank.passages=10. ``--runs FOLDER`` writes every row as a TREC run with judgements, one folder per
set: ``trivium leaderboard FOLDER`` compares them. Intervals are 95 % confidence intervals of the paired difference,
clustered by page.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

import trivium
from experiments import command
from trivium.datasets.cross_validation import clusters
from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.significance import mean_intervals
from trivium.evaluation.trec_files import read_runs, write_rankings
from trivium.retrievers.query import Query
from trivium.retrievers.setting_values import parse_assignments
from trivium.retrievers.signals import SignalSettings
from trivium.search.cut import Cut
from trivium.search.ranking import Ranking, fused_ranking, own_ranking, probability
from trivium.search.requests import MAX_K

FIRST = ("vector", "convex", "default")
RERANKERS = ("bm25", "weighted:0.9", "weighted:0.7", "weighted:0.5", "weighted:0.3")
CUTS = (
    "gap:1-10",
    "gap:3-10",
    "near:0.3:1-10",
    "near:0.5:1-10",
    "near:0.7:1-10",
    "near:0.8:1-10",
    "near:0.7:3-10",
    "probability:0.005:1-10",
    "probability:0.01:1-10",
    "probability:0.02:1-10",
    "probability:0.01:3-10",
)
MOST = 10

Floats = NDArray[np.float64]


def first_drop(share: float, scores: Sequence[float]) -> int:
    """Cut before the first drop of at least a share of the range from the best to the last score."""
    far = share * (scores[0] - scores[min(MOST, len(scores)) - 1])
    falls = (
        place
        for place in range(1, min(MOST, len(scores) - 1) + 1)
        if scores[place - 1] - scores[place] >= far
    )
    return next(falls, min(MOST, len(scores))) if far > 0 else min(MOST, len(scores))


def above(threshold: float, scores: Sequence[float]) -> int:
    """Keep passages that are at least that probable, wherever they are."""
    return max(1, sum(probability(score) >= threshold for score in scores[:MOST]))


def chance(threshold: float, scores: Sequence[float]) -> int:
    """Cut as soon as one of the kept passages is right with that probability."""
    none_right = 1.0
    for count, score in enumerate(scores[:MOST], start=1):
        none_right *= 1.0 - probability(score)
        if 1.0 - none_right >= threshold:
            return count
    return min(MOST, len(scores))


OTHERS: dict[str, tuple[Callable[[Sequence[float]], int], bool]] = {
    "first drop of 0.2": (partial(first_drop, 0.2), False),
    "first drop of 0.3": (partial(first_drop, 0.3), False),
    "first drop of 0.5": (partial(first_drop, 0.5), False),
    "each at least 0.02": (partial(above, 0.02), True),
    "each at least 0.05": (partial(above, 0.05), True),
    "one right with 0.8": (partial(chance, 0.8), True),
    "one right with 0.95": (partial(chance, 0.95), True),
}
"""Rules not in the package, since they were no better than those in it; True if they take log-odds."""


@dataclass(frozen=True)
class Asked:
    """A question with its gold, valid while its query can be read."""

    id: str
    query: Query
    gold: Gold
    rankings: dict[str, Ranking]


@dataclass
class Kept:
    """Contents of the runs: the gold of each question by its id, and the rankings of each row."""

    gold: dict[str, Gold] = field(default_factory=dict)
    rankings: dict[str, list[Ranking]] = field(default_factory=dict)

    def add(self, *parts: str, ranking: Ranking) -> None:
        """Append the ranking of the next question to a row, named by its parts."""
        self.rankings.setdefault(" > ".join(part for part in parts if part), []).append(ranking)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and print the results."""
    parser = command.Parser(__doc__, takes="1 to 2 minutes a set")
    parser.add_argument("what", choices=("rerankers", "cuts"))
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", nargs="+", type=command.existing, required=True)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--first", nargs="+", default=list(FIRST), metavar="STAGE|RUN")
    parser.add_argument("--rerank", nargs="+", default=list(RERANKERS))
    parser.add_argument("--set", nargs="+", default=[])
    parser.add_argument("--runs", type=Path, metavar="FOLDER")
    given = parser.parse_args(arguments)
    with trivium.Engine.open(given.store) as engine:
        for path in given.questions:
            asked = asked_of(engine, path, given.sample, given.first)
            kept = Kept()
            if given.what == "rerankers":
                grid = rerank_all(engine, path.stem, asked, given.rerank, parse_assignments(given.set), kept)
            else:
                grid = cut_all(path.stem, asked, kept)
            if given.runs is not None:
                write_rankings(kept.gold, kept.rankings, given.runs / path.stem)
            Console(width=150).print(grid)


def asked_of(engine: trivium.Engine, path: Path, sample: int | None, first: Sequence[str]) -> Iterator[Asked]:
    """Yield each question that can be traced, or a sample of them, with the rankings of the first stages."""
    questions = read_questions(path)
    if sample is not None and sample < len(questions):
        questions = random.Random(0).sample(questions, sample)  # noqa: S311 - draws questions
    searcher = engine.searcher
    traced = Evaluator(searcher).trace(questions)
    runs = read_runs([name for name in first if name not in FIRST], [one.id for one in questions])
    fusions = {name: searcher.fusions.get(name) for name in first if name in FIRST and name != "vector"}
    signals = SignalSettings() if any(fusion.needs_signals for fusion in fusions.values()) else None
    for question in track(traced.questions, description=path.stem, console=Console(stderr=True)):
        with engine.store.pinned() as store:
            query = searcher.query(question.text, store=store)
            table = searcher.table(query, searcher.retrievers.choose(), signals=signals)
            rankings = {"vector": own_ranking(table, "vector")} if "vector" in first else {}
            for name, fusion in fusions.items():
                rankings[name] = fused_ranking(table, searcher.fuse(fusion, table).scores)
            rankings |= {name: list(run.get(question.id, ())) for name, run in runs.items()}
            yield Asked(question.id, query, traced.gold[question.id], rankings)


def rerank_all(
    engine: trivium.Engine,
    name: str,
    asked: Iterator[Asked],
    rerankers: Sequence[str],
    settings: dict[str, str],
    kept: Kept,
) -> Grid:
    """Return a table with each first stage alone and after each reranker."""
    failed: list[str] = []
    stages = {
        reranker: engine.searcher.second_stage(MAX_K, reranker, settings=settings, on_warnings=failed.extend)
        for reranker in rerankers
    }
    ranks: dict[tuple[str, str], list[float]] = {}
    seconds: dict[str, list[float]] = {}
    pages = []
    for one in asked:
        pages.append(one.gold.pages)
        kept.gold[one.id] = one.gold
        gold = {uri for group in one.gold.groups for uri in group}
        for first, ranking in one.rankings.items():
            ranks.setdefault((first, ""), []).append(rank_of([uri for uri, _ in ranking], gold))
            kept.add(first, ranking=ranking)
            for reranker, stage in stages.items():
                began = time.perf_counter()
                placed = stage.reranked(one.query, ranking)
                seconds.setdefault(reranker, []).append(time.perf_counter() - began)
                ranks.setdefault((first, reranker), []).append(rank_of([p.uri for p in placed], gold))
                kept.add(first, reranker, ranking=[(p.uri, p.deciding) for p in placed])
    grid = Grid(title=f"{name}: {len(pages)} questions" + (f", {len(failed)} failures" if failed else ""))
    for column in (
        "first stage",
        "reranker",
        "hit@1",
        "hit@5",
        "MRR",
        "hit@1, difference",
        "hit@5, difference",
        "ms",
    ):
        grid.add_column(column, justify="left" if "st" in column[:6] or column == "reranker" else "right")
    by_page = clusters(pages)
    for (first, reranker), found in ranks.items():
        place = np.array(found)
        cells = [f"{(place <= 1).mean():.3f}", f"{(place <= 5).mean():.3f}", f"{(1 / place).mean():.3f}"]
        if reranker:
            plain = np.array(ranks[first, ""])
            cells += [difference((place <= k) * 1.0 - (plain <= k), by_page) for k in (1, 5)]
            cells.append(f"{1000 * float(np.median(seconds[reranker])):.1f}")
        grid.add_row(first, reranker or "none", *cells, end_section=reranker == rerankers[-1])
    for failure in sorted(set(failed))[:5]:
        grid.caption = f"{grid.caption or ''}{failure}\n"
    return grid


def rank_of(uris: Sequence[str], gold: set[str]) -> float:
    """Return the rank of the first gold passage; infinity if there is none."""
    return next((float(rank) for rank, uri in enumerate(uris, start=1) if uri in gold), float("inf"))


def cut_all(name: str, asked: Iterator[Asked], runs: Kept) -> Grid:
    """Return a table of first stages and rules, compared with a fixed number of passages with the same mean."""
    kept: dict[tuple[str, str], list[tuple[int, float]]] = {}
    fixed: dict[str, list[list[float]]] = {}
    pages = []
    cuts = {text: Cut.read(text) for text in CUTS}
    for one in asked:
        pages.append(one.gold.pages)
        runs.gold[one.id] = one.gold
        for first, ranking in one.rankings.items():
            found = found_by(one.gold, [uri for uri, _ in ranking])
            fixed.setdefault(first, []).append([found(range(k)) for k in range(12)])
            scores = [score for _, score in ranking]
            likely = [probability(score) for score in scores] if first == "default" else []
            counts = {
                text: cut.count(scores, MOST, likely)
                for text, cut in cuts.items()
                if likely or not cut.needs_probabilities
            }
            counts |= {name: rule(scores) for name, (rule, odds) in OTHERS.items() if likely or not odds}
            for text, count in counts.items():
                kept.setdefault((first, text), []).append((count, found(range(count))))
                runs.add(first, text, ranking=ranking[:count])
            runs.add(first, ranking=ranking)
    grid = Grid(title=f"{name}: {len(pages)} questions; found: share of the gold among the passages kept")
    for column in (
        "first stage",
        "cut",
        "kept",
        "found",
        "found by k = 10",
        "by a fixed k of that mean",
        "difference",
    ):
        grid.add_column(column, justify="left" if column in ("first stage", "cut") else "right")
    by_page = clusters(pages)
    for (first, text), rows in kept.items():
        counts, found_kept = np.array(rows).T
        by_number = np.array(fixed[first])
        mean = float(counts.mean())
        below, share = int(mean), mean - int(mean)
        same = (1 - share) * by_number[:, below] + share * by_number[:, min(below + 1, 11)]
        grid.add_row(
            first,
            text,
            f"{mean:.2f}",
            f"{found_kept.mean():.3f}",
            f"{by_number[:, 10].mean():.3f}",
            f"{same.mean():.3f}",
            difference(found_kept - same, by_page),
            end_section=text == [rule for stage, rule in kept if stage == first][-1],
        )
    return grid


def found_by(gold: Gold, uris: Sequence[str]) -> Callable[[Sequence[int]], float]:
    """Return a function from positions of a ranking to the share of the gold groups with a passage there."""
    group_of = {uri: number for number, group in enumerate(gold.groups) for uri in group}
    groups = [group_of.get(uri) for uri in uris[:12]]

    def found(places: Sequence[int]) -> float:
        seen = {groups[place] for place in places if place < len(groups)} - {None}
        return len(seen) / len(gold.groups)

    return found


def difference(values: Floats, by_page: NDArray[np.int64]) -> str:
    """Format the mean with its interval."""
    (bound,) = mean_intervals(values[:, np.newaxis], by_page if len(np.unique(by_page)) > 1 else None)
    return f"{bound.mean:+.3f} ({bound.low:+.3f} to {bound.high:+.3f})"


if __name__ == "__main__":
    command.run(main)
