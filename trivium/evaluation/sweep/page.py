"""The page of a sweep: one self-contained HTML file without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from trivium.evaluation.answers.report import SUM_OF_FIVE
from trivium.evaluation.own_pages import Tick, render
from trivium.evaluation.significance import LEVEL, RESAMPLES
from trivium.evaluation.sweep.results import SweepReport
from trivium.evaluation.sweep.tables import best_mean, cost, length, shown_mean, shown_measures
from trivium.evaluation.tables import BETTER, WORSE, chance

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
    shown = partial(shown_mean, report.measure)
    most = 500 if report.measure == SUM_OF_FIVE else 1
    for place, cell in enumerate(cells):
        found = cell.intervals[report.measure]
        told = f"{cell.cell.label}: {shown(found.mean)} ({shown(found.low)} to {shown(found.high)})"
        dots.append(
            Dot(
                cell.cell.label,
                _TOP + _ROW * (place + 0.5),
                _across(found.mean / most, labels),
                _across(found.low / most, labels),
                _across(found.high / most, labels),
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
        dots=dots,
        zero=next((dot.mean for dot in dots if dot.baseline), None),
        ticks=[
            Tick(_across(tenths / 10, labels), f"{most * tenths / 10:.{0 if most > 1 else 1}f}")
            for tenths in range(0, 11, 2)
        ],
        models=[(number % COLOURS, model) for number, model in enumerate(models)],
        size=(labels + _DRAWN + 16, round(_TOP + _ROW * len(dots) + _BOTTOM)),
        labels=labels,
        shown_mean=shown_mean,
        chance=chance,
        cost=cost,
        length=length,
        marks=(BETTER, WORSE),
        level=LEVEL,
        resamples=RESAMPLES,
    )


def _across(value: float, labels: int) -> float:
    return round(labels + _DRAWN * value, 1)
