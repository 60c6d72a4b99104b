"""What a sweep found: cell by cell, each complete one against the baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.common.frames import data_frame
from trivium.datasets.gold import Traced
from trivium.datasets.splits import clusters
from trivium.evaluation.answers.grades import LOWER_IS_BETTER
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.answers.report import SUM_OF_FIVE, Compared, sum_of_five
from trivium.evaluation.answers.summary import compare_with_first, intervals_of
from trivium.evaluation.latency import Timing
from trivium.evaluation.report import compared_json, traced_json
from trivium.evaluation.significance import FEW, LEVEL, Interval, holm
from trivium.evaluation.sweep.budget import Meter
from trivium.evaluation.sweep.cells import Cell
from trivium.evaluation.sweep.definition import Priced, Sweep
from trivium.evaluation.tables import BETTER, WORSE

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class CellAnswers:
    """What is kept of a cell: its ``answers``, the ``values`` of every measure question by question where it is complete
    (else none), the tokens (read, written) of each judge, and whether all of them have judged all of it."""

    cell: Cell
    model: Priced
    selector: Priced
    answers: Sequence[Answered] = field(repr=False)
    values: Mapping[str, Floats] = field(repr=False)
    judge_tokens: Mapping[Priced, tuple[int, int]] = field(repr=False)
    judged: bool

    @property
    def tokens(self) -> tuple[int, int]:
        """Those that the reader read and wrote."""
        return (
            sum(answered.prompt_tokens for answered in self.answers),
            sum(answered.completion_tokens for answered in self.answers),
        )

    @property
    def search_tokens(self) -> tuple[int, int]:
        """Those that the language model of the selector read and wrote, where it asks one."""
        return (
            sum(answered.search_prompt_tokens for answered in self.answers),
            sum(answered.search_completion_tokens for answered in self.answers),
        )


@dataclass(frozen=True, slots=True)
class CellScores:
    """A cell in the tables. ``answered`` of the questions are; only where all are there is anything else than counts.
    ``tokens`` and ``cost`` are the reader's, ``search_...`` those of who chose for the retriever ``path``.
    ``intervals`` (95 %) have the means, over the ``counts`` answers that a measure speaks of; ``against`` are the
    differences to the baseline, by measure, and ``p_holm`` the p-value of the sweep's measure after Holm's correction
    over all cells; both None or empty for the baseline itself, and where that is not complete."""

    cell: Cell
    answered: int
    complete: bool
    judged: bool
    tokens: tuple[int, int]
    search_tokens: tuple[int, int]
    cost: float
    search_cost: float
    judge_cost: float
    seconds: Timing | None
    intervals: Mapping[str, Interval]
    counts: Mapping[str, int]
    against: Mapping[str, Compared]
    p_holm: float | None = None

    @property
    def means(self) -> dict[str, float]:
        """By measure."""
        return {name: interval.mean for name, interval in self.intervals.items()}

    def mark(self, measure: str) -> str:
        """Whether it differs from the baseline in the sweep's measure, and to which side."""
        if self.p_holm is None or self.p_holm >= LEVEL:
            return ""
        up = self.against[measure].found.difference.mean > 0
        return BETTER if up is not (measure in LOWER_IS_BETTER) else WORSE


@dataclass(frozen=True, slots=True)
class SweepReport:
    """The outcome of a sweep. ``cells`` are in the order of the file; ``stopped`` says which limit of the budget was
    reached, None where it was not; ``failures`` are models that failed, with the reason. ``spent`` and ``tokens`` are of
    all runs so far."""

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

    @property
    def complete(self) -> tuple[CellScores, ...]:
        """The cells whose questions are all answered, the best first by the sweep's measure (of equals the earlier)."""
        turn = 1 if self.measure in LOWER_IS_BETTER else -1
        there = [cell for cell in self.cells if self.measure in cell.intervals]
        return tuple(sorted(there, key=lambda cell: turn * cell.intervals[self.measure].mean))

    @property
    def unfinished(self) -> tuple[CellScores, ...]:
        """The cells that lack answers or judgements."""
        return tuple(cell for cell in self.cells if not (cell.complete and cell.judged))

    @property
    def measures(self) -> tuple[str, ...]:
        """Those that some complete cell has, in their order."""
        return tuple(dict.fromkeys(name for cell in self.cells for name in cell.intervals))

    @property
    def chosen(self) -> bool:
        """Whether a language model chose passages, whose tokens are told beside the readers'."""
        return any(sum(cell.search_tokens) for cell in self.cells)

    @property
    def only_a_hint(self) -> bool:
        """Whether there is too little to resample for intervals and tests to be more than a hint."""
        return self.clusters < FEW

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values. Times are of the runs; all else is the same however often it was
        interrupted."""
        return {
            **traced_json(self.traced),
            "asked": self.asked,
            "measure": self.measure,
            "baseline": self.baseline,
            "resampled": self.resampled,
            "clusters": self.clusters,
            "spent": self.spent,
            "tokens": self.tokens,
            "stopped": self.stopped,
            "failures": dict(self.failures),
            "cells": [_cell_json(cell) for cell in self.cells],
        }

    def to_pandas(self) -> DataFrame:
        """A line a cell and measure: what the cell is, ``measure``, ``mean``, its 95 % interval ``low`` to ``high``, and
        ``n``. Raises MissingExtraError without pandas (``pip install 'trivium[pandas]'``)."""
        return data_frame(
            (
                {**asdict(cell.cell), "measure": name, **asdict(interval), "n": cell.counts[name]}
                for cell in self.cells
                for name, interval in cell.intervals.items()
            ),
            ["model", "prompt", "temperature", "k", "context", "measure", "mean", "low", "high", "n"],
        )


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
    """The report on the ``asked`` questions. Intervals and tests resample pages (questions that share gold pages), or
    questions where all share one, as those of one set of answers do."""
    pages = clusters([traced.gold[identifier].pages for identifier in asked])
    by_page = len(np.unique(pages)) > 1
    groups = pages if by_page else np.arange(len(asked), dtype=np.int64)
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
                one.tokens,
                one.search_tokens,
                one.model.cost(*one.tokens),
                one.selector.cost(*one.search_tokens),
                sum(priced.cost(*tokens) for priced, tokens in one.judge_tokens.items()),
                Timing.of([answered.seconds for answered in one.answers]) if one.answers else None,
                {name: own[label, name] for name in named if counts[name]},
                counts,
                against.get(label, {}),
                p_holm.get(label),
            )
        )
    resampled = ("pages", len(np.unique(pages))) if by_page else ("questions", len(asked))
    return SweepReport(
        sweep.measure,
        baseline.label,
        len(asked),
        tuple(cells),
        *resampled,
        round(meter.money, 9),
        meter.tokens,
        stopped,
        dict(failures),
        traced,
    )


def _against(
    values: Mapping[str, Mapping[str, Floats]], baseline: str, groups: Integers
) -> dict[str, dict[str, Compared]]:
    """Cell -> measure -> its difference to the baseline; empty where the baseline is not complete."""
    if baseline not in values:
        return {}
    first = values[baseline]
    # A measure that the baseline lacks (not judged yet) cannot be compared.
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
        "tokens": {"prompt": cell.tokens[0], "completion": cell.tokens[1]},
        "search_tokens": {"prompt": cell.search_tokens[0], "completion": cell.search_tokens[1]},
        "cost": round(cell.cost, 9),
        "search_cost": round(cell.search_cost, 9),
        "judge_cost": round(cell.judge_cost, 9),
        "milliseconds": None if cell.seconds is None else cell.seconds.model_dump(),
        "means": {name: mean for name, mean in cell.means.items() if not math.isnan(mean)},
        SUM_OF_FIVE: sum_of_five(cell.means),
        "ci": {name: [interval.low, interval.high] for name, interval in cell.intervals.items()},
        "n": {name: cell.counts[name] for name in cell.intervals},
        "against": [
            {**compared_json(compared.found), "questions": compared.questions}
            for compared in cell.against.values()
        ],
        "p_holm": cell.p_holm,
    }
