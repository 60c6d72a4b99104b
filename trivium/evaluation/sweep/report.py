"""The tables of a sweep, scores and differences to the baseline: in the terminal, as CSV and on a web page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from rich.console import Console
from rich.text import Text

from trivium.common.files import write_file
from trivium.evaluation.answers.report import SUM_OF_FIVE
from trivium.evaluation.pages import Dots, Section, report_page
from trivium.evaluation.significance import LEVEL, RESAMPLES
from trivium.evaluation.sweep.results import CELL, CellScores, SweepReport
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
    """Print the scores, the differences to the baseline, the baseline against the best cell, and what is not done."""
    measures = shown_measures(report)
    console.print(_scores(report, measures))
    if report.of_judges():
        console.print()
        console.print(_by_judge(report, measures))
    if any(cell.against for cell in report.cells):
        console.print()
        console.print(_differences(report, measures))
        console.print()
        console.print(_baseline_and_best(report, measures))
    console.print()
    for note in _footnotes(report):
        console.print(Text(note), soft_wrap=True)


def write_tables(report: SweepReport, folder: Path) -> None:
    """Write ``scores.csv``, ``differences.csv``, ``sweep.html`` and ``report.json`` to a folder. Tables and page are
    byte-for-byte independent of interruptions. Raises InputError if they cannot be written.
    """
    write_file(folder / "scores.csv", _csv(_score_lines(report)))
    write_file(folder / "differences.csv", _csv(_difference_lines(report)))
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
    cells = [(one.cell.label, one.cell.model, one.intervals[report.measure]) for one in report.complete]
    sections = [
        Section(
            f"{report.measure} with 95 % intervals, the best first",
            dots=Dots(cells, 500 if report.measure == SUM_OF_FIVE else 1, report.baseline),
        ),
        Section("Scores", _scores(report, measures), report.warnings),
    ]
    if report.of_judges():
        sections.append(Section("Scores by judge", _by_judge(report, measures)))
    sections.append(
        Section(
            f"Differences to {report.baseline}",
            _differences(report, measures),
            [
                f"Two-sided paired permutation test of the mean difference ({RESAMPLES:,} sign patterns, or all of them"
                " where there are fewer); signs are flipped, and bootstrap intervals drawn, by whole"
                f" {report.resampled}. {_tested(report)} Only complete cells are compared."
            ],
        )
    )
    stopped = "" if report.stopped is None else f" Stopped by the budget ({report.stopped})."
    about = (
        f"{len(report.complete)} of {len(report.cells)} cells complete, on {report.asked:,} questions. The baseline is"
        f" {report.baseline}. Spent so far: {report.tokens:,} tokens, {cost(report.spent)}.{stopped}"
    )
    return report_page(f"Sweep by {report.measure}", about, sections)


def _scores(report: SweepReport, measures: Sequence[str]) -> Table:
    told = [name for name, there in (("passages", report.cut), ("warnings", report.warnings)) if there]
    searched = ["tokens of the search"] if report.chosen else []
    table = Table(["cell", *measures, *told, "tokens", *searched, "cost"])
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


def _by_judge(report: SweepReport, measures: Sequence[str]) -> Table:
    there = report.of_judges()
    judged = [name for name in measures if any(name in cell.by_judge[judge] for cell, judge in there)]
    table = Table(["cell, by judge", *judged])
    for cell, judge in there:
        means = cell.by_judge[judge]
        values = [shown_mean(name, means[name]) if name in means else "-" for name in judged]
        table.add_row(plain(f"{cell.cell.label}, {judge}"), *values)
    return table


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


def _baseline_and_best(report: SweepReport, measures: Sequence[str]) -> Table:
    best = report.complete[0]
    baseline = next(cell for cell in report.cells if cell.cell.label == report.baseline)
    title = f"baseline: {plain(report.baseline)}\nbest: {plain(best.cell.label)}"
    table = Table(["measure", "baseline", "best", "difference (95 %)", "p"], title=title)
    for name in measures:
        if name in best.means and name in baseline.means:
            compared = best.against.get(name)
            d = None if compared is None else compared.found.difference
            shown = "" if d is None else with_interval(f"{d.mean:+.3f}", d.low, d.high)
            p = "" if compared is None else chance(compared.found.p)
            means = (shown_mean(name, cell.means[name]) for cell in (baseline, best))
            table.add_row(name, *means, shown, p)
    return table


def _tested(report: SweepReport) -> str:
    hint = " (so few that they are only a hint)" if report.only_a_hint else ""
    return (
        f"Intervals and tests resample {report.clusters} {report.resampled}{hint}; {BETTER} {WORSE}: p < {LEVEL:g} after"
        " Holm's correction over all cells."
    )


def _footnotes(report: SweepReport) -> Iterator[str]:
    yield (
        f"{report.asked} questions; {len(report.complete)} of {len(report.cells)} cells complete. {_tested(report)}"
        " The best cell is chosen on these same questions, which favours it."
    )
    yield f"spent so far: {report.tokens:,} tokens, {cost(report.spent)}"
    yield from report.warnings
    for model, reason in report.failures.items():
        yield f"{plain(model)} failed, and its cells were left: {plain(reason)}"
    if report.stopped is not None:
        yield (
            f"stopped by the budget ({report.stopped}); with a larger [budget] in the file the same command goes on"
            f" with the {len(report.unfinished)} cells that are left"
        )


def _score_lines(report: SweepReport) -> Iterator[Sequence[object]]:
    measures = report.measures
    judged = dict.fromkeys(
        (judge, name) for cell, judge in report.of_judges() for name in cell.by_judge[judge]
    )
    yield [*CELL, "answered", "prompt_tokens", "completion_tokens", "cost", "judge_cost",
           "search_prompt_tokens", "search_completion_tokens", "search_cost", "passages", "warnings", *(
        column for name in measures for column in (name, f"{name}_low", f"{name}_high", f"{name}_n")
    ), *(f"{name} ({judge})" for judge, name in judged)]  # fmt: skip
    for cell in report.cells:
        line = [*_named(cell), cell.answered, *astuple(cell.usage), round(cell.cost, 9)]
        line += [round(cell.judge_cost, 9), *astuple(cell.search_usage), round(cell.search_cost, 9)]
        line += ["" if math.isnan(cell.passages) else round(cell.passages, 4), cell.warned]
        for name in measures:
            found = cell.intervals.get(name)
            if found is None:
                line += ["", "", "", cell.counts.get(name, "")]
            else:
                line += [
                    *(round(value, 6) for value in (found.mean, found.low, found.high)),
                    cell.counts[name],
                ]
        means = (cell.by_judge.get(judge, {}).get(name) for judge, name in judged)
        yield [*line, *("" if mean is None else round(mean, 6) for mean in means)]


def _difference_lines(report: SweepReport) -> Iterator[Sequence[object]]:
    yield [*CELL, "against", "measure", "difference", "low", "high", "p", "p_holm", "questions"]
    for cell in report.cells:
        for name, compared in cell.against.items():
            d = compared.found.difference
            yield [
                *_named(cell),
                report.baseline,
                name,
                *(round(value, 6) for value in (d.mean, d.low, d.high, compared.found.p)),
                "" if cell.p_holm is None or name != report.measure else round(cell.p_holm, 6),
                compared.questions,
            ]


def _named(cell: CellScores) -> list[object]:
    return ["" if (value := getattr(cell.cell, name)) is None else value for name in CELL]


def _csv(lines: Iterator[Sequence[object]]) -> str:
    heads, *rows = ([str(value) for value in line] for line in lines)
    return Table(heads, rows).to_csv()
