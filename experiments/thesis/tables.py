"""Tables 4.1 to 4.5: values by question, means and intervals clustered by document, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import published
import systems
from collect import documents
from numpy.typing import NDArray
from systems import HYBRID, NAIVE, VECTOR, Scores

from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.ranking_measures import MULTI_HOP, SINGLE_HOP, measure
from trivium.evaluation.significance import holm, mean_intervals, p_values
from trivium.evaluation.tables import chance, grid, plain, share
from trivium.evaluation.trec_files import Runs, write_rankings
from trivium.search.ranking import Ranking
from trivium.training.training_data import Collection as HitCollection

ONE_HOP = tuple(f"{name}@{k}" for name in ("hit", "precision", "recall") for k in SINGLE_HOP)
SEVERAL_HOPS = tuple(
    f"{name}@{k}" for name in ("all", "precision", "recall", "f1", "f2", "f3") for k in MULTI_HOP
)
WHOLE = ("recall", "passages")
"""Measures of complete lists: the share of the gold they contain, and their length."""
FEWEST_DOCUMENTS = 6
"""With fewer documents, resampling is by question."""


@dataclass(frozen=True, slots=True)
class System:
    """A row of a table: for each measure one value per question."""

    values: Mapping[str, Scores]


@dataclass(frozen=True)
class SetTable:
    """The rows of one set of questions. ``pages`` is the document of each question. The differences between the other
    rows and ``baseline`` are tested, by the ``tested`` measures.
    """

    name: str
    rows: Mapping[str, System]
    measures: tuple[str, ...]
    pages: NDArray[np.int64]
    published: published.Figures = field(default_factory=dict)
    baseline: str | None = None
    tested: tuple[str, ...] = ()

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """The resampling units: documents, or None if there are too few."""
        return self.pages if len(np.unique(self.pages)) >= FEWEST_DOCUMENTS else None

    def to_json(self) -> dict[str, Any]:
        """Return means and intervals of every row and measure, differences and tests, and published figures."""
        rows = {
            name: {
                m: {"mean": one.mean, "low": one.low, "high": one.high}
                for m, one in zip(self.measures, self._intervals(system), strict=True)
            }
            for name, system in self.rows.items()
        }
        out: dict[str, Any] = {
            "questions": len(self.pages),
            "documents": len(np.unique(self.pages)),
            "resampled": "questions" if self.clusters is None else "documents",
            "rows": rows,
            "published": {name: dict(own) for name, own in self.published.items()},
        }
        if self.baseline in self.rows:
            out["differences"] = {"from": self.baseline, "rows": self.differences()}
        return out

    def _intervals(self, system: System) -> list[Any]:
        table = np.stack([system.values[m] for m in self.measures], axis=1)
        return list(mean_intervals(table, self.clusters))

    def differences(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return the differences between each other row and the baseline: mean, interval and p-value (paired, by
        document; Holm correction over the rows).
        """
        if self.baseline not in self.rows:
            return {}
        others = [name for name in self.rows if name != self.baseline]
        found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in others}
        for m in self.tested:
            least = self.rows[self.baseline].values[m]
            table = np.stack([self.rows[name].values[m] - least for name in others], axis=1)
            tests = holm(p_values(table, self.clusters))
            for name, one, p in zip(others, mean_intervals(table, self.clusters), tests, strict=True):
                found[name][m] = {"mean": one.mean, "low": one.low, "high": one.high, "p": p}
        return found

    def to_markdown(self) -> str:
        """Return a table of means with intervals, each published row below the row of the same name, and the
        differences.
        """
        lines = []
        for name, system in self.rows.items():
            lines.append(
                [
                    plain(name),
                    *(_cell(one, m) for one, m in zip(self._intervals(system), self.measures, strict=True)),
                ]
            )
            if name in self.published:
                own = self.published[name]
                lines.append(
                    [
                        f"*{plain(name)}, thesis*",
                        *(f"*{share(own[m])}*" if m in own else "" for m in self.measures),
                    ]
                )
        where = f"{len(self.pages):,} questions, {len(np.unique(self.pages)):,} documents"
        if self.clusters is None:
            where += "; by question"
        parts = [f"**{plain(self.name)}** ({where})", grid(["", *self.measures], lines)]
        if self.baseline in self.rows:
            rows = [
                [plain(name), *(_difference(own[m]) for m in self.tested)]
                for name, own in self.differences().items()
            ]
            parts.append(grid([f"less {plain(self.baseline)}", *self.tested], rows))
        return "\n\n".join(parts)


def rows_of(gold: Sequence[Gold], rankings: Mapping[str, Sequence[Ranking]]) -> dict[str, System]:
    """Evaluate rankings, including the recall and the length of complete lists."""
    rows = {}
    for name, ranked in rankings.items():
        uris = [[uri for uri, _ in ranking] for ranking in ranked]
        found = [
            sum(bool(set(group) & set(own)) for group in one.groups) / max(1, len(one.groups))
            for one, own in zip(gold, uris, strict=True)
        ]
        lengths = np.array([float(len(own)) for own in uris])
        rows[name] = System({**measure(gold, uris), "recall": np.array(found), "passages": lengths})
    return rows


@dataclass(frozen=True, slots=True)
class TrecRuns:
    """TREC runs of other systems by their names, which are rows of the sets they are about; and the folder for those of
    the rows, where they are kept. ``gold`` is that of each set, by the ids of questions: hit lists know only what their
    own retrievers found of it."""

    given: Runs = field(default_factory=dict)
    folder: Path | None = None
    gold: Mapping[str, Mapping[str, Gold]] = field(default_factory=dict)

    def beside(self, ids: Collection[str], rows: Collection[str]) -> dict[str, list[Ranking]]:
        """What the given runs found for questions by their ``ids``. Raises InputError for one named as a row is."""
        about = {name: run for name, run in self.given.items() if run.keys() & set(ids)}
        if taken := about.keys() & set(rows):
            raise InputError(f"expected runs named unlike the rows, got {', '.join(sorted(taken))}")
        return {name: [list(run.get(one, ())) for one in ids] for name, run in about.items()}

    def keep(self, name: str, gold: Mapping[str, Gold], rankings: Mapping[str, Sequence[Ranking]]) -> None:
        """Write the runs of a set and its judgements."""
        if self.folder is not None:
            write_rankings(gold, rankings, self.folder / name)


def measured(
    name: str, gold: Mapping[str, Gold], rankings: Mapping[str, Sequence[Ranking]], runs: TrecRuns
) -> dict[str, System]:
    """The rows of a set: its rankings and those of given runs; all are kept where runs are."""
    every = {**rankings, **runs.beside(gold, rankings)}
    runs.keep(name, gold, every)
    return rows_of(list(gold.values()), every)


def set_tables(
    training: HitCollection,
    scores: Mapping[str, Sequence[Scores]],
    judged: NDArray[np.bool_],
    make: Callable[[str, Sequence[Gold], dict[str, System]], SetTable],
    runs: TrecRuns,
    *,
    baselines: bool = True,
) -> list[SetTable]:
    """Return one table per set of the collection: vector and naive hybrid (``baselines``), then the trained systems, on
    the evaluated questions.
    """
    tables, start = [], 0
    for one in training.sets:
        places = [n for n in range(start, start + len(one.hits)) if judged[n]]
        hits = [training.hits[n] for n in places]
        every = list({**one.traced.gold, **runs.gold.get(one.name, {})}.items())
        gold = dict(every[n - start] for n in places)
        start += len(one.hits)
        rankings: dict[str, list[Ranking]] = {}
        if baselines:
            rankings[VECTOR] = [systems.vector_ranking(hit) for hit in hits]
            rankings[NAIVE] = [systems.naive_ranking(hit) for hit in hits]
        for row, own in scores.items():
            rankings[row] = systems.fused(hits, [own[n] for n in places])
        if hits:
            tables.append(make(one.name, list(gold.values()), measured(one.name, gold, rankings, runs)))
    return tables


def one_hop(name: str, gold: Sequence[Gold], rows: dict[str, System]) -> SetTable:
    """Return table 4.1 for a set."""
    return SetTable(
        name,
        rows,
        ONE_HOP,
        documents(gold),
        published.ONE_HOP,
        VECTOR,
        ("hit@1", "hit@3", "hit@5", "recall@5"),
    )


def several_hops(name: str, gold: Sequence[Gold], rows: dict[str, System]) -> SetTable:
    """Return table 4.2 for a set."""
    return SetTable(
        name,
        rows,
        SEVERAL_HOPS,
        documents(gold),
        published.SEVERAL_HOPS,
        VECTOR,
        ("all@6", "recall@6", "f1@6"),
    )


def each_retriever(name: str, gold: Sequence[Gold], rows: dict[str, System]) -> SetTable:
    """Return table 4.3 for a set."""
    return SetTable(
        name, rows, (*ONE_HOP, *WHOLE), documents(gold), {"vector, 10 chunks": published.ONE_HOP["vector"]}
    )


def left_out(name: str, gold: Sequence[Gold], rows: dict[str, System]) -> SetTable:
    """Return table 4.4 for a set, with the multi-hop measures if most questions have several parts."""
    several = 2 * sum(len(one.groups) > 1 for one in gold) >= len(gold)
    shown = (
        ("all@4", "all@6", "all@8", "recall@6", "f1@6")
        if several
        else ("hit@1", "hit@3", "hit@5", "recall@5")
    )
    tested = ("all@6", "recall@6") if several else ("hit@1", "hit@3", "hit@5")
    return SetTable(name, rows, shown, documents(gold), {}, HYBRID, tested)


def importance_markdown(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Return table 4.5: retrievers x sets."""
    names = list(next(iter(found.values())))
    rows = [
        [
            name,
            f"{published.IMPORTANCE[name]:.0%}" if name in published.IMPORTANCE else "",
            *(
                cell
                for own in found.values()
                for cell in (
                    f"{own[name]['impurity']:.0%}",
                    f"{share(own[name]['permutation'])} ± {share(own[name]['deviation'])}",
                )
            ),
        ]
        for name in names
    ]
    head = [cell for name in found for cell in (f"{plain(name)}: impurity", "permutation")]
    return grid(["importance", "thesis: impurity", *head], rows)


def _cell(one: Any, name: str) -> str:
    if name == "passages":
        return f"{one.mean:.0f}"
    return f"{share(one.mean)} ({share(one.low)} to {share(one.high)})"


def _difference(one: Mapping[str, float]) -> str:
    text = f"{one['mean']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f}), p {chance(one['p'])}"
    return f"**{text}**" if one["p"] < 0.05 else text
