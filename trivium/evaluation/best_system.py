"""Compares fusions with the best single retriever."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trivium.datasets.gold import Gold
from trivium.datasets.splits import clusters
from trivium.evaluation.report import Comparison, Report
from trivium.evaluation.significance import mean_intervals, p_values

ONE_PART = ("hit@1", "hit@3", "hit@5")
"""The headline measures of sets whose questions have one gold part."""
SEVERAL_PARTS = ("recall@5", "all@5")
"""The headline measures of sets whose questions have several gold parts."""


def headline(gold: Sequence[Gold]) -> tuple[str, ...]:
    """Return the measures a set is judged by, the main one first: those for several gold parts if at least half of
    the questions have several.
    """
    several = sum(len(answer.groups) > 1 for answer in gold)
    return SEVERAL_PARTS if gold and 2 * several >= len(gold) else ONE_PART


def best_system(report: Report, rows: Sequence[str], measure: str) -> str | None:
    """The system with the highest mean, the first of equals; None when there is none."""
    judged = [row for row in rows if not math.isnan(report.rows[row].means[measure])]
    return max(judged, key=lambda row: report.rows[row].means[measure], default=None)


def against_best(
    report: Report, retrievers: Sequence[str], fusions: Sequence[str], measures: Sequence[str]
) -> tuple[Comparison, ...]:
    """Compare every fusion with the retriever that is best on the same questions by the same measure, with the same
    intervals and tests as the report's own comparisons. The retriever is chosen on these same questions, which
    favours it.
    """
    return compare_pairs(
        report,
        [
            (fusion, rival, measure)
            for fusion in fusions
            for measure in measures
            if (rival := best_system(report, retrievers, measure)) is not None
        ],
    )


def compare_pairs(report: Report, pairs: Sequence[tuple[str, str, str]]) -> tuple[Comparison, ...]:
    """Compare systems with others by a measure (system, other, measure), with the intervals and tests of the report's
    own comparisons.
    """
    if not pairs or not report.traced.questions:
        return ()
    rows = report.rows
    differences = np.stack([rows[a].values[m] - rows[b].values[m] for a, b, m in pairs], axis=1)
    pages = clusters([report.traced.gold[question.id].pages for question in report.traced.questions])
    by_page = pages if len(np.unique(pages)) > 1 else None
    tested = zip(pairs, mean_intervals(differences, by_page), p_values(differences, by_page), strict=True)
    return tuple(Comparison(a, b, m, interval, p) for (a, b, m), interval, p in tested)
