"""Tables of figures beside those of a paper: values by question, means and intervals by cluster of questions that share
pages, differences between rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trivium.evaluation.answers.grading_judge import LOWER_IS_BETTER
from trivium.evaluation.significance import LEVEL, Interval, holm, mean_intervals, p_values
from trivium.evaluation.tables import BETTER, WORSE, Cell, Table, chance, share

Scores = NDArray[np.float64]
Figures = Mapping[tuple[str, str], Mapping[str, float]]
"""Method and what is retrieved -> column -> value."""
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
        if column in ("F1", "F2", "F3"):
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

    ``published`` figures stand below the row of their method, named by the ``paper``; those of other methods at the
    end where ``others`` is set. Methods that differ only in an ending of ``same`` are one. ``about`` is what the second
    column tells (left out where it tells nothing), ``unit`` what has a value.
    """

    number: str
    name: str
    rows: Sequence[Row]
    cluster: NDArray[np.int64]
    columns: tuple[str, ...]
    tested: tuple[str, ...]
    published: Figures = field(default_factory=dict)
    baseline: str = "vector"
    note: str = ""
    same: tuple[str, ...] = ()
    paper: str = "thesis"
    about: str = "retrieved"
    unit: str = "questions"
    scale: Literal["share", "percent"] = "share"
    others: bool = False

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
        known = self.published.get(self._key(row), {})
        return {} if self._key(row) in map(self._key, self.rows[place + 1 :]) else known

    def _key(self, row: Row) -> tuple[str, str]:
        method = row.method
        for end in self.same:
            method = method.removesuffix(end)
        return method, row.retrieved

    @property
    def not_measured(self) -> Figures:
        """What is published for other methods than those of the rows."""
        ours = set(map(self._key, self.rows))
        return {key: one for key, one in self.published.items() if key not in ours} if self.others else {}

    def _names(self, method: str, retrieved: str) -> list[str]:
        return [method, *([retrieved] if self._tells else [])]

    @property
    def _tells(self) -> bool:
        return any(row.retrieved for row in self.rows) or any(retrieved for _, retrieved in self.not_measured)

    def tables(self) -> list[Table]:
        """Return the means with the published figures, the intervals, and the differences."""
        asked = len(self.cluster)
        where = f"{asked:,} {self.unit} in {self._clusters:,} clusters that share no page"
        if self.units is None:
            where += f", too few: intervals by {self.unit.removesuffix('s')}"
        if self._clusters == asked:
            where = f"{asked:,} {self.unit}"
        names = self._names("method", self.about)
        means = Table(
            [*names, *self.columns],
            title=f"Table {self.number}: {self.name} ({where}){self.note}",
        )
        for place, row in enumerate(self.rows):
            own = {one: row.mean(one) for one in self.columns}
            means.add_row(*self._names(row.method, row.retrieved), *self._told(own))
            if known := self.published_below(place):
                means.add_row(*self._names(f"  {self.paper}", row.retrieved), *self._told(known))
        for (method, retrieved), known in self.not_measured.items():
            means.add_row(*self._names(f"  {self.paper}: {method}", retrieved), *self._told(known))
        bounds = Table([*names, *self.tested], title="95 % intervals")
        for row in self.rows:
            found = (self.interval(row, one) for one in self.tested)
            bounds.add_row(
                *self._names(row.method, row.retrieved),
                *("" if one is None else self._range(one) for one in found),
            )
        less = Table(
            [*names, "of", "difference", "95 % interval", "p"],
            title=f"Less {self.baseline}",
        )
        for row, column, one, p in self.differences:
            better = BETTER if (one.mean > 0) is not (column in LOWER_IS_BETTER) else WORSE
            less.add_row(
                *self._names(row.method, row.retrieved),
                column,
                Cell(f"{one.mean:+.3f}", mark=better if p < LEVEL else ""),
                f"{one.low:+.3f} to {one.high:+.3f}",
                chance(p),
            )
        return [means, *([bounds] if self.tested else []), *([less] if less.rows else [])]

    def _told(self, values: Mapping[str, float]) -> list[str]:
        return [_number(one, values.get(one, float("nan")), self.scale) for one in self.columns]

    def _range(self, one: Interval) -> str:
        low, high = (_number("", bound, self.scale) for bound in (one.low, one.high))
        return f"{low} to {high}"

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
            **({"published": _listed(self.not_measured)} if self.not_measured else {}),
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
        for one in _listed(self.not_measured):
            for column, value in one["published"].items():
                about = {"method": one["method"], "retrieved": one["retrieved"]}
                yield {
                    "table": self.number,
                    "set": self.name,
                    **about,
                    "source": "published",
                    "column": column,
                    "value": value,
                }


RECORD = (
    "table", "set", "method", "retrieved", "source", "column", "value", "low", "high", "less", "difference",
    "difference_low", "difference_high", "p",
)  # fmt: skip
"""The columns of CSV."""


def _listed(figures: Figures) -> list[dict[str, Any]]:
    return [
        {"method": method, "retrieved": retrieved, "published": dict(values)}
        for (method, retrieved), values in figures.items()
    ]


def _number(column: str, value: float, scale: str) -> str:
    if np.isnan(value):
        return ""
    if column in ("chunks", "ms"):
        return f"{value:.0f}"
    return f"{value:.2f}" if scale == "percent" else share(value)
