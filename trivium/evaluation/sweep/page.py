"""The page of a sweep: one HTML file that asks for nothing from anywhere and runs no script."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.evaluation.answers.report import sum_of_five
from trivium.evaluation.own_pages import TABLES, Tick, render
from trivium.evaluation.significance import LEVEL, RESAMPLES
from trivium.evaluation.sweep.results import SweepReport
from trivium.evaluation.sweep.tables import best_mean, cost, shown_measures
from trivium.evaluation.tables import BETTER, WORSE, chance, share

MOST_DRAWN = 60
"""How many cells are drawn, the best of them; the tables have all."""
COLOURS = 8
_WIDTH, _ROW, _TOP, _BOTTOM, _LABELS = 860, 22, 12, 30, 360


@dataclass(frozen=True, slots=True)
class Dot:
    """A cell in the drawing: its place, and where mean and interval are across."""

    label: str
    y: float
    mean: float
    low: float
    high: float
    colour: int
    baseline: bool
    told: str


def sweep_page(report: SweepReport) -> str:
    """The sweep as HTML. Names are escaped."""
    cells = report.complete[:MOST_DRAWN]
    models = list(dict.fromkeys(cell.cell.model for cell in report.cells))
    dots = []
    for place, cell in enumerate(cells):
        found = cell.intervals[report.measure]
        told = f"{cell.cell.label}: {share(found.mean)} ({share(found.low)} to {share(found.high)})"
        dots.append(
            Dot(
                cell.cell.label,
                _TOP + _ROW * (place + 0.5),
                _across(found.mean),
                _across(found.low),
                _across(found.high),
                models.index(cell.cell.model) % COLOURS,
                cell.cell.label == report.baseline,
                told,
            )
        )
    measures = shown_measures(report)
    return render(
        "trivium.evaluation.sweep",
        "sweep",
        look=TABLES,
        report=report,
        measures=measures,
        best=best_mean(report),
        sums={cell.cell.label: sum_of_five(cell.means) for cell in report.cells},
        dots=dots,
        zero=next((dot.mean for dot in dots if dot.baseline), None),
        ticks=[Tick(_across(tenths / 10), f"{tenths / 10:.1f}") for tenths in range(0, 11, 2)],
        models=[(number % COLOURS, model) for number, model in enumerate(models)],
        size=(_WIDTH, round(_TOP + _ROW * len(dots) + _BOTTOM)),
        labels=_LABELS,
        share=share,
        chance=chance,
        cost=cost,
        marks=(BETTER, WORSE),
        level=LEVEL,
        resamples=RESAMPLES,
    )


def _across(value: float) -> float:
    return round(_LABELS + (_WIDTH - _LABELS - 16) * value, 1)
