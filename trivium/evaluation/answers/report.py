"""What an evaluation of answers found, as JSON and as people read it in a terminal."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trivium.common.arrays import Floats
from trivium.common.files import write_file
from trivium.common.frames import data_frame
from trivium.datasets.gold import Traced
from trivium.evaluation.answers.judge import Judgement
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.latency import Timing
from trivium.evaluation.report import Comparison, compared_json, traced_json
from trivium.evaluation.significance import Interval
from trivium.evaluation.tables import html_table, share
from trivium.text import plain
from trivium.types import Usage

if TYPE_CHECKING:
    from pandas import DataFrame

GOLD = "gold"
"""The row whose reader is given the gold passages: what it could answer if nothing had to be found."""
TESTED = ("contained", "f1", "factual_correctness")
"""The measures whose comparisons are printed; all are in the JSON."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge did for a row: why measures are ``missing`` and how often, replies that were ``malformed`` among all
    ``calls``, and the tokens it read and wrote."""

    missing: Mapping[str, int]
    malformed: int
    calls: int
    usage: Usage

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> Judged:
        """Over the answers of a row."""
        return cls(
            Counter(f"{name}: {why}" for judgement in judgements for name, why in judgement.missing.items()),
            sum(judgement.malformed for judgement in judgements),
            sum(judgement.calls for judgement in judgements),
            Usage(
                sum(judgement.prompt_tokens for judgement in judgements),
                sum(judgement.completion_tokens for judgement in judgements),
            ),
        )


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A context and what the reader made of it. ``values`` holds every measure question by question, NaN where it has
    nothing to say; ``means`` and ``intervals`` (95 %) are over the ``counts`` others. ``latency`` is that of whole
    answers (``answer``) and of finding the passages (``search``); ``usage`` is the reader's, over all questions."""

    values: Mapping[str, Floats]
    means: Mapping[str, float]
    counts: Mapping[str, int]
    intervals: Mapping[str, Interval]
    latency: Mapping[str, Timing]
    usage: Usage
    judged: Judged | None


@dataclass(frozen=True, slots=True)
class Compared:
    """A row against the first one, over the ``questions`` for which the measure says something of both."""

    found: Comparison
    questions: int


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """The outcome. ``traced`` are the questions of the file with their gold, ``without_answers`` how many of them have no
    known answer and were not asked, ``asked`` the ids that were. ``answers`` and ``judgements`` are by row, in their
    order. ``resampled`` says what intervals and tests resample and ``clusters`` how many of them there are."""

    traced: Traced = field(repr=False)
    asked: tuple[str, ...] = field(repr=False)
    without_answers: int
    reader: str | None
    judge: str | None
    bertscore: str | None
    k: int
    answers: Mapping[str, Sequence[Answered]] = field(repr=False)
    judgements: Mapping[str, Sequence[Judgement]] = field(repr=False)
    rows: Mapping[str, AnswerRow]
    comparisons: tuple[Compared, ...]
    resampled: str
    clusters: int

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values; a mean that does not exist is null."""
        return {
            **traced_json(self.traced),
            "without_answers": self.without_answers,
            "asked": len(self.asked),
            "reader": self.reader,
            "judge": self.judge,
            "bertscore": self.bertscore,
            "k": self.k,
            "rows": {name: _row_json(row) for name, row in self.rows.items()},
            "comparisons": [{**compared_json(c.found), "questions": c.questions} for c in self.comparisons],
            "resampled": self.resampled,
            "clusters": self.clusters,
        }

    def to_pandas(self) -> DataFrame:
        """A line a system and measure: ``system``, ``measure``, ``mean``, its 95 % interval ``low`` to ``high``, and
        ``n``, how many answers it is of. Raises MissingExtraError without pandas (``pip install 'trivium[pandas]'``)."""
        return data_frame(
            (
                {
                    "system": name,
                    "measure": measure,
                    "mean": mean,
                    "low": row.intervals[measure].low if row.counts[measure] else math.nan,
                    "high": row.intervals[measure].high if row.counts[measure] else math.nan,
                    "n": row.counts[measure],
                }
                for name, row in self.rows.items()
                for measure, mean in row.means.items()
            ),
            ["system", "measure", "mean", "low", "high", "n"],
        )

    def _repr_html_(self) -> str:
        """How notebooks show it: measures x systems."""
        measures = next(iter(self.rows.values())).means if self.rows else {}
        cells = [[name, *(_cell(row, name, self) for row in self.rows.values())] for name in measures]
        return html_table(["", *self.rows], cells)


def save_answer_report(report: AnswerReport, folder: Path) -> None:
    """Write the report as ``report.json`` in a folder."""
    write_file(folder / "report.json", json.dumps(report.to_json(), ensure_ascii=False, indent=2) + "\n")


def print_answer_report(report: AnswerReport, console: Console) -> None:
    """Print the means with their intervals, and how they came about."""
    console.print(_table(report))
    console.print()
    for note in _footnotes(report):
        console.print(note, soft_wrap=True)


def _row_json(row: AnswerRow) -> dict[str, Any]:
    return {
        **{name: None if math.isnan(mean) else mean for name, mean in row.means.items()},
        "ci": {name: [interval.low, interval.high] for name, interval in row.intervals.items()},
        "n": dict(row.counts),
        "milliseconds": {name: timing.model_dump() for name, timing in row.latency.items()},
        "tokens": {"prompt": row.usage.prompt_tokens, "completion": row.usage.completion_tokens},
        "judge": None if row.judged is None else _judged_json(row.judged),
    }


def _judged_json(judged: Judged) -> dict[str, Any]:
    return {
        "missing": dict(judged.missing),
        "malformed": judged.malformed,
        "calls": judged.calls,
        "tokens": {"prompt": judged.usage.prompt_tokens, "completion": judged.usage.completion_tokens},
    }


def _table(report: AnswerReport) -> Table:
    # Names come from the command line and from files: Text, never markup.
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("", no_wrap=True)
    for name in report.rows:
        table.add_column(Text(plain(name)), justify="right", no_wrap=True)
    measures = next(iter(report.rows.values())).means if report.rows else {}
    for measure in measures:
        table.add_row(measure, *(Text(_cell(row, measure, report)) for row in report.rows.values()))
    return table


def _cell(row: AnswerRow, measure: str, report: AnswerReport) -> str:
    if math.isnan(row.means[measure]):
        return "-"
    interval = row.intervals[measure]
    of = f" of {row.counts[measure]}" if row.counts[measure] < len(report.asked) else ""
    return f"{share(row.means[measure])} ({share(interval.low)}-{share(interval.high)}){of}"


def _footnotes(report: AnswerReport) -> Iterator[Text]:
    missing = report.traced.untraceable
    total = len(report.traced.questions) + len(missing)
    left_out = []
    if missing:
        left_out.append(f"{len(missing)} could not be traced")
    if report.without_answers:
        left_out.append(f"{report.without_answers} have no known answer")
    yield Text(
        f"{len(report.asked)} of {total} questions asked"
        + (f" ({', '.join(left_out)})" if left_out else "")
        + f"; {report.k} passages each; reader: {plain(report.reader or 'none, the best sentences')}."
    )
    yield Text(
        f"Means with 95 % intervals, which resample {report.clusters} {report.resampled}; 'of n' where a measure says"
        " nothing of the other answers."
    )
    for name, row in report.rows.items():
        yield Text(f"{plain(name)}: {_cost(row)}")
    for c in report.comparisons:
        if c.found.measure in TESTED:
            p = "p < 0.001" if c.found.p < 0.001 else f"p = {c.found.p:.3f}"
            d = c.found.difference
            yield Text(
                f"{plain(c.found.row)} over {plain(c.found.against)}, {c.found.measure}: "
                f"{d.mean:+.3f} ({d.low:+.3f} to {d.high:+.3f}), {p}, {c.questions} questions"
            )
    if report.bertscore is not None:
        yield Text(f"BERTScore: {plain(report.bertscore)}")


def _cost(row: AnswerRow) -> str:
    timing = row.latency["answer"].median, row.latency["search"].median
    text = f"{timing[0]:,.0f} ms an answer (median; finding the passages {timing[1]:,.0f})"
    if row.usage.prompt_tokens:
        text += f"; {row.usage.prompt_tokens:,} tokens read, {row.usage.completion_tokens:,} written"
    if row.judged is not None:
        judged = row.judged
        text += (
            f"; judge: {judged.malformed} of {judged.calls} replies malformed,"
            f" {judged.usage.prompt_tokens:,} tokens read, {judged.usage.completion_tokens:,} written"
        )
        for reason, count in Counter(judged.missing).most_common():
            text += f"\n  {count:5d}  {plain(reason)}"
    return text
