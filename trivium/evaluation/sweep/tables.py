"""The tables of a sweep, scores and differences to the baseline, in the terminal and as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from rich.console import Console
from rich.text import Text

from trivium.common.files import write_file
from trivium.evaluation.answers.report import SUM_OF_FIVE
from trivium.evaluation.fitted_table import FittedTable
from trivium.evaluation.significance import LEVEL
from trivium.evaluation.sweep.results import CELL, CellScores, SweepReport
from trivium.evaluation.tables import BETTER, WORSE, chance, share
from trivium.text import plain

SHOWN = (
    "exact_match", "f1", "contained", "rouge_l", "cosine", "not_found", "relevancy", "correctness", "faithfulness",
    "hallucination", "specific_information", SUM_OF_FIVE,
)  # fmt: skip
"""The measures of the tables in the terminal and on the page, if present; the sweep's own comes first."""


def shown_measures(report: SweepReport) -> list[str]:
    """Return the columns of the displayed tables."""
    there = report.measures
    return [name for name in dict.fromkeys((report.measure, *SHOWN)) if name in there]


def best_mean(report: SweepReport) -> str | None:
    """Return the sweep's measure of the best cell as displayed; None if no cell is complete."""
    return shown_mean(report.measure, report.complete[0].means[report.measure]) if report.complete else None


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
    """Write ``scores.csv``, ``differences.csv`` and ``report.json`` to a folder. The tables are byte-for-byte
    independent of interruptions. Raises InputError if they cannot be written.
    """
    write_file(folder / "scores.csv", _csv(_score_lines(report)))
    write_file(folder / "differences.csv", _csv(_difference_lines(report)))
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


def _scores(report: SweepReport, measures: Sequence[str]) -> FittedTable:
    told = [name for name, there in (("passages", report.cut), ("warnings", report.warnings)) if there]
    table = FittedTable(["cell", *measures, *told, "tokens", "cost"])
    best = best_mean(report)
    for cell in report.cells:
        row = [Text(plain(cell.cell.label))]
        for name in measures:
            value = shown_mean(name, cell.means[name]) if name in cell.means else "-"
            if not cell.complete and name == measures[0]:
                value = f"{cell.answered} of {report.asked}"
            row.append(Text(value, style="bold" if value == best and name == report.measure else ""))
        values = {"passages": length(cell.passages), "warnings": f"{cell.warned}"}
        row += [Text(values[name]) for name in told]
        spent = cell.cost + cell.search_cost + cell.judge_cost
        row += [Text(f"{(cell.usage + cell.search_usage).total:,}"), Text(cost(spent))]
        table.add_row(*row)
    return table


def _by_judge(report: SweepReport, measures: Sequence[str]) -> FittedTable:
    there = report.of_judges()
    judged = [name for name in measures if any(name in cell.by_judge[judge] for cell, judge in there)]
    table = FittedTable(["cell, by judge", *judged])
    for cell, judge in there:
        means = cell.by_judge[judge]
        values = [shown_mean(name, means[name]) if name in means else "-" for name in judged]
        table.add_row(plain(f"{cell.cell.label}, {judge}"), *values)
    return table


def _differences(report: SweepReport, measures: Sequence[str]) -> FittedTable:
    table = FittedTable(
        [f"over {plain(report.baseline)}", f"{report.measure} (95 %)", "p", "p (Holm)", *measures[1:]]
    )
    for cell in report.cells:
        if report.measure not in cell.against or cell.p_holm is None:
            continue
        tested = cell.against[report.measure].found
        d = tested.difference
        row = [
            plain(cell.cell.label),
            f"{d.mean:+.3f} ({d.low:+.3f} to {d.high:+.3f})",
            chance(tested.p),
            f"{chance(cell.p_holm)} {cell.mark(report.measure) or ' '}",
        ]
        row += [
            f"{cell.against[name].found.difference.mean:+.3f}" if name in cell.against else "-"
            for name in measures[1:]
        ]
        table.add_row(*map(Text, row))
    return table


def _baseline_and_best(report: SweepReport, measures: Sequence[str]) -> FittedTable:
    best = report.complete[0]
    baseline = next(cell for cell in report.cells if cell.cell.label == report.baseline)
    title = f"baseline: {plain(report.baseline)}\nbest: {plain(best.cell.label)}"
    table = FittedTable(["measure", "baseline", "best", "difference (95 %)", "p"], title=title)
    for name in measures:
        if name in best.means and name in baseline.means:
            compared = best.against.get(name)
            d = None if compared is None else compared.found.difference
            shown = "" if d is None else f"{d.mean:+.3f} ({d.low:+.3f} to {d.high:+.3f})"
            p = "" if compared is None else chance(compared.found.p)
            means = (shown_mean(name, cell.means[name]) for cell in (baseline, best))
            table.add_row(*map(Text, (name, *means, shown, p)))
    return table


def _footnotes(report: SweepReport) -> Iterator[str]:
    hint = " (so few that they are only a hint)" if report.only_a_hint else ""
    yield (
        f"{report.asked} questions; {len(report.complete)} of {len(report.cells)} cells complete; intervals and tests "
        f"resample {report.clusters} {report.resampled}{hint}; {BETTER} {WORSE}: p < {LEVEL:g} after Holm's"
        " correction over all cells. The best cell is chosen on these same questions, which favours it."
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
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
