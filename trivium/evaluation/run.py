"""Creates a report from rankings, without a store, and compares its systems: fusions with the best single retriever."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.datasets.gold import Gold, Traced
from trivium.errors import InputError
from trivium.evaluation.ranking_measures import cumulative_matches, measure_also
from trivium.evaluation.report import HEADLINE, JUDGED_BY, Comparison, Rankings, Report, SystemScores
from trivium.evaluation.significance import Interval, mean_intervals, p_values, resampled_units
from trivium.types import Question

ONE_PART = ("hit@1", "hit@3", "hit@5")
"""The headline measures of sets whose questions have one gold part."""
SEVERAL_PARTS = ("recall@5", "all@5")
"""The headline measures of sets whose questions have several gold parts."""


def evaluate(
    questions: Sequence[Question], traced: Traced, rankings: Rankings, by: str = JUDGED_BY
) -> Report:
    """Measure the rankings of each system.

    Every system has one ranking for each of ``traced.questions``, in that order, empty if nothing was retrieved.
    Measures are means over the traced questions; the other systems are compared with the first one, in the headline
    measures and in ``by``, any of :mod:`trivium.evaluation.ranking_measures`. Intervals and tests resample pages
    (questions that share gold pages), or questions if all share one. Raises InputError for a system with another number
    of rankings, if ``traced`` is about other questions, and for an unknown measure.
    """
    _check(questions, traced, rankings)
    gold = [traced.gold[question.id] for question in traced.questions]
    values: dict[str, dict[str, Floats]] = {}
    matches: dict[str, tuple[float, ...]] = {}
    for name, ranked in rankings.items():
        uris = [[uri for uri, _ in ranking] for ranking in ranked]
        values[name] = {
            **measure_also(gold, uris, by),
            "passages": np.array([float(len(found)) for found in uris]),
        }
        matches[name] = tuple(cumulative_matches(gold, uris).tolist()) if gold else ()
    units, unit, count = resampled_units(gold)
    intervals, comparisons = _statistics(values, units, tuple(dict.fromkeys((*HEADLINE, by))))
    rows = {
        name: SystemScores(
            values=measures,
            means={m: float(v.mean()) if gold else math.nan for m, v in measures.items()},
            intervals=intervals.get(name, {}),
            matches=matches[name],
        )
        for name, measures in values.items()
    }
    return Report(traced, rankings, rows, comparisons, unit, count, by=by)


def _statistics(
    values: Mapping[str, Mapping[str, Floats]],
    units: Integers,
    measures: Sequence[str],
) -> tuple[dict[str, dict[str, Interval]], tuple[Comparison, ...]]:
    """The intervals of every system in the measures, and its comparison with the first one."""
    names = list(values)
    if not names or not len(values[names[0]][measures[0]]):
        return {}, ()
    first = values[names[0]]
    own = [(name, m) for name in names for m in measures]
    paired = [(name, m) for name in names[1:] for m in measures]
    differences = [values[name][m] - first[m] for name, m in paired]
    bounds = mean_intervals(np.stack([*(values[name][m] for name, m in own), *differences], axis=1), units)
    tests = p_values(np.stack(differences, axis=1), units) if differences else []
    intervals: dict[str, dict[str, Interval]] = {name: {} for name in names}
    for (name, m), interval in zip(own, bounds[: len(own)], strict=True):
        intervals[name][m] = interval
    compared = zip(paired, bounds[len(own) :], tests, strict=True)
    return intervals, tuple(Comparison(name, names[0], m, bound, p) for (name, m), bound, p in compared)


def _check(questions: Sequence[Question], traced: Traced, rankings: Rankings) -> None:
    traced_ids = [one.id for one in (*traced.questions, *traced.unanswerable)]
    traced_ids += [one.id for one in traced.untraceable]
    if sorted(traced_ids) != sorted(question.id for question in questions):
        raise InputError(
            f"expected the tracing of these {len(questions)} questions, got one of {len(traced_ids)} questions"
        )
    for name, ranked in rankings.items():
        if len(ranked) != len(traced.questions):
            raise InputError(
                f"expected {len(traced.questions)} rankings of {name!r}, one a traced question, "
                f"got {len(ranked)}"
            )


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
