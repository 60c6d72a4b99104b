"""The leaderboards of several sets of questions, and the mean over them. Pure functions of runs and gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.best_system import ONE_PART, SEVERAL_PARTS, headline
from trivium.evaluation.leaderboard.ranking import (
    Leaderboard,
    Place,
    check_measure,
    measure_runs,
    rank_measured,
)
from trivium.evaluation.report import Ranking

SetRuns = tuple[Mapping[str, Mapping[str, Ranking]], Mapping[str, Gold]]
"""The runs (system -> question id -> ranking) and the gold of a set."""


@dataclass(frozen=True, slots=True)
class MeanPlace:
    """A system present in all sets. ``means`` are over the sets, by measure, with equal weight per set; ``by_set``
    are its places in each.
    """

    name: str
    means: Mapping[str, float]
    by_set: Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class SetsLeaderboard:
    """The leaderboard of each set, ranked by one ``measure`` and tested against one ``baseline`` (None if no system
    is in all sets; each set then uses its own best), and the systems ranked by their mean over the sets.
    ``hindsight``: the baseline was not named but is the best of these. ``partial`` are systems missing from some set,
    which have no mean.
    """

    measure: str
    baseline: str | None
    hindsight: bool
    sets: Mapping[str, Leaderboard]
    places: tuple[MeanPlace, ...]
    partial: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Everything as plain JSON values; ``sets`` contains the leaderboard of each."""
        return {
            "measure": self.measure,
            "baseline": self.baseline,
            "hindsight": self.hindsight,
            "places": [
                {
                    "rank": rank,
                    "name": place.name,
                    "means": dict(place.means),
                    "sets": {name: own.means[self.measure] for name, own in place.by_set.items()},
                }
                for rank, place in enumerate(self.places, start=1)
            ],
            "partial": list(self.partial),
            "sets": {name: found.to_json() for name, found in self.sets.items()},
        }


def rank_sets(
    sets: Mapping[str, SetRuns], by: str | None = None, baseline: str | None = None
) -> SetsLeaderboard:
    """Rank the runs of each set by :func:`~trivium.evaluation.leaderboard.ranking.rank_runs`, and their means over
    the sets.

    ``by`` is one measure for all sets, by default hit@1, or recall@5 if most questions of a set have several gold
    parts. Every set is tested separately against the ``baseline``, by default the system with the highest mean.
    Raises InputError for an unknown measure, for a baseline missing from a set, and for a set without runs or judged
    questions.
    """
    for name, (runs, gold) in sets.items():
        if not runs or not gold:
            raise InputError(f"{name}: expected runs and judged questions, got {len(runs)} and {len(gold)}")
        if baseline is not None and baseline not in runs:
            raise InputError(
                f"{name}: expected one of the runs as baseline ({', '.join(runs)}), got {baseline!r}"
            )
    if by is None:
        judged_by = {headline(list(gold.values())) for _, gold in sets.values()}
        by = (ONE_PART if judged_by == {ONE_PART} else SEVERAL_PARTS)[0]
    everywhere = [name for name in _systems(sets) if all(name in runs for runs, _ in sets.values())]
    measured = {name: measure_runs(runs, gold) for name, (runs, gold) in sets.items()}
    for of_set in measured.values():
        check_measure(by, of_set)
    means = {name: _mean([of_set[name].means for of_set in measured.values()]) for name in everywhere}
    order = sorted(everywhere, key=lambda name: (-means[name][by], name))
    against = order[0] if baseline is None and order else baseline
    boards = {name: rank_measured(measured[name], gold, by, against) for name, (_, gold) in sets.items()}
    by_name = {name: {place.name: place for place in board.places} for name, board in boards.items()}
    return SetsLeaderboard(
        by,
        against,
        baseline is None,
        boards,
        tuple(MeanPlace(name, means[name], {each: by_name[each][name] for each in boards}) for name in order),
        tuple(name for name in _systems(sets) if name not in everywhere),
    )


def _systems(sets: Mapping[str, SetRuns]) -> list[str]:
    return list(dict.fromkeys(name for runs, _ in sets.values() for name in runs))


def _mean(of_sets: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over the sets."""
    return {name: sum(means[name] for means in of_sets) / len(of_sets) for name in of_sets[0]}
