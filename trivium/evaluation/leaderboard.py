"""The leaderboard of runs on the same questions: ranked by one measure, each tested against a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from trivium.common.safe_files import write_file
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.ranking_measures import cumulative_matches, measure_also
from trivium.evaluation.report import Comparison, Ranking, compared_json
from trivium.evaluation.report_pages import MOST_LINES, Lines, Section, report_page
from trivium.evaluation.run import headline
from trivium.evaluation.significance import (
    FEW,
    LEVEL,
    RESAMPLES,
    Interval,
    holm,
    mean_intervals,
    p_values,
    resampled_units,
)
from trivium.evaluation.tables import BETTER, WORSE, Cell, Table, chance, matches_table, share, with_interval
from trivium.evaluation.trec_files import read_qrels, read_runs

ENDINGS = (".run", ".trec")
"""File name endings of runs."""
QRELS = ("qrels.txt", "qrels.tsv")
"""The file of judgements: the first that is there."""
MEASURES = ("hit@1", "hit@5", "recall@5", "all@5", "precision@10", "precision@20", "mrr", "map", "ndcg@10")
"""The measures of the second table, besides the one the runs are ranked by."""


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


def rank_runs(
    runs: Mapping[str, Mapping[str, Ranking]],
    gold: Mapping[str, Gold],
    by: str | None = None,
    baseline: str | None = None,
) -> Leaderboard:
    """Rank runs (system -> question id -> ranking) on the judged questions. A question that a run does not answer has an
    empty ranking and counts as zero.

    ``by`` is any measure of :mod:`trivium.evaluation.ranking_measures`, at any cutoff, by default hit@1, or recall@5 if
    most questions have several gold parts. Each run is compared with the ``baseline``, by default the best run: paired
    bootstrap intervals and the two-sided paired permutation test, by document if the gold is from several. Raises
    InputError for an unknown measure or baseline, and without runs or judged questions.
    """
    if not runs or not gold:
        raise InputError(
            f"expected runs and judged questions, got {len(runs)} runs and {len(gold)} questions"
        )
    if baseline is not None and baseline not in runs:
        raise InputError(f"expected one of the runs as baseline ({', '.join(runs)}), got {baseline!r}")
    judged = list(gold.values())
    uris = {
        name: [[uri for uri, _ in run.get(question, ())] for question in gold] for name, run in runs.items()
    }
    by = headline(judged)[0] if by is None else by
    values = {name: measure_also(judged, found, by) for name, found in uris.items()}
    ranked_by = {name: found[by] for name, found in values.items()}
    order = sorted(values, key=lambda name: (-float(ranked_by[name].mean()), name))
    against = order[0] if baseline is None else baseline
    units, unit, count = resampled_units(judged, "documents")
    others = [name for name in order if name != against]
    columns = [ranked_by[name] for name in order]
    columns += [ranked_by[name] - ranked_by[against] for name in others]
    bounds = mean_intervals(np.stack(columns, axis=1), units)
    tests = p_values(np.stack(columns[len(order) :], axis=1), units) if others else []
    compared = {
        name: (Comparison(name, against, by, bound, p), adjusted)
        for name, bound, p, adjusted in zip(others, bounds[len(order) :], tests, holm(tests), strict=True)
    }
    places = tuple(
        Place(
            name,
            sum(map(bool, uris[name])),
            {each: float(value.mean()) for each, value in values[name].items()},
            interval,
            tuple(cumulative_matches(judged, uris[name]).tolist()),
            *compared.get(name, ()),
        )
        for name, interval in zip(order, bounds, strict=False)
    )
    return Leaderboard(by, against, baseline is None, places, len(judged), unit, count)


def read_leaderboard(
    folder: str | Path,
    by: str | None = None,
    baseline: str | None = None,
) -> Leaderboard:
    """Read the leaderboard of all runs in a folder (:data:`ENDINGS`), against the judgements in its
    ``qrels.txt`` or ``qrels.tsv``; see :func:`rank_runs`. Raises InputError for files that are missing or do not match.
    """
    folder = Path(folder)
    files = _runs_in(folder)
    if not files:
        nearby = [str(path) for path in sorted(folder.glob("*")) if path.is_dir() and _runs_in(path)]
        raise InputError(
            f"{folder}: expected a folder with TREC runs ({', '.join(ENDINGS)}), got none"
            + (f"; did you mean {' or '.join(nearby[:5])}?" if nearby else "")
        )
    gold = read_qrels(next((folder / name for name in QRELS if (folder / name).exists()), folder / QRELS[0]))
    return rank_runs(read_runs(files, gold), gold, by, baseline)


def write_leaderboard(found: Leaderboard, target: str | Path) -> Path:
    """Write the page of a leaderboard and return its path. Raises InputError if it cannot be written."""
    write_file(Path(target), leaderboard_page(found))
    return Path(target)


def print_leaderboard(found: Leaderboard, console: Console) -> None:
    """Print the runs, best first, their differences to the baseline, and the CMC."""
    console.print(_ranked(found))
    console.print()
    console.print(_matches(found))
    console.print()
    console.print(Text(f"{found.questions:,} questions. {_tested(found)}"))


def leaderboard_page(found: Leaderboard) -> str:
    """Return the leaderboard as HTML. Names of runs are escaped."""
    matches = Lines({place.name: place.matches for place in found.places})
    drawn = "" if len(found.places) <= MOST_LINES else f" Drawn are the first {MOST_LINES} runs."
    return report_page(
        f"Leaderboard by {found.measure}",
        f"{len(found.places):,} runs on {found.questions:,} questions.",
        [
            Section(
                f"Ranked, and tested against {found.baseline}",
                _ranked(found, answered=True),
                [f"{_tested(found)} A question that a run does not answer counts as zero."],
            ),
            Section("Measures", _measures(found)),
            Section(
                "Cumulative match characteristic",
                _matches(found),
                above=f"The share of questions with a gold passage among the first k.{drawn}",
                lines=matches,
            ),
        ],
    )


def _ranked(found: Leaderboard, *, answered: bool = False) -> Table:
    heads = ["rank", "run", found.measure, "95 %", "difference (95 %)", "p", "p (Holm)"]
    table = Table([*heads, "answered"] if answered else heads, keys=2)
    for rank, place in enumerate(found.places, start=1):
        interval = f"{share(place.interval.low)}-{share(place.interval.high)}"
        tested: tuple[str | Cell, ...] = ("baseline", "", "")
        if place.against is not None and place.p_holm is not None:
            d = place.against.difference
            tested = (
                with_interval(f"{d.mean:+.3f}", d.low, d.high),
                chance(place.against.p),
                Cell(chance(place.p_holm), mark=place.mark),
            )
        last = [f"{place.answered:,}"] if answered else []
        table.add_row(str(rank), place.name, share(place.interval.mean), interval, *tested, *last)
    return table


def _measures(found: Leaderboard) -> Table:
    names = [found.measure, *(name for name in MEASURES if name != found.measure)]
    best = {name: max(share(place.means[name]) for place in found.places) for name in names}
    table = Table(["run", *names])
    for place in found.places:
        shown = {name: share(place.means[name]) for name in names}
        table.add_row(place.name, *(Cell(shown[name], best=shown[name] == best[name]) for name in names))
    return table


def _matches(found: Leaderboard) -> Table | None:
    return matches_table(
        {place.name: place.matches for place in found.places},
        {place.name: place.means for place in found.places},
    )


def _tested(found: Leaderboard) -> str:
    """Return how the tests were made."""
    chosen = ", the best on these same questions, which favours it" if found.hindsight else ""
    hint = ": so few that both are only a hint" if found.only_a_hint else ""
    return (
        f"Differences to {found.baseline}{chosen}: two-sided paired permutation test ({RESAMPLES:,} sign patterns, or all"
        f" of them where there are fewer); signs are flipped, and bootstrap intervals drawn, by whole {found.resampled}"
        f" ({found.clusters:,} of them{hint}). {BETTER} {WORSE}: p < {LEVEL:g} after Holm's correction over all runs."
    )


def _runs_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.suffix in ENDINGS and path.is_file())


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
