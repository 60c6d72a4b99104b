"""Computes all measures of all answers, and summarises them as rows and comparisons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.datasets.gold import Traced
from trivium.embedding.embedder import Embedder
from trivium.evaluation.answers.bertscore import BertScore
from trivium.evaluation.answers.judged import JudgedAnswer
from trivium.evaluation.answers.judging import WAYS, Judgements
from trivium.evaluation.answers.model_free_measures import MEASURES, measure
from trivium.evaluation.answers.records import NOTHING_SPENT, Answered, Timing
from trivium.evaluation.answers.report import (
    FIVE,
    AnswerReport,
    AnswerRow,
    Compared,
    Judged,
    Risk,
    sum_of_five,
)
from trivium.evaluation.report import Comparison
from trivium.evaluation.significance import Interval, mean_intervals, p_values, resampled_units
from trivium.types import Question


def measure_answers(
    embedder: Embedder,
    answers: Mapping[str, Sequence[Answered]],
    judgements: Judgements,
    asked: Sequence[Question],
    traced: Traced,
    bertscore: BertScore | None,
) -> dict[str, dict[str, Floats]]:
    """Return every measure of every row, question by question, NaN where undefined. With several judges, the mean
    over the answers that all of them judged: otherwise a judge that fails more often on one row would bias
    comparisons.
    """
    golds = [question.answers for question in asked]
    values = {}
    for row, row_answers in answers.items():
        measured = [
            measure(answered, question.answers, traced.gold[question.id])
            for answered, question in zip(row_answers, asked, strict=True)
        ]
        values[row] = {
            name: np.array([scores[name] for scores in measured], dtype=np.float64) for name in MEASURES
        }
        # An answer that says nothing was found has no similarity to a known answer.
        texts = [answered.said if answered.outcome != "absent" else "" for answered in row_answers]
        values[row]["cosine"] = _cosines(embedder, texts, golds)
        if bertscore is not None:
            values[row]["bertscore"] = np.nan_to_num(np.array(bertscore.scores(texts, golds)), nan=0.0)
        told = [judged_values(row, ways) for ways in judgements.values()]
        for name in dict.fromkeys(chain.from_iterable(told)):
            values[row][name] = np.mean([by_judge[name] for by_judge in told if name in by_judge], axis=0)
    return values


def judged_values(row: str, ways: Mapping[str, Mapping[str, Sequence[JudgedAnswer]]]) -> dict[str, Floats]:
    """Return the measures of one judge (method -> row -> judgements) for the answers of a row, NaN without a
    judgement.
    """
    return {
        name: np.array(
            [math.nan if (value := judged.value(name)) is None else value for judged in rows[row]],
            dtype=np.float64,
        )
        for way, rows in ways.items()
        if row in rows
        for name in WAYS[way].measures
    }


def sums_of_five(values: Mapping[str, Floats]) -> Floats | None:
    """Return the sum of the five judged measures of each answer (:func:`.report.sum_of_five`). For a measure that says
    nothing of an answer the mean of the others stands in, so that the mean of the sums is the sum of the means. None
    if one of the five says nothing of any answer.

    >>> five = dict.fromkeys(FIVE, np.array([1.0, 0.5]))
    >>> sums_of_five({**five, "faithfulness": np.array([1.0, np.nan])}).tolist()
    [400.0, 300.0]
    """
    if any(name not in values or np.isnan(values[name]).all() for name in FIVE):
        return None
    filled = [np.where(np.isnan(values[name]), np.nanmean(values[name]), values[name]) for name in FIVE]
    return np.array([sum_of_five(dict(zip(FIVE, five, strict=True))) for five in zip(*filled, strict=True)])


def _cosines(embedder: Embedder, texts: Sequence[str], golds: Sequence[Sequence[str]]) -> Floats:
    """Return the cosine of each answer with its closest known answer, by the store's embedder; 0 for refusals."""
    distinct = list(dict.fromkeys(chain(filter(None, texts), chain.from_iterable(golds))))
    if not distinct:
        return np.zeros(len(texts))
    place = {text: number for number, text in enumerate(distinct)}
    vectors = embedder.embed(distinct)
    return np.array(
        [
            max(float(vectors[place[text]] @ vectors[place[reference]]) for reference in gold)
            if text
            else 0.0
            for text, gold in zip(texts, golds, strict=True)
        ]
    )


_Name = tuple[str, str]
Values = Mapping[str, Mapping[str, Floats]]
"""Row -> measure -> (questions,), NaN where the measure is undefined."""


def summarise(
    traced: Traced,
    asked: Sequence[str],
    without_answers: int,
    answers: Mapping[str, Sequence[Answered]],
    judgements: Judgements,
    values: Values,
    *,
    reader: str | None,
    bertscore: str | None,
    k: int,
    unanswerable: int = 0,
    refused: Mapping[str, float] | None = None,
    everything: Mapping[str, Sequence[Answered]] | None = None,
) -> AnswerReport:
    """Create the report on the ``asked`` questions. Every row has one answer per question, in their order, and so
    have its values and judgements (none without a judge). ``everything`` are the answers of which warnings are counted,
    those of unanswerable questions among them.

    The others are compared with the first row, each measure over the questions for which it is defined for both.
    Intervals and tests resample pages (questions that share gold pages), or questions if all share one.
    """
    groups, unit, count = resampled_units([traced.gold[identifier] for identifier in asked])
    own = intervals_of(
        {(row, name): array for row, named in values.items() for name, array in named.items()}, groups
    )
    rows = {}
    for row, given in answers.items():
        counts = {name: int((~np.isnan(array)).sum()) for name, array in values[row].items()}
        rows[row] = AnswerRow(
            values=values[row],
            means={name: own[row, name].mean if counts[name] else math.nan for name in values[row]},
            counts=counts,
            intervals={name: own[row, name] for name in values[row] if counts[name]},
            latency=_latency(given),
            usage=sum((answered.usage for answered in given), NOTHING_SPENT),
            judged=Judged.of(_judged_of(judgements, row)) if judgements else None,
            search_usage=sum((answered.search_usage for answered in given), NOTHING_SPENT),
            passages=mean_passages(given),
            warnings=count_warnings((everything or answers)[row]),
            risks=risk_curve((everything or answers)[row], values[row]["contained"]),
        )
    told = {name: {row: judged_values(row, ways) for row in answers} for name, ways in judgements.items()}
    return AnswerReport(
        traced,
        tuple(asked),
        without_answers,
        reader,
        tuple(judgements),
        bertscore,
        k,
        answers,
        judgements,
        rows,
        tuple(compare_with_first(values, groups)) if len(asked) else (),
        unit,
        count,
        {
            name: {row: defined_means(measures) for row, measures in of_rows.items()}
            for name, of_rows in told.items()
        },
        unanswerable,
        refused or {},
    )


def mean_passages(given: Sequence[Answered]) -> float:
    """Return the mean number of passages found for an answer; NaN for no answers."""
    return sum(len(answered.hits) for answered in given) / len(given) if given else math.nan


def risk_curve(given: Sequence[Answered], right: Floats) -> tuple[Risk, ...]:
    """Return how many of the surest answers are wrong: those to the surest tenth of all questions, to the surest two
    tenths and so on, as far as answers state a confidence. ``right`` (m,) is 1 for right answers, 0 for others; the
    questions after these m are unanswerable, so that any answer to them is wrong.
    """
    padded = [*right.tolist(), *[0.0] * (len(given) - len(right))]
    stated = sorted(
        (-one.confidence, value)
        for one, value in zip(given, padded, strict=True)
        if one.confidence is not None
    )
    tenths = [math.ceil(len(given) * count / 10) for count in range(1, 11)]
    sizes = dict.fromkeys(min(size, len(stated)) for size in tenths) if stated else {}
    return tuple(
        Risk(-stated[size - 1][0], size / len(given), 1 - sum(value for _, value in stated[:size]) / size)
        for size in sizes
    )


def count_warnings(given: Sequence[Answered]) -> dict[str, int]:
    """Count the answers by warning, such as the failure of a reranker."""
    return dict(Counter(warning for answered in given for warning in answered.warnings))


def defined_means(measures: Mapping[str, Floats]) -> dict[str, float]:
    """Return the means of the defined values. Measures without any are dropped."""
    there = {name: array[~np.isnan(array)] for name, array in measures.items()}
    return {name: float(array.mean()) for name, array in there.items() if len(array)}


def _judged_of(judgements: Judgements, row: str) -> list[JudgedAnswer]:
    """Return the judgements of a row by all judges and methods."""
    return [judged for ways in judgements.values() for rows in ways.values() for judged in rows.get(row, ())]


def intervals_of(arrays: Mapping[_Name, Floats], groups: Integers) -> dict[_Name, Interval]:
    """Return the interval of the mean of each array over its defined values. Arrays without any are dropped."""
    return {
        name: interval
        for names, table, clusters in _together(arrays, groups)
        for name, interval in zip(names, mean_intervals(table, clusters), strict=True)
    }


def compare_with_first(values: Values, groups: Integers) -> list[Compared]:
    """Compare every measure of every other row with the first row, over the questions for which it is defined for
    both; ``groups`` (questions,) are resampled as units.
    """
    first, *others = values
    differences = {
        (row, name): array - values[first][name] for row in others for name, array in values[row].items()
    }
    bounds = intervals_of(differences, groups)
    found = {
        (row, name): Compared(Comparison(row, first, name, bounds[row, name], p), len(table))
        for names, table, clusters in _together(differences, groups)
        for (row, name), p in zip(names, p_values(table, clusters), strict=True)
    }
    return [found[key] for key in differences if key in found]


def _together(arrays: Mapping[_Name, Floats], groups: Integers) -> list[tuple[list[_Name], Floats, Integers]]:
    """Group arrays that are defined for the same questions into tables (questions, arrays), with the clusters of
    these questions: many columns are resampled as fast as one.
    """
    names: dict[bytes, list[_Name]] = {}
    for name, array in arrays.items():
        names.setdefault(np.isnan(array).tobytes(), []).append(name)
    tables = []
    for alike in names.values():
        table = np.stack([arrays[name] for name in alike], axis=1)
        there = ~np.isnan(table[:, 0])
        if there.any():
            tables.append((alike, table[there], groups[there]))
    return tables


def _latency(given: Sequence[Answered]) -> dict[str, Timing]:
    return {
        "answer": Timing.of([answered.seconds for answered in given]),
        "search": Timing.of([answered.search_seconds for answered in given]),
    }
