"""The results of a sweep: cell by cell, each complete one compared with the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.datasets.gold import Traced
from trivium.evaluation.answers.grading_judge import LOWER_IS_BETTER
from trivium.evaluation.answers.records import NOTHING_SPENT, Answered, Timing
from trivium.evaluation.answers.report import SUM_OF_FIVE, Compared, sum_of_five, usage_json, warning_lines
from trivium.evaluation.answers.summary import (
    compare_with_first,
    count_warnings,
    defined_means,
    intervals_of,
    mean_passages,
)
from trivium.evaluation.report import compared_json, traced_json
from trivium.evaluation.significance import FEW, LEVEL, Interval, holm, resampled_units
from trivium.evaluation.sweep.budget import Meter
from trivium.evaluation.sweep.cells import Cell
from trivium.evaluation.sweep.definition import Priced, Sweep, needs_model
from trivium.evaluation.tables import BETTER, WORSE
from trivium.types import Usage


@dataclass(frozen=True, slots=True)
class CellAnswers:
    """The stored data of a cell: its ``answers``, the ``values`` of every measure question by question if it is
    complete (else empty), the usage of each judge, whether all judges are done, and the values of each judge that is
    done. ``reranker`` is None without one.
    """

    cell: Cell
    model: Priced
    reranker: Priced | None
    answers: Sequence[Answered] = field(repr=False)
    values: Mapping[str, Floats] = field(repr=False)
    judge_usage: Mapping[Priced, Usage] = field(repr=False)
    judged: bool
    by_judge: Mapping[str, Mapping[str, Floats]] = field(repr=False, default_factory=dict)

    @property
    def usage(self) -> Usage:
        """Tokens of the reader."""
        return sum((answered.usage for answered in self.answers), NOTHING_SPENT)

    @property
    def search_usage(self) -> Usage:
        """Tokens of the language models of selector and reranker, if they use one."""
        return sum((answered.search_usage for answered in self.answers), NOTHING_SPENT)

    @property
    def search_cost(self) -> float:
        """Cost of the reranker's; a selector has no price."""
        reranked = sum((answered.rerank_usage for answered in self.answers), NOTHING_SPENT)
        return 0.0 if self.reranker is None else self.reranker.cost(reranked)


@dataclass(frozen=True, slots=True)
class CellScores:
    """A cell in the tables.

    ``answered`` is the number of answered questions; cells that are not complete have nothing but counts. ``usage``
    and ``cost`` are the reader's, ``search_...`` those of language models that selected or reranked passages.
    ``passages`` is the mean number of passages found, and ``warnings`` maps failures that were worked around, such as
    that of a reranker, to numbers of answers. ``intervals`` (95 %) include the means, over the ``counts`` answers for
    which a measure is defined. ``against`` are the differences to the baseline, by measure, and ``p_holm`` is the
    p-value of the sweep's measure after Holm's correction over all cells; both are None or empty for the baseline
    itself, and if the baseline is not complete. ``by_judge`` has the means of each judge, by measure, and their sum of
    five.
    """

    cell: Cell
    answered: int
    complete: bool
    judged: bool
    usage: Usage
    search_usage: Usage
    cost: float
    search_cost: float
    judge_cost: float
    seconds: Timing | None
    passages: float
    warnings: Mapping[str, int]
    intervals: Mapping[str, Interval]
    counts: Mapping[str, int]
    against: Mapping[str, Compared]
    p_holm: float | None = None
    by_judge: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def means(self) -> dict[str, float]:
        """Means by measure."""
        return {name: interval.mean for name, interval in self.intervals.items()}

    @property
    def warned(self) -> int:
        """Number of warnings."""
        return sum(self.warnings.values())

    def mark(self, measure: str) -> str:
        """Whether and in which direction it differs from the baseline in the sweep's measure."""
        if self.p_holm is None or self.p_holm >= LEVEL:
            return ""
        up = self.against[measure].found.difference.mean > 0
        return BETTER if up is not (measure in LOWER_IS_BETTER) else WORSE


@dataclass(frozen=True, slots=True)
class SweepReport:
    """The results of a sweep. ``cells`` are in the order of the file; ``stopped`` is the limit of the budget that was
    reached, or None; ``failures`` maps failed models to reasons. ``spent``, in ``currency`` if the file names it, and
    ``tokens`` are totals of all runs so far; ``unpriced`` are the language models whose cost is not in it.
    """

    measure: str
    baseline: str
    asked: int
    cells: tuple[CellScores, ...]
    resampled: str
    clusters: int
    spent: float
    tokens: int
    stopped: str | None
    failures: Mapping[str, str]
    traced: Traced = field(repr=False)
    currency: str | None = None
    unpriced: tuple[str, ...] = ()

    @property
    def complete(self) -> tuple[CellScores, ...]:
        """The complete cells, best first by the sweep's measure (ties in their order)."""
        turn = 1 if self.measure in LOWER_IS_BETTER else -1
        there = [cell for cell in self.cells if self.measure in cell.intervals]
        return tuple(sorted(there, key=lambda cell: turn * cell.intervals[self.measure].mean))

    @property
    def unfinished(self) -> tuple[CellScores, ...]:
        """The cells without all answers or judgements."""
        return tuple(cell for cell in self.cells if not (cell.complete and cell.judged))

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that some complete cell has, in their order."""
        return tuple(dict.fromkeys(name for cell in self.cells for name in cell.intervals))

    @property
    def chosen(self) -> bool:
        """Whether a language model selected or reranked passages, so that its tokens are reported."""
        return any(cell.search_usage != NOTHING_SPENT for cell in self.cells)

    @property
    def cut(self) -> bool:
        """Whether some lists are ended by a cut, so that their length is reported."""
        return any(cell.cell.cut is not None for cell in self.cells)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Failures that were worked around, such as that of a reranker, one line each."""
        lines = (warning_lines(cell.cell.label, cell.warnings, cell.answered) for cell in self.cells)
        return tuple(chain.from_iterable(lines))

    @property
    def only_a_hint(self) -> bool:
        """Whether there are too few clusters for intervals and tests to be reliable."""
        return self.clusters < FEW

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values. Times are those of the runs; everything else is independent of
        interruptions.
        """
        return {
            **traced_json(self.traced),
            "asked": self.asked,
            "measure": self.measure,
            "baseline": self.baseline,
            "resampled": self.resampled,
            "clusters": self.clusters,
            "spent": self.spent,
            "currency": self.currency,
            "unpriced": list(self.unpriced),
            "tokens": self.tokens,
            "stopped": self.stopped,
            "failures": dict(self.failures),
            "cells": [_cell_json(cell) for cell in self.cells],
        }


def summarise_sweep(
    sweep: Sweep,
    traced: Traced,
    asked: Sequence[str],
    found: Sequence[CellAnswers],
    baseline: Cell,
    meter: Meter,
    stopped: str | None,
    failures: Mapping[str, str],
) -> SweepReport:
    """Create the report on the ``asked`` questions. Intervals and tests resample pages (questions that share gold
    pages), or questions if all share one, as in an evaluation of answers.
    """
    groups, unit, count = resampled_units([traced.gold[identifier] for identifier in asked])
    values = {one.cell.label: one.values for one in found if one.values}
    own = intervals_of(
        {(label, name): array for label, named in values.items() for name, array in named.items()}, groups
    )
    against = _against(values, baseline.label, groups)
    tested = [label for label in against if sweep.measure in against[label]]
    adjusted = holm([against[label][sweep.measure].found.p for label in tested])
    p_holm = dict(zip(tested, adjusted, strict=True))
    cells = []
    for one in found:
        label = one.cell.label
        named = values.get(label, {})
        counts = {name: int((~np.isnan(array)).sum()) for name, array in named.items()}
        cells.append(
            CellScores(
                one.cell,
                len(one.answers),
                len(one.answers) == len(asked),
                one.judged,
                one.usage,
                one.search_usage,
                one.model.cost(one.usage),
                one.search_cost,
                sum(priced.cost(usage) for priced, usage in one.judge_usage.items()),
                Timing.of([answered.seconds for answered in one.answers]) if one.answers else None,
                mean_passages(one.answers),
                count_warnings(one.answers),
                {name: own[label, name] for name in named if counts[name]},
                counts,
                against.get(label, {}),
                p_holm.get(label),
                {judge: _of_judge(measures) for judge, measures in one.by_judge.items()},
            )
        )
    return SweepReport(
        sweep.measure,
        baseline.label,
        len(asked),
        tuple(cells),
        unit,
        count,
        round(meter.money, 9),
        meter.tokens,
        stopped,
        dict(failures),
        traced,
        sweep.currency,
        tuple(_unpriced(sweep, found)),
    )


def _unpriced(sweep: Sweep, found: Sequence[CellAnswers]) -> Iterator[str]:
    asked = [one for one in (*sweep.models, *sweep.judges) if needs_model(one.name)]
    asked += [one for one in sweep.rerankers if one.name.startswith("llm-")]
    yield from dict.fromkeys(one.name for one in asked if not (one.prompt_price or one.completion_price))
    if any(a.search_usage != a.rerank_usage for one in found for a in one.answers):
        yield "the selector of paths"


def _of_judge(values: Mapping[str, Floats]) -> dict[str, float]:
    means = defined_means(values)
    total = sum_of_five(means)
    return means if total is None else {**means, SUM_OF_FIVE: total}


def _against(
    values: Mapping[str, Mapping[str, Floats]], baseline: str, groups: Integers
) -> dict[str, dict[str, Compared]]:
    """Map cells and measures to the differences to the baseline; empty if the baseline is not complete."""
    if baseline not in values:
        return {}
    first = values[baseline]
    # Measures that the baseline lacks (not judged yet) cannot be compared.
    ordered = {baseline: first} | {
        label: {name: array for name, array in named.items() if name in first}
        for label, named in values.items()
        if label != baseline
    }
    found: dict[str, dict[str, Compared]] = {}
    for compared in compare_with_first(ordered, groups):
        found.setdefault(compared.found.row, {})[compared.found.measure] = compared
    return found


def _cell_json(cell: CellScores) -> dict[str, Any]:
    return {
        **asdict(cell.cell),
        "answered": cell.answered,
        "complete": cell.complete,
        "judged": cell.judged,
        "tokens": usage_json(cell.usage),
        "search_tokens": usage_json(cell.search_usage),
        "cost": round(cell.cost, 9),
        "search_cost": round(cell.search_cost, 9),
        "judge_cost": round(cell.judge_cost, 9),
        "milliseconds": None if cell.seconds is None else cell.seconds.model_dump(),
        "passages": None if math.isnan(cell.passages) else cell.passages,
        "warnings": dict(cell.warnings),
        "means": {name: mean for name, mean in cell.means.items() if not math.isnan(mean)},
        SUM_OF_FIVE: cell.means.get(SUM_OF_FIVE),
        "by_judge": {judge: dict(means) for judge, means in cell.by_judge.items()},
        "ci": {name: [interval.low, interval.high] for name, interval in cell.intervals.items()},
        "n": {name: cell.counts[name] for name in cell.intervals},
        "against": [
            {**compared_json(compared.found), "questions": compared.questions}
            for compared in cell.against.values()
        ],
        "p_holm": cell.p_holm,
    }
