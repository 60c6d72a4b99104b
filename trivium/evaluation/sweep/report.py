"""The tables of a sweep, scores and differences to the baseline: in the terminal, as CSV and on a web page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from trivium.common.safe_files import write_file
from trivium.evaluation.answers.report import SUM_OF_FIVE
from trivium.evaluation.report_pages import Section, report_page
from trivium.evaluation.significance import LEVEL, RESAMPLES
from trivium.evaluation.sweep.results import SweepReport
from trivium.evaluation.tables import BETTER, WORSE, Cell, Table, chance, share, with_interval
from trivium.text.normalise import plain

SHOWN = (
    "exact_match", "f1", "contained", "rouge_l", "cosine", "not_found", "relevancy", "correctness", "faithfulness",
    "hallucination", "specific_information", SUM_OF_FIVE,
)  # fmt: skip
"""The measures of the tables in the terminal and on the page, if present; the sweep's own comes first."""
PAGE = "sweep.html"


def shown_measures(report: SweepReport) -> list[str]:
    """Return the columns of the displayed tables."""
    there = report.measures
    return [name for name in dict.fromkeys((report.measure, *SHOWN)) if name in there]


def print_sweep(report: SweepReport, console: Console) -> None:
    """Print the scores, the differences to the baseline, and what is not done."""
    measures = shown_measures(report)
    console.print(_scores(report, measures))
    if any(cell.against for cell in report.cells):
        console.print()
        console.print(_differences(report, measures))
    console.print()
    for note in _footnotes(report):
        console.print(Text(note), soft_wrap=True)


def write_tables(report: SweepReport, folder: Path) -> None:
    """Write ``scores.csv``, ``differences.csv``, ``sweep.html`` and ``report.json`` to a folder. Tables and page are
    byte-for-byte independent of interruptions. Raises InputError if they cannot be written.
    """
    measures = list(dict.fromkeys((report.measure, *report.measures)))
    write_file(folder / "scores.csv", _scores(report, measures).to_csv())
    write_file(folder / "differences.csv", _differences(report, measures).to_csv())
    write_file(folder / PAGE, sweep_page(report))
    write_file(folder / "report.json", json.dumps(report.to_json(), ensure_ascii=False, indent=2) + "\n")


def shown_mean(measure: str, mean: float) -> str:
    """Format the mean of a measure: a share, or a sum of five.

    >>> shown_mean("f1", 0.5), shown_mean("sum_of_five", 412.25)
    ('.500', '412.2')
    """
    return f"{mean:.1f}" if measure == SUM_OF_FIVE else share(mean)


def cost(value: float) -> str:
    """Format an amount of money with the digits it needs.

    >>> cost(0), cost(0.00213), cost(12.345)
    ('0', '0.0021', '12.35')
    """
    return "0" if not value else f"{value:.4f}" if value < 1 else f"{value:,.2f}"


def length(passages: float) -> str:
    """Format a mean number of passages.

    >>> length(2.25), length(float("nan"))
    ('2.2', '-')
    """
    return "-" if math.isnan(passages) else f"{passages:.1f}"


def sweep_page(report: SweepReport) -> str:
    """Return the sweep as HTML. Names are escaped."""
    measures = shown_measures(report)
    sections = [
        Section("Scores", _scores(report, measures), report.warnings),
        Section(
            f"Differences to {report.baseline}",
            _differences(report, measures),
            [
                f"Two-sided paired permutation test of the mean difference ({RESAMPLES:,} sign patterns, or all of them"
                " where there are fewer); signs are flipped, and bootstrap intervals drawn, by whole"
                f" {report.resampled}. {_tested(report)} Only complete cells are compared."
            ],
        ),
    ]
    stopped = "" if report.stopped is None else f" Stopped by the budget ({report.stopped})."
    about = (
        f"{len(report.complete)} of {len(report.cells)} cells complete, on {report.asked:,} questions. The baseline is"
        f" {report.baseline}. Spent so far: {_spent(report)}.{stopped}"
    )
    return report_page(f"Sweep by {report.measure}", about, sections)


def _scores(report: SweepReport, measures: Sequence[str]) -> Table:
    told = [name for name, there in (("passages", report.cut), ("warnings", report.warnings)) if there]
    searched = ["tokens of the search"] if report.chosen else []
    table = Table(["cell", *measures, *told, "tokens", *searched, _cost_head(report)])
    best = shown_mean(report.measure, report.complete[0].means[report.measure]) if report.complete else None
    for cell in report.cells:
        row = [Cell(plain(cell.cell.label))]
        for name in measures:
            value = shown_mean(name, cell.means[name]) if name in cell.means else "-"
            if not cell.complete and name == measures[0]:
                value = f"{cell.answered} of {report.asked}"
            row.append(Cell(value, best=value == best and name == report.measure))
        values = {"passages": length(cell.passages), "warnings": f"{cell.warned}"}
        spent = cell.cost + cell.search_cost + cell.judge_cost
        of_search = [f"{cell.search_usage.total:,}"] if searched else []
        table.add_row(
            *row, *(values[name] for name in told), f"{cell.usage.total:,}", *of_search, cost(spent)
        )
    return table


def _cost_head(report: SweepReport) -> str:
    return "cost" if report.currency is None else f"cost ({plain(report.currency)})"


def _spent(report: SweepReport) -> str:
    amount = (
        cost(report.spent) if report.currency is None else f"{cost(report.spent)} {plain(report.currency)}"
    )
    without = ", ".join(map(plain, report.unpriced))
    return f"{report.tokens:,} tokens, {amount}" + (f" (without a price: {without})" if without else "")


def _differences(report: SweepReport, measures: Sequence[str]) -> Table:
    table = Table(
        [f"over {plain(report.baseline)}", f"{report.measure} (95 %)", "p", "p (Holm)", *measures[1:]]
    )
    for cell in report.cells:
        if report.measure not in cell.against or cell.p_holm is None:
            continue
        tested = cell.against[report.measure].found
        d = tested.difference
        table.add_row(
            plain(cell.cell.label),
            with_interval(f"{d.mean:+.3f}", d.low, d.high),
            chance(tested.p),
            Cell(chance(cell.p_holm), mark=cell.mark(report.measure)),
            *(
                f"{cell.against[name].found.difference.mean:+.3f}" if name in cell.against else "-"
                for name in measures[1:]
            ),
        )
    return table


def _tested(report: SweepReport) -> str:
    hint = " (so few that they are only a hint)" if report.only_a_hint else ""
    return (
        f"Intervals and tests resample {report.clusters} {report.resampled}{hint}; {BETTER} {WORSE}: p < {LEVEL:g} after"
        " Holm's correction over all cells."
    )


def _footnotes(report: SweepReport) -> Iterator[str]:
    yield f"{report.asked} questions; {len(report.complete)} of {len(report.cells)} cells complete. {_tested(report)}"
    if report.complete:
        best = plain(report.complete[0].cell.label)
        yield f"the best is {best}: chosen on these same questions, which favours it"
    yield f"spent so far: {_spent(report)}"
    yield from report.warnings
    for model, reason in report.failures.items():
        yield f"{plain(model)} failed, and its cells were left: {plain(reason)}"
    if report.stopped is not None:
        yield (
            f"stopped by the budget ({report.stopped}); with a larger [budget] in the file the same command goes on"
            f" with the {len(report.unfinished)} cells that are left"
        )
