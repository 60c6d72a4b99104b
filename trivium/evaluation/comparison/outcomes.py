"""Compares two runs question by question. Pure functions of rankings and gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.ranking_measures import measure
from trivium.evaluation.report import Ranking
from trivium.evaluation.run import headline

RECIPROCAL = "reciprocal rank"
"""For a question: the mean over its gold parts of 1 / (rank of the part's first chunk), 0 for a part that was not
found.
"""

NEAR = 5
"""If there are several gold parts, those up to this rank count as found."""

Run = Mapping[str, Ranking]
"""Question id -> ranking."""


@dataclass(frozen=True, slots=True)
class Total:
    """A measure over all questions: the means of both runs, and how many questions the second run won, lost and tied."""

    measure: str
    first: float
    second: float
    won: int
    lost: int
    tied: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One question. ``ranks`` are those of its gold parts in the first and the second run (None: not found);
    ``first`` and ``second`` are the mean reciprocal ranks of the parts.
    """

    question: str
    ranks: tuple[tuple[int | None, int | None], ...]
    first: float
    second: float

    @property
    def gain(self) -> float:
        """How much better the second run is. For one gold part, by its reciprocal rank. For several, by the share of
        them among the first five, and by the mean reciprocal rank only if that is equal: one part that drops from the
        first to the second rank must not outweigh another that is found at all.
        """
        if len(self.ranks) > 1:
            was = sum(rank is not None and rank <= NEAR for rank, _ in self.ranks)
            now = sum(rank is not None and rank <= NEAR for _, rank in self.ranks)
            if was != now:
                return (now - was) / len(self.ranks)
        return self.second - self.first

    @property
    def verdict(self) -> str:
        """The verdict from the point of view of the second run."""
        return "won" if self.gain > 0 else "lost" if self.gain < 0 else "tied"

    @property
    def focus(self) -> int:
        """The number of the gold part whose rank changed most."""
        moved = [abs(_reciprocal(second) - _reciprocal(first)) for first, second in self.ranks]
        return moved.index(max(moved))


@dataclass(frozen=True, slots=True)
class RunComparison:
    """``differences`` of all judged questions, the largest first; equal ones in the order of the judgements."""

    totals: tuple[Total, ...]
    differences: tuple[Difference, ...]


def compare(first: Run, second: Run, gold: Mapping[str, Gold]) -> RunComparison:
    """Compare two runs on the judged questions. A question that a run does not answer has an empty ranking.

    Raises InputError without judged questions, and if a run answers none of them.
    """
    if not gold:
        raise InputError("expected judgements of at least one question, got none")
    for name, run in (("first", first), ("second", second)):
        if not run.keys() & gold.keys():
            raise InputError(
                f"expected judgements of the questions of the {name} run, got those of other questions: "
                f"are run and qrels of one evaluation?"
            )
    lists = [[[uri for uri, _ in run.get(question, ())] for question in gold] for run in (first, second)]
    differences = [
        _difference(question, answer, first_list, second_list)
        for (question, answer), first_list, second_list in zip(gold.items(), *lists, strict=True)
    ]
    judged = [measure(list(gold.values()), rankings) for rankings in lists]
    totals = [_total(name, judged[0][name], judged[1][name]) for name in headline(list(gold.values()))]
    values = np.array([(each.first, each.second) for each in differences])
    totals.append(_total(RECIPROCAL, values[:, 0], values[:, 1]))
    ordered = sorted(differences, key=lambda each: -abs(each.gain))
    return RunComparison(tuple(totals), tuple(ordered))


def rank_of(ranking: Ranking, chunks: Sequence[str]) -> int | None:
    """Return the rank, from 1, of the first of the chunks in a ranking."""
    return next((rank for rank, (uri, _) in enumerate(ranking, start=1) if uri in chunks), None)


def _difference(question: str, gold: Gold, first: Sequence[str], second: Sequence[str]) -> Difference:
    places = [{uri: rank for rank, uri in enumerate(ranking, start=1)} for ranking in (first, second)]
    first_ranks, second_ranks = (
        [min((place[uri] for uri in group if uri in place), default=None) for group in gold.groups]
        for place in places
    )
    means = [sum(map(_reciprocal, ranks)) / len(gold.groups) for ranks in (first_ranks, second_ranks)]
    return Difference(question, tuple(zip(first_ranks, second_ranks, strict=True)), means[0], means[1])


def _reciprocal(rank: int | None) -> float:
    return 0.0 if rank is None else 1.0 / rank


def _total(name: str, first: np.ndarray, second: np.ndarray) -> Total:
    won, lost = int((second > first).sum()), int((second < first).sum())
    return Total(name, float(first.mean()), float(second.mean()), won, lost, len(first) - won - lost)
