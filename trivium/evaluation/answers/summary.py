"""From answers and what was measured of them to rows and comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.datasets.gold import Traced
from trivium.datasets.splits import clusters
from trivium.evaluation.answers.judge import Judgement
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.answers.report import AnswerReport, AnswerRow, Compared, Judged
from trivium.evaluation.latency import Timing
from trivium.evaluation.report import Comparison
from trivium.evaluation.retrieval import Floats
from trivium.evaluation.significance import Interval, mean_interval, p_value
from trivium.types import Usage

_Numbers = NDArray[np.int64]
Values = Mapping[str, Mapping[str, Floats]]
"""Row -> measure -> (questions,), NaN where the measure has nothing to say."""


def summarise(
    traced: Traced,
    asked: Sequence[str],
    without_answers: int,
    answers: Mapping[str, Sequence[Answered]],
    judgements: Mapping[str, Sequence[Judgement]],
    values: Values,
    *,
    reader: str | None,
    judge: str | None,
    bertscore: str | None,
    k: int,
) -> AnswerReport:
    """The report on the ``asked`` questions: every row has one answer for each, in their order, and so have its values
    and judgements (none without a judge).

    The first row is what the others are compared with, each measure over the questions for which it says something of
    both. Intervals and tests resample pages (questions that share gold pages), or questions where all share one.
    """
    pages = clusters([traced.gold[identifier].pages for identifier in asked])
    by_page = len(np.unique(pages)) > 1
    groups = pages if by_page else np.arange(len(asked), dtype=np.int64)
    rows = {}
    for name, given in answers.items():
        defined = {measure: ~np.isnan(array) for measure, array in values[name].items()}
        rows[name] = AnswerRow(
            values=values[name],
            means={
                measure: float(array[defined[measure]].mean()) if defined[measure].any() else math.nan
                for measure, array in values[name].items()
            },
            counts={measure: int(there.sum()) for measure, there in defined.items()},
            intervals={
                measure: _interval(array, defined[measure], groups)
                for measure, array in values[name].items()
                if defined[measure].any()
            },
            latency=_latency(given),
            usage=Usage(sum(one.prompt_tokens for one in given), sum(one.completion_tokens for one in given)),
            judged=Judged.of(judgements[name]) if name in judgements else None,
        )
    resampled = ("pages", len(np.unique(pages))) if by_page else ("questions", len(asked))
    return AnswerReport(
        traced,
        tuple(asked),
        without_answers,
        reader,
        judge,
        bertscore,
        k,
        answers,
        judgements,
        rows,
        tuple(_comparisons(values, groups)) if len(asked) else (),
        *resampled,
    )


def _interval(array: Floats, there: NDArray[np.bool_], groups: _Numbers) -> Interval:
    return mean_interval(array[there], groups[there])


def _comparisons(values: Values, groups: _Numbers) -> list[Compared]:
    names = list(values)
    found = []
    for name in names[1:]:
        for measure, array in values[name].items():
            difference = array - values[names[0]][measure]
            there = ~np.isnan(difference)
            if there.any():
                bounds = mean_interval(difference[there], groups[there])
                p = p_value(difference[there], groups[there])
                comparison = Comparison(name, names[0], measure, bounds, p)
                found.append(Compared(comparison, int(there.sum())))
    return found


def _latency(given: Sequence[Answered]) -> dict[str, Timing]:
    if not given:
        return {name: Timing(median=0.0, p90=0.0) for name in ("answer", "search")}
    seconds = {
        "answer": np.array([one.seconds for one in given]),
        "search": np.array([one.search_seconds for one in given]),
    }
    return {
        name: Timing(median=float(1000 * np.median(all_of)), p90=float(1000 * np.quantile(all_of, 0.9)))
        for name, all_of in seconds.items()
    }
