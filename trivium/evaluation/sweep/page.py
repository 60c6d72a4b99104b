"""The page of a sweep: one self-contained HTML file without scripts."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.evaluation.answers.report import sum_of_five
from trivium.evaluation.own_pages import Tick, render
from trivium.evaluation.significance import LEVEL, RESAMPLES
from trivium.evaluation.sweep.results import SweepReport
from trivium.evaluation.sweep.tables import best_mean, cost, length, shown_measures
from trivium.evaluation.tables import BETTER, WORSE, chance, share

MOST_DRAWN = 60
"""Maximum number of cells that are drawn, best first; the tables contain all."""
COLOURS = 8
_DRAWN, _ROW, _TOP, _BOTTOM, _LABELS = 484, 22, 12, 30, 360
_LETTER = 6.5
"""Approximate width of a label's character. Labels with rerankers and cuts are longer."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A cell in the drawing: its position, and the horizontal positions of mean and interval."""

    label: str
    y: float
    mean: float
    low: float
    high: float
    colour: int
    baseline: bool
    told: str


def sweep_page(report: SweepReport) -> str:
    """Return the sweep as HTML. Names are escaped."""
    cells = report.complete[:MOST_DRAWN]
    models = list(dict.fromkeys(cell.cell.model for cell in report.cells))
    labels = max([_LABELS, *(round(20 + _LETTER * len(cell.cell.label)) for cell in cells)])
    dots = []
    for place, cell in enumerate(cells):
        found = cell.intervals[report.measure]
        told = f"{cell.cell.label}: {share(found.mean)} ({share(found.low)} to {share(found.high)})"
        dots.append(
            Dot(
                cell.cell.label,
                _TOP + _ROW * (place + 0.5),
                _across(found.mean, labels),
                _across(found.low, labels),
                _across(found.high, labels),
                models.index(cell.cell.model) % COLOURS,
                cell.cell.label == report.baseline,
                told,
            )
        )
    measures = shown_measures(report)
    return render(
        "trivium.evaluation.sweep",
        "sweep",
        report=report,
        measures=measures,
        best=best_mean(report),
        sums={cell.cell.label: sum_of_five(cell.means) for cell in report.cells},
        dots=dots,
        zero=next((dot.mean for dot in dots if dot.baseline), None),
        ticks=[Tick(_across(tenths / 10, labels), f"{tenths / 10:.1f}") for tenths in range(0, 11, 2)],
        models=[(number % COLOURS, model) for number, model in enumerate(models)],
        size=(labels + _DRAWN + 16, round(_TOP + _ROW * len(dots) + _BOTTOM)),
        labels=labels,
        share=share,
        chance=chance,
        cost=cost,
        length=length,
        marks=(BETTER, WORSE),
        level=LEVEL,
        resamples=RESAMPLES,
    )


def _across(value: float, labels: int) -> float:
    return round(labels + _DRAWN * value, 1)
