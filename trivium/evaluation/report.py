"""The report of an evaluation: as JSON, in a terminal and in a notebook."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from trivium.common.arrays import Floats
from trivium.datasets.gold import Traced
from trivium.evaluation.significance import Interval
from trivium.evaluation.tables import Cell, Table, matches_table
from trivium.parser.sources.source_items import Problem

Ranking = Sequence[tuple[str, float]]
"""Chunk uris with their scores, best first."""
Rankings = Mapping[str, Sequence[Ranking]]
"""System -> one ranking per traced question, in their order."""

HEADLINE = ("hit@1", "hit@3", "hit@5", "recall@5", "all@5", "mrr", "ndcg@10")
"""The measures that get intervals, comparisons and a column in the table."""
JUDGED_BY = "hit@5"
"""The measure whose interval and comparison the table shows if no other is chosen."""
SHOWN_REASONS = 5


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The measures of one system, a retriever or a fusion. ``values`` holds every measure question by question and
    ``means`` are over the traced questions (NaN if there are none). ``intervals`` (95 %) are those of HEADLINE
    and of the chosen measure; ``matches`` is the cumulative match characteristic, by rank from 1.
    """

    values: Mapping[str, Floats]
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    matches: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A system (``row``) compared with another on the same questions: mean paired difference (positive: ``row`` is
    better) with its 95 % interval, and the two-sided p-value of the paired permutation test.
    """

    row: str
    against: str
    measure: str
    difference: Interval
    p: float


@dataclass(frozen=True, slots=True)
class Report:
    """The results of an evaluation, with the rankings that were evaluated. ``rows`` are by system. ``resampled`` is
    the unit that intervals and tests resample ("pages" or "questions") and ``clusters`` their number. ``warnings``
    are failures that were worked around, such as that of a reranker; ``shown`` are further measures for the table.
    ``problems`` are unreadable rows of the question file. ``by`` is the measure whose interval and comparisons are shown.
    """

    traced: Traced = field(repr=False)
    rankings: Rankings = field(repr=False)
    rows: Mapping[str, SystemScores]
    comparisons: tuple[Comparison, ...]
    resampled: str
    clusters: int
    warnings: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    by: str = JUDGED_BY

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values; undefined means are null."""
        return {
            **traced_json(self.traced),
            "rows": {name: _row_json(row) for name, row in self.rows.items()},
            "comparisons": [compared_json(compared) for compared in self.comparisons],
            "resampled": self.resampled,
            "clusters": self.clusters,
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            **({"problems": problems_json(self.problems)} if self.problems else {}),
        }

    def _repr_html_(self) -> str:
        """HTML representation for notebooks: the means shown in the terminal, and the number of questions."""
        return f"{_table(self).to_html()}<p>{len(self.traced.questions)} of {self.traced.asked} questions traced</p>"


def traced_json(traced: Traced) -> dict[str, Any]:
    """Return the numbers of questions and of traced ones, and the reasons for the others, as JSON values."""
    return {
        "questions": traced.asked,
        "traced": len(traced.questions),
        "untraceable": [{"id": u.id, "cause": u.cause.value, "reason": u.reason} for u in traced.untraceable],
        **({"partly_traced": len(traced.partly)} if traced.partly else {}),
        **({"unanswerable": len(traced.unanswerable)} if traced.unanswerable else {}),
    }


def problems_json(problems: Sequence[Problem]) -> list[dict[str, str]]:
    """Return unreadable rows of a question file as JSON values."""
    return [{"location": problem.location, "reason": problem.reason} for problem in problems]


def problem_lines(problems: Sequence[Problem]) -> Iterator[Text]:
    """Describe how many rows of a question file are unreadable, and the first of them."""
    if problems:
        rows = "1 row" if len(problems) == 1 else f"{len(problems):,} rows"
        yield Text(f"{rows} could not be read:", style="yellow")
        for problem in problems[:SHOWN_REASONS]:
            yield Text(f"  {problem.location}: {problem.reason}")
        if len(problems) > SHOWN_REASONS:
            yield Text(f"  and {len(problems) - SHOWN_REASONS:,} more (all of them with --json)")


def compared_json(compared: Comparison) -> dict[str, Any]:
    """Convert a comparison of two systems to JSON values."""
    return {
        "row": compared.row,
        "against": compared.against,
        "measure": compared.measure,
        "difference": compared.difference.mean,
        "ci": [compared.difference.low, compared.difference.high],
        "p": compared.p,
    }


def print_report(report: Report, console: Console) -> None:
    """Print the means, the best of each column in bold, the CMC, and the questions that could not be traced with
    reasons.
    """
    console.print(_table(report))
    rows = report.rows
    matches = matches_table(
        {name: row.matches for name, row in rows.items()}, {name: row.means for name, row in rows.items()}
    )
    if matches is not None:
        console.print()
        console.print(matches)
        console.print()
    for note in _footnotes(report):
        console.print(note)


def _row_json(row: SystemScores) -> dict[str, Any]:
    return {
        **{name: None if math.isnan(mean) else mean for name, mean in row.means.items()},
        "ci": {name: [interval.low, interval.high] for name, interval in row.intervals.items()},
        "cmc": list(row.matches),
    }


def _table(report: Report) -> Table:
    measures = tuple(dict.fromkeys((*HEADLINE, report.by)))
    heads = [
        head for measure in measures for head in ((measure, "95 %") if measure == report.by else (measure,))
    ]
    table = Table(["system", *heads, *report.shown])
    best = {
        measure: max((_shown(row.means[measure]) for row in report.rows.values()), default="")
        for measure in measures
    }
    for name, row in report.rows.items():
        cells = [Cell(name)]
        for measure in measures:
            value = _shown(row.means[measure])
            is_best = measure in row.intervals and value == best[measure]
            cells.append(Cell(value, best=is_best))
            if measure == report.by:
                cells.append(Cell(_range(row.intervals[measure]) if measure in row.intervals else ""))
        table.add_row(*cells, *(f"{row.means[measure]:.2f}" for measure in report.shown))
    return table


def _shown(mean: float) -> str:
    return "-" if math.isnan(mean) else f"{mean:.3f}"


def _range(interval: Interval) -> str:
    return f"{interval.low:.3f}-{interval.high:.3f}"


def in_words(row: str, against: str, measure: str, difference: Interval) -> str:
    """Say how far a system is above or below another, with the 95 % interval of the difference.

    >>> in_words("page", "vector", "hit@5", Interval(-0.625, -0.75, -0.5))
    'page is 0.625 below vector in hit@5 (95 %: -0.750 to -0.500)'
    """
    apart = f"{abs(difference.mean):.3f}"
    place = "above" if difference.mean > 0 else "below"
    said = f"equals {against}" if float(apart) == 0 else f"is {apart} {place} {against}"
    return f"{row} {said} in {measure} (95 %: {difference.low:+.3f} to {difference.high:+.3f})"


def _footnotes(report: Report) -> Iterator[Text]:
    missing = report.traced.untraceable
    yield Text(
        f"{len(report.traced.questions)} of {report.traced.asked} questions traced; "
        f"intervals and tests resample {report.clusters} {report.resampled}."
    )
    for c in report.comparisons:
        if c.measure == report.by:
            p = "p < 0.001" if c.p < 0.001 else f"p = {c.p:.3f}"
            yield Text(f"{in_words(c.row, c.against, c.measure, c.difference)}, {p}")
    for warning in report.warnings:
        yield Text(f"warning: {warning}", style="yellow")
    yield from problem_lines(report.problems)
    if report.traced.partly:
        yield Text(f"{len(report.traced.partly)} of them in part: some of their gold was not found")
    if report.traced.unanswerable:
        yield Text(
            f"{len(report.traced.unanswerable)} unanswerable (evaluate answers has the share that is refused)"
        )
    if missing:
        yield Text(f"{len(missing)} could not be traced and are not in the means:")
        for cause, count in Counter(u.cause for u in missing).most_common():
            yield Text(f"  {count:5d}  {cause.value}")
        for u in missing[:SHOWN_REASONS]:
            yield Text(f"  {u.id}: {u.reason}")
        if len(missing) > SHOWN_REASONS:
            yield Text(f"  and {len(missing) - SHOWN_REASONS} more (all of them with --json)")
