"""Ranks runs by one measure and tests each against a baseline. Pure functions of runs and gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trivium.common.arrays import Floats
from trivium.datasets.gold import Gold
from trivium.datasets.splits import clusters
from trivium.errors import InputError
from trivium.evaluation.best_system import headline
from trivium.evaluation.report import Comparison, Ranking, compared_json
from trivium.evaluation.retrieval import cumulative_matches, measure
from trivium.evaluation.significance import FEW, LEVEL, Interval, holm, mean_intervals, p_values
from trivium.evaluation.tables import BETTER, WORSE


@dataclass(frozen=True, slots=True)
class Place:
    """A run on the leaderboard. ``answered`` is the number of questions with hits; ``interval`` (95 %) is that of the
    ranking measure; ``matches`` is the CMC by rank from 1. ``against`` compares the run with the baseline, and
    ``p_holm`` is the p-value after Holm's correction over all runs: both are None for the baseline itself.
    """

    name: str
    answered: int
    means: Mapping[str, float]
    interval: Interval
    matches: tuple[float, ...]
    against: Comparison | None = None
    p_holm: float | None = None

    @property
    def mark(self) -> str:
        """Whether and in which direction it differs from the baseline."""
        if self.against is None or self.p_holm is None or self.p_holm >= LEVEL:
            return ""
        return BETTER if self.against.difference.mean > 0 else WORSE


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Runs on the same ``questions``, highest mean of ``measure`` first. ``hindsight``: the baseline was not named
    but is the best run on these same questions. ``resampled`` is the unit that intervals and tests resample
    ("documents" or "questions") and ``clusters`` their number.
    """

    measure: str
    baseline: str
    hindsight: bool
    places: tuple[Place, ...]
    questions: int
    resampled: str
    clusters: int

    @property
    def only_a_hint(self) -> bool:
        """Whether there are too few clusters for intervals and tests to be reliable."""
        return self.clusters < FEW

    def to_json(self) -> dict[str, Any]:
        """The leaderboard as plain JSON values."""
        return {
            "measure": self.measure,
            "baseline": self.baseline,
            "hindsight": self.hindsight,
            "questions": self.questions,
            "resampled": self.resampled,
            "clusters": self.clusters,
            "places": [_place_json(rank, place) for rank, place in enumerate(self.places, start=1)],
        }


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """Every measure of a run, question by question, and its mean; the CMC by rank from 1, and the number of questions
    with hits.
    """

    values: Mapping[str, Floats]
    means: Mapping[str, float]
    matches: tuple[float, ...]
    answered: int


def measure_runs(
    runs: Mapping[str, Mapping[str, Ranking]], gold: Mapping[str, Gold]
) -> dict[str, MeasuredRun]:
    """Measure runs (system -> question id -> ranking) on the judged questions. A question that a run does not answer
    has an empty ranking and counts as zero.
    """
    judged = list(gold.values())
    measured = {}
    for name, run in runs.items():
        uris = [[uri for uri, _ in run.get(question, ())] for question in gold]
        values = measure(judged, uris)
        measured[name] = MeasuredRun(
            values,
            {each: float(value.mean()) for each, value in values.items()},
            tuple(cumulative_matches(judged, uris).tolist()),
            sum(map(bool, uris)),
        )
    return measured


def rank_runs(
    runs: Mapping[str, Mapping[str, Ranking]],
    gold: Mapping[str, Gold],
    by: str | None = None,
    baseline: str | None = None,
) -> Leaderboard:
    """Rank runs (system -> question id -> ranking) on the judged questions, measured by :func:`measure_runs`.

    ``by`` is any measure of :mod:`trivium.evaluation.retrieval`, by default hit@1, or recall@5 if most questions have
    several gold parts. Each run is compared with the ``baseline``, by default the best run: paired bootstrap
    intervals and the two-sided paired permutation test, by document if the gold is from several. Raises InputError
    for an unknown measure or baseline, and without runs or judged questions.
    """
    if not runs or not gold:
        raise InputError(
            f"expected runs and judged questions, got {len(runs)} runs and {len(gold)} questions"
        )
    if baseline is not None and baseline not in runs:
        raise InputError(f"expected one of the runs as baseline ({', '.join(runs)}), got {baseline!r}")
    return rank_measured(measure_runs(runs, gold), gold, by, baseline)


def check_measure(by: str, measured: Mapping[str, MeasuredRun]) -> None:
    """Raise InputError if the runs do not have this measure."""
    measures = list(next(iter(measured.values())).values)
    if by not in measures:
        raise InputError(f"expected a measure, one of {', '.join(measures)}, got {by!r}")


def rank_measured(
    measured: Mapping[str, MeasuredRun],
    gold: Mapping[str, Gold],
    by: str | None = None,
    baseline: str | None = None,
) -> Leaderboard:
    """Rank one or more runs that were measured on these questions; see :func:`rank_runs`. Raises InputError for an
    unknown measure.
    """
    judged = list(gold.values())
    by = headline(judged)[0] if by is None else by
    check_measure(by, measured)
    order = sorted(measured, key=lambda name: (-measured[name].means[by], name))
    against = order[0] if baseline is None else baseline
    documents = clusters([answer.pages for answer in judged])
    several = len(np.unique(documents)) > 1
    others = [name for name in order if name != against]
    values = {name: run.values[by] for name, run in measured.items()}
    columns = [values[name] for name in order]
    columns += [values[name] - values[against] for name in others]
    bounds = mean_intervals(np.stack(columns, axis=1), documents if several else None)
    tests = (
        p_values(np.stack(columns[len(order) :], axis=1), documents if several else None) if others else []
    )
    compared = {
        name: (Comparison(name, against, by, bound, p), adjusted)
        for name, bound, p, adjusted in zip(others, bounds[len(order) :], tests, holm(tests), strict=True)
    }
    places = tuple(
        Place(
            name,
            measured[name].answered,
            measured[name].means,
            interval,
            measured[name].matches,
            *compared.get(name, ()),
        )
        for name, interval in zip(order, bounds, strict=False)
    )
    resampled = ("documents", len(np.unique(documents))) if several else ("questions", len(judged))
    return Leaderboard(by, against, baseline is None, places, len(judged), *resampled)


def _place_json(rank: int, place: Place) -> dict[str, Any]:
    return {
        "rank": rank,
        "name": place.name,
        "answered": place.answered,
        "means": dict(place.means),
        "ci": [place.interval.low, place.interval.high],
        "cmc": list(place.matches),
        "against": None if place.against is None else compared_json(place.against),
        "p_holm": place.p_holm,
    }
