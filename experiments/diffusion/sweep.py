"""Measures where a diffusion helps and where it harms: all settings, after several first stages, on several sets.

    python experiments/diffusion/sweep.py --save sweep --sample 800 \\
        --set NQ-Earth joint-store ../shared/data/nq/earth_questions.jsonl \\
        --set HotpotQA hotpotqa-store ../shared/data/multihop/hotpotqa_questions.jsonl

Each set is given as ``--set NAME STORE QUESTIONS``; ``--first`` names first stages, or a TREC run whose lists are
diffused. The results of a set are kept in the folder ``--save`` and reused. Settings are selected on one half of the
documents of each set and evaluated on the other. Intervals are 95 % confidence intervals of the paired difference to
the first stage alone, clustered by document.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from grid import (
    CHUNKS,
    DAMPINGS,
    GRAPHS,
    MEASURES,
    NEIGHBOURS,
    SEEDS,
    WEIGHTS,
    Floats,
    Setting,
    grid,
    measures,
    solutions,
)
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

import trivium
from experiments import command
from trivium.datasets.cross_validation import clusters, folds
from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.significance import mean_intervals
from trivium.evaluation.trec_files import read_runs
from trivium.retrievers.diffusion import RankedList, first_stage
from trivium.retrievers.query import Query

FIRST = ("vector", "bm25", "tfidf")
JUDGED = MEASURES.index("ndcg@10")
BASES: dict[str, dict[str, object]] = {
    "default (damping 0.85)": {},
    "damping 0.3": {"damping": 0.3},
    "damping 0.3, seeds by ranks": {"damping": 0.3, "weights": "ranks"},
}
"""The settings from which one setting at a time is changed."""
_WHOLE = 0.8
"""A set is split by question if shared documents connect more than this share of its questions."""


@dataclass(frozen=True)
class Measured:
    """Results of a set after one first stage: ``alone`` (questions x measures) and ``diffused`` (questions x settings x
    measures). ``tuning`` marks the questions that settings are selected on; ``documents`` are the clusters of the
    questions.
    """

    name: str
    first: str
    alone: Floats
    diffused: Floats
    tuning: NDArray[np.bool_]
    documents: NDArray[np.int64]

    def gains(self, setting: int, measure: int = JUDGED) -> Floats:
        """Return the gains of the questions of the test half."""
        test = ~self.tuning
        return self.diffused[test, setting, measure] - self.alone[test, measure]

    def interval(self, setting: int, measure: int = JUDGED) -> tuple[float, float, float]:
        """Return the mean gain on the test half with its confidence bounds."""
        by = self.documents[~self.tuning]
        (bound,) = mean_intervals(
            self.gains(setting, measure)[:, np.newaxis],
            by if len(np.unique(by)) > 1 else None,
            resamples=2_000,
        )
        return bound.mean, bound.low, bound.high


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute missing results, then print the tables."""
    parser = command.Parser(__doc__, takes="minutes a set")
    parser.add_argument("--set", nargs=3, action="append", default=[], metavar=("NAME", "STORE", "QUESTIONS"))
    parser.add_argument("--first", nargs="+", default=list(FIRST), metavar="STAGE|RUN")
    parser.add_argument("--save", type=Path, required=True)
    parser.add_argument("--sample", type=int, help="Maximum number of questions per set, drawn with seed 0.")
    given = parser.parse_args(arguments)
    for _, store, questions in given.set:
        command.store(store)
        command.existing(questions)
    given.save.mkdir(parents=True, exist_ok=True)
    for name, store, questions in given.set:
        if not all(_file(given.save, name, first).exists() for first in given.first):
            ask(name, store, Path(questions), given.first, given.save, given.sample)
    measured = [load(path) for path in sorted(given.save.glob("*.npz"))]
    print_tables(measured)


def ask(name: str, store: str, path: Path, stages: Sequence[str], save: Path, sample: int | None) -> None:
    """Diffuse the lists of the questions of a set under all settings, and save the results."""
    questions = read_questions(path)
    if sample is not None and sample < len(questions):
        questions = random.Random(0).sample(questions, sample)  # noqa: S311 - draws questions
    files = [stage for stage in stages if stage not in FIRST]
    runs = dict(zip(files, read_runs(files, [one.id for one in questions]).values(), strict=True))
    alone: dict[str, list[Floats]] = {stage: [] for stage in stages}
    diffused: dict[str, list[Floats]] = {stage: [] for stage in stages}
    with trivium.Engine.open(store) as engine:
        traced = Evaluator(engine.searcher).trace(questions)
        golds = [traced.gold[one.id] for one in traced.questions]
        for question, gold in track(
            list(zip(traced.questions, golds, strict=True)), description=name, console=Console(stderr=True)
        ):
            with engine.store.pinned() as pinned:
                query = engine.searcher.query(question.text, store=pinned)
                for stage in stages:
                    ranking = runs[stage].get(question.id, []) if stage in runs else None
                    found = listed(query, stage, ranking)
                    before, after = both(query, found, gold)
                    alone[stage].append(before)
                    diffused[stage].append(after)
    for stage in stages:
        np.savez_compressed(
            _file(save, name, stage),
            name=name,
            first=Path(stage).stem if stage in files else stage,
            alone=np.array(alone[stage]),
            diffused=np.array(diffused[stage], dtype=np.float32),
            tuning=halves(golds),
            documents=clusters([gold.pages for gold in golds]),
        )


def listed(query: Query, stage: str, ranking: Sequence[tuple[str, float]] | None) -> RankedList:
    """Return the passages to diffuse."""
    if ranking is None:
        return first_stage(query, stage, max(CHUNKS))  # type: ignore[arg-type]
    best = list(ranking)[: max(CHUNKS)]
    return RankedList([uri for uri, _ in best], np.array([score for _, score in best], dtype=np.float64))


def both(query: Query, found: RankedList, gold: Gold) -> tuple[Floats, Floats]:
    """Return the measures of a list before (measures,) and after diffusion (settings x measures)."""
    if not found.uris:
        return np.zeros(len(MEASURES)), np.zeros((len(grid()), len(MEASURES)))
    number = {uri: place for place, group in enumerate(gold.groups) for uri in group}
    groups = [number.get(uri, -1) for uri in found.uris]
    as_it_is = -np.arange(len(groups), dtype=np.float64)[np.newaxis] / 1000
    before = measures(as_it_is, groups, len(gold.groups))[0]
    return before, measures(solutions(query, found), groups, len(gold.groups))


def halves(golds: Sequence[Gold]) -> NDArray[np.bool_]:
    """Return a mask of the half of the questions that settings are selected on; split by document, unless documents
    connect nearly all questions.
    """
    pages = [gold.pages for gold in golds]
    largest = np.bincount(clusters(pages)).max()
    return folds([()] * len(golds) if largest > _WHOLE * len(golds) else pages, 2, 0) == 0


def load(path: Path) -> Measured:
    """Load the results saved by :func:`ask`."""
    with np.load(path) as kept:
        return Measured(
            str(kept["name"]),
            str(kept["first"]),
            kept["alone"].astype(np.float32).astype(np.float64),  # so that equal values differ by exactly 0
            kept["diffused"].astype(np.float64),
            kept["tuning"],
            kept["documents"],
        )


def _file(save: Path, name: str, stage: str) -> Path:
    return save / f"{name}-{Path(stage).stem}.npz"


# -- tables ----------------------------------------------------------------------------------------------------------


def print_tables(measured: Sequence[Measured]) -> None:
    """Print Markdown tables: the settings selected for each first stage with their gains on each set, and each setting
    alone.
    """
    settings = grid()
    default = settings.index(Setting())
    for first in dict.fromkeys(one.first for one in measured):
        sets = [one for one in measured if one.first == first]
        gains = np.stack([tuning_gains(one) for one in sets])
        common = int(gains.mean(axis=0).argmax())
        print(f"\n### After {first}\n\nChosen on all tuning halves: {settings[common]}.\n")
        print(
            "| set (questions tested) | alone | default | one for all sets | chosen on this set | that is |"
        )
        print("|---|---|---|---|---|---|")
        for one, on_set in zip(sets, gains, strict=True):
            own = int(on_set.argmax())
            test = one.alone[~one.tuning]
            cells = [cell(one, setting) for setting in (default, common, own)]
            print(
                f"| {one.name} ({len(test)}) | {number(test[:, JUDGED].mean())} | {' | '.join(cells)} | {settings[own]} |"
            )
        print(
            "\nhit@1 / recall@5 of the same:\n\n| set | alone | default | one for all sets |\n|---|---|---|---|"
        )
        for one in sets:
            test = one.diffused[~one.tuning]
            plain = one.alone[~one.tuning]
            rows = [plain, test[:, default], test[:, common]]
            print(
                f"| {one.name} | {' | '.join('/'.join(number(row[:, at].mean()) for at in (0, 2)) for row in rows)} |"
            )
        print_each(sets)


def print_each(sets: Sequence[Measured]) -> None:
    """Print the effect of changing one setting at a time from each of :data:`BASES`: mean gain, sets gained and lost."""
    settings = grid()
    print(
        "\nOne setting changed at a time: mean gain of nDCG@10 over the sets (sets better, sets worse beyond chance):\n"
    )
    print(f"| setting | {' | '.join(BASES)} |\n|---|{'---|' * len(BASES)}")
    changes: list[tuple[str, dict[str, object]]] = [("as it is", {})]
    changes += [(f"damping {value:g}", {"damping": value}) for value in DAMPINGS]
    changes += [(f"graph: {value}", {"graph": value}) for value in list(GRAPHS)[1:]]
    changes += [(f"{value} neighbours", {"neighbours": value}) for value in NEIGHBOURS if value is not None]
    changes += [(f"{value} seeds", {"seeds": value}) for value in SEEDS if value is not None]
    changes += [(f"seeds by {value}", {"weights": value}) for value in WEIGHTS[1:]]
    changes += [(f"n = {value}", {"chunks": value}) for value in CHUNKS[:-1]]
    for label, changed in changes:
        cells = []
        for base in BASES.values():
            place = settings.index(Setting(**{**base, **changed}))  # type: ignore[arg-type]
            bounds = [one.interval(place) for one in sets]
            better = sum(low > 0 for _, low, _ in bounds)
            worse = sum(high < 0 for _, _, high in bounds)
            cells.append(
                f"{number(np.mean([mean for mean, _, _ in bounds]), signed=True)} ({better}, {worse})"
            )
        print(f"| {label} | {' | '.join(cells)} |")


def tuning_gains(one: Measured) -> Floats:
    """Return the mean gain of each setting on the tuning half (settings,)."""
    half = one.diffused[one.tuning, :, JUDGED] - one.alone[one.tuning, JUDGED][:, np.newaxis]
    gains: Floats = half.mean(axis=0)
    return gains


def cell(one: Measured, setting: int) -> str:
    """Return a gain of nDCG@10 with its interval."""
    return "{} ({} to {})".format(*(number(value, signed=True) for value in one.interval(setting)))


def number(value: float, *, signed: bool = False) -> str:
    """Format a number with three decimals and no leading zero.

    >>> number(0.5), number(-0.0124, signed=True)
    ('.500', '-.012')
    """
    text = f"{value:+.3f}" if signed else f"{value:.3f}"
    return text.replace("0.", ".", 1)


if __name__ == "__main__":
    command.run(main)
