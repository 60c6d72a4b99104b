"""Computes all measures of all answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from trivium.common.arrays import Floats
from trivium.datasets.gold import Traced
from trivium.embedding.base import Embedder
from trivium.evaluation.answers.bertscore import BertScore
from trivium.evaluation.answers.judged import JudgedAnswer
from trivium.evaluation.answers.judging import WAYS, Judgements
from trivium.evaluation.answers.measures import MEASURES, measure
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.answers.report import FIVE, sum_of_five
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
