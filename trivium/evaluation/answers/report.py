"""The report of an evaluation of answers, as JSON and in the terminal."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from trivium.common.arrays import Floats
from trivium.common.safe_files import write_file
from trivium.datasets.gold import Traced
from trivium.evaluation.answers.judged import JudgedAnswer
from trivium.evaluation.answers.records import NOTHING_SPENT, Answered, Timing
from trivium.evaluation.report import Comparison, compared_json, in_words, traced_json
from trivium.evaluation.significance import Interval
from trivium.evaluation.tables import Table, share
from trivium.text.normalise import plain
from trivium.types import Usage

GOLD = "gold"
"""The row whose reader is given the gold passages: an upper bound without retrieval errors."""
NO_CONTEXT = "no-context"
"""The row whose reader is given no passages: what it knows by itself."""
TESTED = ("contained", "f1", "correctness")
"""The measures whose comparisons are printed. The JSON contains all."""
SUM_OF_FIVE = "sum_of_five"
FIVE = ("relevancy", "correctness", "faithfulness", "hallucination", "specific_information")


@dataclass(frozen=True, slots=True)
class Judged:
    """Statistics of the judges for a row: reasons for ``missing`` measures with their counts, ``malformed`` replies
    among all ``calls``, and tokens.
    """

    missing: Mapping[str, int]
    malformed: int
    calls: int
    usage: Usage

    @classmethod
    def of(cls, judgements: Sequence[JudgedAnswer]) -> Judged:
        """Sum up the judgements of a row."""
        return cls(
            Counter(f"{name}: {why}" for judgement in judgements for name, why in judgement.missing.items()),
            sum(judgement.malformed for judgement in judgements),
            sum(judgement.calls for judgement in judgements),
            sum((judgement.usage for judgement in judgements), NOTHING_SPENT),
        )


class Risk(NamedTuple):
    """Of a share ``coverage`` of the questions, whose answers have at least this ``confidence``, a share ``risk`` has a
    wrong answer; all in [0, 1].
    """

    confidence: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """The results of one context.

    ``values`` holds every measure question by question, NaN where undefined; ``means`` and ``intervals`` (95 %) are
    over the ``counts`` defined values. ``latency`` is that of whole answers (``answer``) and of finding the passages
    (``search``). ``usage`` is the reader's over all questions, and ``search_usage`` that of language models that
    selected or reranked passages. ``passages`` is the mean number of passages found, and ``warnings`` maps failures
    that were worked around to numbers of questions, unanswerable ones among them. ``risks`` are of the surest answers
    without a language model.
    """

    values: Mapping[str, Floats]
    means: Mapping[str, float]
    counts: Mapping[str, int]
    intervals: Mapping[str, Interval]
    latency: Mapping[str, Timing]
    usage: Usage
    judged: Judged | None
    search_usage: Usage = NOTHING_SPENT
    passages: float = math.nan
    warnings: Mapping[str, int] = field(default_factory=dict)
    risks: tuple[Risk, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """A row compared with the first one, over the ``questions`` for which the measure is defined for both."""

    found: Comparison
    questions: int


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """The results of the evaluation.

    ``traced`` are the questions of the file with their gold, ``without_answers`` the number of those without a known
    answer, which were not asked, ``asked`` the ids of the others. ``answers`` are by row, ``judgements`` by judge,
    method and row, in their order. ``resampled`` is the unit that intervals and tests resample and ``clusters`` their
    number. ``by_judge`` are the means by judge and row. ``refused`` is the share of the ``unanswerable`` questions that
    was answered with "Not in the collection.", by row.
    """

    traced: Traced = field(repr=False)
    asked: tuple[str, ...] = field(repr=False)
    without_answers: int
    reader: str | None
    judges: tuple[str, ...]
    bertscore: str | None
    k: int
    answers: Mapping[str, Sequence[Answered]] = field(repr=False)
    judgements: Mapping[str, Mapping[str, Mapping[str, Sequence[JudgedAnswer]]]] = field(repr=False)
    rows: Mapping[str, AnswerRow]
    comparisons: tuple[Compared, ...]
    resampled: str
    clusters: int
    by_judge: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    unanswerable: int = 0
    refused: Mapping[str, float] = field(default_factory=dict)

    @property
    def judge(self) -> str | None:
        """The first of the ``judges``, None without one."""
        return self.judges[0] if self.judges else None

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values; undefined means are null."""
        return {
            **traced_json(self.traced),
            "without_answers": self.without_answers,
            "asked": len(self.asked),
            "reader": self.reader,
            "judge": self.judge,
            "judges": list(self.judges),
            "bertscore": self.bertscore,
            "k": self.k,
            **({"unanswerable": self.unanswerable} if self.refused else {}),
            "rows": {name: _row_json(row, self.refused.get(name)) for name, row in self.rows.items()},
            "comparisons": [{**compared_json(c.found), "questions": c.questions} for c in self.comparisons],
            "resampled": self.resampled,
            "clusters": self.clusters,
            "by_judge": {
                name: {row: dict(means) for row, means in rows.items()}
                for name, rows in self.by_judge.items()
            },
        }


def save_answer_report(report: AnswerReport, folder: Path) -> None:
    """Write the report as ``report.json`` in a folder."""
    write_file(folder / "report.json", json.dumps(report.to_json(), ensure_ascii=False, indent=2) + "\n")


def print_answer_report(report: AnswerReport, console: Console) -> None:
    """Print the means with their intervals and the conditions of the evaluation."""
    console.print(_table(report))
    console.print()
    for note in _footnotes(report):
        console.print(note, soft_wrap=True)


def _row_json(row: AnswerRow, refused: float | None) -> dict[str, Any]:
    means = {name: None if math.isnan(mean) else mean for name, mean in row.means.items()}
    return {
        **means,
        **({} if refused is None else {"refused": refused, "wrongly_refused": means["not_found"]}),
        "ci": {name: [interval.low, interval.high] for name, interval in row.intervals.items()},
        "n": dict(row.counts),
        "milliseconds": {name: timing.model_dump() for name, timing in row.latency.items()},
        "tokens": usage_json(row.usage),
        "search_tokens": usage_json(row.search_usage),
        "passages": None if math.isnan(row.passages) else row.passages,
        "warnings": dict(row.warnings),
        "risks": [risk._asdict() for risk in row.risks],
        "judge": None if row.judged is None else _judged_json(row.judged),
        SUM_OF_FIVE: sum_of_five(row.means),
    }


def warning_lines(name: str, warnings: Mapping[str, int], asked: int) -> Iterator[str]:
    """Describe the warnings of a row, one line each."""
    for why, count in warnings.items():
        yield f"warning: {plain(name)}: {count} of {asked} questions: {plain(why)}"


def usage_json(usage: Usage) -> dict[str, int]:
    """Convert token counts to JSON values."""
    return {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens}


def sum_of_five(means: Mapping[str, float]) -> float | None:
    """Return the sum of the five judged measures in percent: 500 is perfect. Hallucination is inverted. None if one
    of them is missing.

    >>> sum_of_five({"relevancy": 1, "correctness": 0.5, "faithfulness": 1, "hallucination": 0.25,
    ...              "specific_information": 1})
    425.0
    """
    if any(name not in means or math.isnan(means[name]) for name in FIVE):
        return None
    return 100.0 * sum(1 - means[name] if name == "hallucination" else means[name] for name in FIVE)


def _judged_json(judged: Judged) -> dict[str, Any]:
    return {
        "missing": dict(judged.missing),
        "malformed": judged.malformed,
        "calls": judged.calls,
        "tokens": usage_json(judged.usage),
    }


def _table(report: AnswerReport) -> Table:
    table = Table(["", *map(plain, report.rows)])
    measures = next(iter(report.rows.values())).means if report.rows else {}
    for measure in measures:
        table.add_row(measure, *(_cell(row, measure, report) for row in report.rows.values()))
    sums = [sum_of_five(row.means) for row in report.rows.values()]
    if any(value is not None for value in sums):
        table.add_row("sum of five", *("-" if value is None else f"{value:.1f}" for value in sums))
    if report.refused:
        wrongly = [row.means["not_found"] for row in report.rows.values()]
        refused = [report.refused[row] for row in report.rows]
        table.add_row("refused", *(f"{_number(value)} of {report.unanswerable}" for value in refused))
        table.add_row("wrongly_refused", *(f"{_number(value)} of {len(report.asked)}" for value in wrongly))
    return table


def _cell(row: AnswerRow, measure: str, report: AnswerReport) -> str:
    if math.isnan(row.means[measure]):
        return "-"
    interval = row.intervals[measure]
    of = f" of {row.counts[measure]}" if row.counts[measure] < len(report.asked) else ""
    return f"{share(row.means[measure])} ({share(interval.low)}-{share(interval.high)}){of}"


def _footnotes(report: AnswerReport) -> Iterator[Text]:
    missing = report.traced.untraceable
    left_out = []
    if missing:
        left_out.append(f"{len(missing)} could not be traced")
    if report.without_answers:
        left_out.append(f"{report.without_answers} have no known answer")
    if report.unanswerable:
        left_out.append(f"{report.unanswerable} unanswerable ones are asked to see whether they are refused")
    yield Text(
        f"{len(report.asked)} of {report.traced.asked} questions asked"
        + (f" ({', '.join(left_out)})" if left_out else "")
        + f"; {report.k} passages asked for; reader: {plain(report.reader or 'none, the best sentences')}."
    )
    yield Text(
        f"Means with 95 % intervals, which resample {report.clusters} {report.resampled}; 'of n' where a measure says"
        " nothing of the other answers."
    )
    for name, row in report.rows.items():
        yield Text(f"{plain(name)}: {_cost(row, report.k)}")
        if row.risks:
            yield Text(f"{plain(name)}, wrong of the surest: {_risks(row.risks)}")
        for line in warning_lines(name, row.warnings, len(report.asked) + report.unanswerable):
            yield Text(line, style="yellow")
    for c in report.comparisons:
        if c.found.measure in TESTED:
            p = "p < 0.001" if c.found.p < 0.001 else f"p = {c.found.p:.3f}"
            compared = in_words(
                plain(c.found.row), plain(c.found.against), c.found.measure, c.found.difference
            )
            yield Text(f"{compared}, {p}, {c.questions} questions")
    if report.bertscore is not None:
        yield Text(f"BERTScore: {plain(report.bertscore)}")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else share(value)


def _risks(risks: Sequence[Risk]) -> str:
    return "; ".join(f"{share(one.risk)} of {one.coverage:.0%} of the questions" for one in risks)


def _cost(row: AnswerRow, k: int) -> str:
    timing = row.latency["answer"].median, row.latency["search"].median
    text = f"{timing[0]:,.0f} ms an answer (median; finding the passages {timing[1]:,.0f})"
    if not math.isnan(row.passages) and row.passages != k:
        text += f"; {row.passages:.1f} passages"
    if row.usage.prompt_tokens:
        text += f"; {row.usage.prompt_tokens:,} tokens read, {row.usage.completion_tokens:,} written"
    if row.search_usage.prompt_tokens:
        text += (
            f"; to find the passages {row.search_usage.prompt_tokens:,} tokens read,"
            f" {row.search_usage.completion_tokens:,} written"
        )
    if row.judged is not None:
        judged = row.judged
        text += (
            f"; judge: {judged.malformed} of {judged.calls} replies malformed,"
            f" {judged.usage.prompt_tokens:,} tokens read, {judged.usage.completion_tokens:,} written"
        )
        for reason, count in Counter(judged.missing).most_common():
            text += f"\n  {count:5d}  {plain(reason)}"
    return text
