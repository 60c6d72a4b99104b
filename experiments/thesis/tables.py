"""Tables 4.1, 4.2, 4.4 and 4.5: what they measure of each question, and their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import published
import systems
from collect import WHOLE, Lists
from numpy.typing import NDArray
from systems import BY_QUESTION, HYBRID, NAIVE, VECTOR, Scores

from experiments.papers.set_table import Figures, Row, SetTable
from trivium.datasets.cross_validation import clusters
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.trec_files import Runs, write_rankings
from trivium.fusion.hit_lists import HitList
from trivium.search.ranking import Ranking
from trivium.training.training_data import Collection as HitCollection


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
        made.append(
            SetTable(number, one.name, rows, cluster, columns, tested, figures, baseline, same=(BY_QUESTION,))
        )
    return made
