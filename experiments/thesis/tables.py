"""Tables 4.1 to 4.5: values by question, means and intervals by cluster of questions that share pages, differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import published
import systems
from collect import WHOLE, Lists
from numpy.typing import NDArray
from published import Figures
from systems import BY_QUESTION, HYBRID, NAIVE, VECTOR, Scores

from trivium.datasets.cross_validation import clusters
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.significance import LEVEL, Interval, holm, mean_intervals, p_values
from trivium.evaluation.tables import BETTER, WORSE, Cell, Table, chance, share
from trivium.evaluation.trec_files import Runs, write_rankings
from trivium.fusion.hit_lists import HitList
from trivium.search.ranking import Ranking
from trivium.training.training_data import Collection as HitCollection

FEWEST_CLUSTERS = 6
"""With fewer, resampling is by question."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: a method, what it retrieves, and for each column (but F1 to F3) one value per question, NaN where it is
    undefined.
    """

    method: str
    retrieved: str
    values: Mapping[str, Scores]

    def mean(self, column: str) -> float:
        """Return the mean of a column; F1 to F3 are those of mean precision and mean recall, as published."""
        if column.startswith("F"):
            precision, recall, beta = self.mean("P"), self.mean("R"), int(column[1])
            below = beta**2 * precision + recall
            return (1 + beta**2) * precision * recall / below if below else 0.0
        values = self.values[column]
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


@dataclass(frozen=True)
class SetTable:
    """A table of one set of questions. ``cluster`` (questions,) is the group of questions that share pages. ``columns``
    are shown, ``tested`` of them with intervals, and with differences between rows and the one of ``baseline`` that
    retrieves as much.
    """

    number: str
    name: str
    rows: Sequence[Row]
    cluster: NDArray[np.int64]
    columns: tuple[str, ...]
    tested: tuple[str, ...]
    published: Figures = field(default_factory=dict)
    baseline: str = VECTOR
    note: str = ""

    @property
    def units(self) -> NDArray[np.int64] | None:
        """What is resampled: clusters, or None, questions, if there are too few."""
        return self.cluster if self._clusters >= FEWEST_CLUSTERS else None

    @property
    def _clusters(self) -> int:
        return len(np.unique(self.cluster))

    def interval(self, row: Row, column: str) -> Interval | None:
        """Return the mean of a column with its interval; None where nothing is defined."""
        return self._intervals[row.method, row.retrieved, column]

    @cached_property
    def _intervals(self) -> dict[tuple[str, str, str], Interval | None]:
        keys = [(row, column) for row in self.rows for column in self.tested]
        found = self._of_means([row.values[column] for row, column in keys])
        return {
            (row.method, row.retrieved, column): one for (row, column), one in zip(keys, found, strict=True)
        }

    def _of_means(self, values: Sequence[Scores]) -> list[Interval | None]:
        """Return the interval of each mean. All that are defined everywhere share their resamples, which saves time."""
        whole = [place for place, one in enumerate(values) if np.isfinite(one).all()]
        found: list[Interval | None] = [None] * len(values)
        if whole:
            shared = mean_intervals(np.stack([values[place] for place in whole], axis=1), self.units)
            for place, one in zip(whole, shared, strict=True):
                found[place] = one
        for place in set(range(len(values))) - set(whole):
            known = np.isfinite(values[place])
            if known.any():
                (found[place],) = mean_intervals(values[place][known, None], self._units_of(known))
        return found

    def _tests(self, less: Sequence[Scores]) -> list[float]:
        if less and all(np.isfinite(one).all() for one in less):
            return p_values(np.stack(less, axis=1), self.units)
        known = [np.isfinite(one) for one in less]
        return [
            p_values(one[own, None], self._units_of(own))[0] if own.any() else 1.0
            for one, own in zip(less, known, strict=True)
        ]

    def _units_of(self, known: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        return None if self.units is None else self.units[known]

    @cached_property
    def differences(self) -> list[tuple[Row, str, Interval, float]]:
        """The differences between rows and the baseline: row, column, interval, and p-value (paired, by cluster; Holm
        correction over the rows).
        """
        base = {row.retrieved: row for row in self.rows if row.method == self.baseline}
        others = [row for row in self.rows if row.method != self.baseline and row.retrieved in base]
        made = []
        for column in self.tested:
            less = [row.values[column] - base[row.retrieved].values[column] for row in others]
            tests = self._tests(less)
            found = [
                (row, one, test)
                for row, one, test in zip(others, self._of_means(less), tests, strict=True)
                if one is not None
            ]
            for (row, one, _), p in zip(found, holm([test for *_, test in found]), strict=True):
                made.append((row, column, one, p))
        return made

    def published_below(self, place: int) -> Mapping[str, float]:
        """Return what is published for a row; below the last of its method's rows that retrieve as much."""
        row = self.rows[place]
        known = self.published.get((_base(row.method), row.retrieved), {})
        later = {(_base(one.method), one.retrieved) for one in self.rows[place + 1 :]}
        return {} if (_base(row.method), row.retrieved) in later else known

    def tables(self) -> list[Table]:
        """Return the means with the published figures, the intervals, and the differences."""
        asked = len(self.cluster)
        where = f"{asked:,} questions in {self._clusters:,} clusters that share no page"
        if self.units is None:
            where += ", too few: intervals by question"
        means = Table(
            ["method", "retrieved", *self.columns],
            title=f"Table {self.number}: {self.name} ({where}){self.note}",
        )
        for place, row in enumerate(self.rows):
            means.add_row(row.method, row.retrieved, *(_number(one, row.mean(one)) for one in self.columns))
            if known := self.published_below(place):
                told = (_number(one, known.get(one, float("nan"))) for one in self.columns)
                means.add_row("  thesis", row.retrieved, *told)
        bounds = Table(["method", "retrieved", *self.tested], title="95 % intervals")
        for row in self.rows:
            found = (self.interval(row, one) for one in self.tested)
            bounds.add_row(
                row.method,
                row.retrieved,
                *("" if one is None else f"{share(one.low)} to {share(one.high)}" for one in found),
            )
        less = Table(
            ["method", "retrieved", "of", "difference", "95 % interval", "p"],
            title=f"Less {self.baseline}",
        )
        for row, column, one, p in self.differences:
            better = BETTER if one.mean > 0 else WORSE
            less.add_row(
                row.method,
                row.retrieved,
                column,
                Cell(f"{one.mean:+.3f}", mark=better if p < LEVEL else ""),
                f"{one.low:+.3f} to {one.high:+.3f}",
                chance(p),
            )
        return [means, bounds, *([less] if less.rows else [])]

    def to_json(self) -> dict[str, Any]:
        """Return means and intervals of every row and column, differences and tests, and published figures."""
        rows = []
        for place, row in enumerate(self.rows):
            own: dict[str, Any] = {
                "method": row.method,
                "retrieved": row.retrieved,
                **{one: row.mean(one) for one in self.columns},
            }
            found = {one: self.interval(row, one) for one in self.tested}
            own["intervals"] = {name: [one.low, one.high] for name, one in found.items() if one is not None}
            if known := self.published_below(place):
                own["published"] = dict(known)
            rows.append(own)
        return {
            "table": self.number,
            "set": self.name,
            "questions": len(self.cluster),
            "clusters": self._clusters,
            "resampled": "questions" if self.units is None else "clusters",
            "rows": rows,
            "less": self.baseline,
            "differences": [
                {
                    "method": row.method,
                    "retrieved": row.retrieved,
                    "of": column,
                    "mean": one.mean,
                    "low": one.low,
                    "high": one.high,
                    "p": p,
                }
                for row, column, one, p in self.differences
            ],
        }

    def records(self) -> Iterator[dict[str, object]]:
        """Yield a record of each value, published ones too, for CSV."""
        differences = {(row.method, row.retrieved, of): (one, p) for row, of, one, p in self.differences}
        for place, row in enumerate(self.rows):
            about: dict[str, object] = {"table": self.number, "set": self.name, "method": row.method}
            about["retrieved"] = row.retrieved
            for column in self.columns:
                one = self.interval(row, column) if column in self.tested else None
                record = {**about, "source": "measured", "column": column, "value": row.mean(column)}
                if one is not None:
                    record |= {"low": one.low, "high": one.high}
                if tested := differences.get((row.method, row.retrieved, column)):
                    less, p = tested
                    record |= {"less": self.baseline, "difference": less.mean, "difference_low": less.low}
                    record |= {"difference_high": less.high, "p": p}
                yield record
            for column, value in self.published_below(place).items():
                yield {**about, "source": "published", "column": column, "value": value}


RECORD = (
    "table", "set", "method", "retrieved", "source", "column", "value", "low", "high", "less", "difference",
    "difference_low", "difference_high", "p",
)  # fmt: skip
"""The columns of CSV."""


def _base(method: str) -> str:
    return method.removesuffix(BY_QUESTION)


def _number(column: str, value: float) -> str:
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if column == "chunks" else share(value)


def judge(gold: Sequence[Gold], rankings: Sequence[Ranking], k: int | None = None) -> dict[str, Scores]:
    """Return chunks, P, R, hit and coverage of each question: of the first ``k``, and P of k, also where fewer were
    retrieved; of a whole list without ``k``.

    >>> judge([Gold((("a", "b"), ("c",)))], [[("a", 1.0), ("x", 0.5), ("b", 0.4), ("y", 0.1)]])
    {'chunks': array([4.]), 'P': array([0.5]), 'R': array([0.5]), 'hit': array([1.]), 'coverage': array([0.])}
    """
    rows = []
    for one, ranking in zip(gold, rankings, strict=True):
        found = {uri for uri, _ in (ranking if k is None else ranking[:k])}
        right = sum(uri in found for uri in {uri for group in one.groups for uri in group})
        reached = sum(not found.isdisjoint(group) for group in one.groups)
        size = len(found) if k is None else k
        groups = max(1, len(one.groups))
        rows.append(
            (len(found), right / size if size else 0.0, reached / groups, reached > 0, reached == groups)
        )
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 5)
    return dict(zip(("chunks", "P", "R", "hit", "coverage"), table.T, strict=True))


def cut_rows(method: str, gold: Sequence[Gold], rankings: Sequence[Ranking], ks: Sequence[int]) -> list[Row]:
    """Return the rows of a method that ranks chunks: of its first k."""
    return [Row(method, f"{k} chunk{'s' * (k > 1)}", judge(gold, rankings, k)) for k in ks]


def whole_rows(
    gold: Sequence[Gold], hits: Sequence[HitList], lists: Sequence[Mapping[str, list[str]]]
) -> list[Row]:
    """Return the rows of the methods that return whole lists: page, section, entity and path."""
    rows = [
        Row(name, said, judge(gold, [[(uri, 1.0) for uri in own[said]] for own in lists]))
        for name, (_, counts) in WHOLE.items()
        for said in counts
    ]
    path = judge(gold, [systems.own_ranking(hit.table, "path") for hit in hits])
    return [*rows, Row("path", "1 path", path)]


@dataclass(frozen=True, slots=True)
class TrecRuns:
    """TREC runs of other systems by their names, which are rows of the sets they are about; and the folder for those of
    the rows, where they are kept. ``gold`` is that of each set, by the ids of questions: hit lists know only what their
    retrievers returned, other systems may have found more.
    """

    given: Runs
    folder: Path | None
    gold: Mapping[str, Mapping[str, Gold]]

    def beside(self, ids: Sequence[str], rows: Mapping[str, object]) -> dict[str, list[Ranking]]:
        """What the given runs found for questions by their ``ids``. Raises InputError for one named as a row is."""
        about = {name: run for name, run in self.given.items() if run.keys() & set(ids)}
        if taken := about.keys() & set(rows):
            raise InputError(f"expected runs named unlike the rows, got {', '.join(sorted(taken))}")
        return {name: [list(run.get(one, ())) for one in ids] for name, run in about.items()}

    def keep(self, name: str, gold: Mapping[str, Gold], rankings: Mapping[str, Sequence[Ranking]]) -> None:
        """Write the runs of a set and its judgements."""
        if self.folder is not None:
            write_rankings(gold, rankings, self.folder / name)


_SHAPES: Mapping[str, tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...], Figures, str]] = {
    "4.1": ((1, 3, 5), ("chunks", *published.RANKED), ("P", "R", "hit"), published.ONE_HOP, VECTOR),
    "4.2": ((4, 6, 8), published.COVERED, ("P", "R", "coverage"), published.SEVERAL_HOPS, VECTOR),
    "4.4": ((3,), ("P", "R", "hit"), ("P", "R", "hit"), published.STEPS, HYBRID),
    "4.5": ((1, 3, 5), ("P", "R", "hit"), ("P", "R", "hit"), published.FEW, VECTOR),
}
"""For each table the cutoffs, the columns, those tested, the published figures, and what rows are compared with."""


def set_tables(
    number: str,
    training: HitCollection,
    scores: Mapping[str, Sequence[Scores]],
    judged: NDArray[np.bool_],
    runs: TrecRuns,
    lists: Lists,
) -> list[SetTable]:
    """Return a table of each set of the collection, on the evaluated questions: vector search, in 4.1 and 4.2 the other
    methods without a network, the trained ones, and given runs. ``lists`` are the whole
    ones of table 4.1.
    """
    ks, columns, tested, figures, baseline = _SHAPES[number]
    made, start = [], 0
    for one in training.sets:
        places = [n for n in range(start, start + len(one.hits)) if judged[n]]
        hits = [training.hits[n] for n in places]
        every = list({**one.traced.gold, **runs.gold.get(one.name, {})}.items())
        gold = dict(every[n - start] for n in places)
        start += len(one.hits)
        if not hits:
            continue
        rankings: dict[str, list[Ranking]] = {VECTOR: [systems.vector_ranking(hit) for hit in hits]}
        if number in ("4.1", "4.2"):
            rankings[NAIVE] = [systems.naive_ranking(hit) for hit in hits]
        rankings |= {row: systems.fused(hits, [own[n] for n in places]) for row, own in scores.items()}
        rankings |= runs.beside(list(gold), rankings)
        runs.keep(one.name, gold, rankings)
        right = list(gold.values())
        rows = [
            row
            for method, own in rankings.items()
            for row in cut_rows(method, right, own, ks[-1:] if (number, method) == ("4.1", NAIVE) else ks)
        ]
        if number == "4.1":
            whole = [lists[f"{one.name}/{hit.question_id}"] for hit in hits]
            rows[len(ks) : len(ks)] = whole_rows(right, hits, whole)
        cluster = clusters([answer.pages for answer in right])
        made.append(SetTable(number, one.name, rows, cluster, columns, tested, figures, baseline))
    return made
