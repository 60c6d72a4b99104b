"""What a fusion is trained on: sets of saved hit lists, checked, and their candidates as rows of numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.datasets.gold import Gold, Traced
from trivium.datasets.splits import clusters
from trivium.errors import InputError
from trivium.fusion.features import Layout, features
from trivium.fusion.hits import HitList, load_hits
from trivium.fusion.table import Table
from trivium.retrievers.signals import OWNERS, PARTIAL, WALKS
from trivium.types import Question

_LOGARITHMIC = ("walk", *WALKS)
_GAPS = ("entity", *PARTIAL)
"""Views that say nothing of some candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class HitSet:
    """The hit lists of one file. ``digest`` is the SHA-256 of the file; ``importance`` how much the set counts."""

    name: str
    hits: tuple[HitList, ...]
    digest: str
    importance: float = 1.0

    @property
    def traced(self) -> Traced:
        """The questions with their gold, as an evaluation takes them.

        Of gold chunks only those among the candidates are known. The others could be in no ranking: an invented one a
        page and group stands for them, so that groups and pages are as many as there are.
        """
        gold = {hit.question_id: _gold(hit) for hit in self.hits}
        return Traced(tuple(Question(hit.question_id, hit.question) for hit in self.hits), gold)


@dataclass(frozen=True, eq=False)
class Collection:
    """Sets of hit lists that one network is trained on, with all questions in a row."""

    sets: tuple[HitSet, ...]
    embedder: str

    @cached_property
    def hits(self) -> list[HitList]:
        """Of all sets, in order."""
        return [hit for one in self.sets for hit in one.hits]

    @cached_property
    def pages(self) -> list[list[str]]:
        """The pages of each question's gold, by title: pages of one title count as one in whatever store they are."""
        return [list(hit.pages) for hit in self.hits]

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """How much each question counts: a set as the square root of its number of questions, times its importance."""
        return np.concatenate(
            [np.full(len(one.hits), one.importance / max(len(one.hits), 1) ** 0.5) for one in self.sets]
        )

    @cached_property
    def layout(self) -> Layout:
        """The columns there are in the hit lists."""
        return layout_of(self.hits[0].table)

    def by_set(
        self, values: Sequence[NDArray[np.float64]]
    ) -> Iterator[tuple[HitSet, Sequence[NDArray[np.float64]]]]:
        """Each set with its part of a list of something of all questions."""
        start = 0
        for one in self.sets:
            yield one, values[start : start + len(one.hits)]
            start += len(one.hits)


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A question: features (n, f) of its candidates, which of them are gold (n,), and how much it counts. ``teacher`` are
    the scores (n,) that another ranking gives them, where there is one to learn from too."""

    rows: NDArray[np.float32]
    gold: NDArray[np.bool_]
    weight: float
    teacher: NDArray[np.float32] | None = None


def read(paths: Sequence[Path], importance: Sequence[float] = (), folds: int = 2) -> Collection:
    """The sets of some files, each by the name of its file, with an ``importance`` each (1 where none is given).

    Raises FusionError for a file that holds no hit lists; InputError where embedders, retrievers or signals differ, two
    files have one name, nothing was traced, or the questions fall into fewer groups without a page in common than there
    are ``folds``.
    """
    factors = list(importance) or [1.0] * len(paths)
    if len(factors) != len(paths) or not all(np.isfinite(factor) and factor > 0 for factor in factors):
        raise InputError(
            f"expected a positive importance for each of {len(paths)} hit lists, got"
            f" {', '.join(map(str, factors))}"
        )
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise InputError(f"two hit lists have the same name: expected different ones, got {', '.join(names)}")
    files = [load_hits(path) for path in paths]
    embedders = sorted({file.embedder for file in files})
    if len(embedders) > 1:
        raise InputError(
            f"the hit lists come from several embedders ({', '.join(embedders)}): a network is trained for one"
        )
    for path, file in zip(paths, files, strict=True):
        if not any((hit.gold >= 0).any() for hit in file.hits):
            raise InputError(f"nothing to learn from {path}: no question has gold among its candidates")
    _check_columns(dict(zip(names, (file.hits for file in files), strict=True)))
    sets = tuple(
        HitSet(path.stem, file.hits, _digest(path), factor)
        for path, file, factor in zip(paths, files, factors, strict=True)
    )
    found = Collection(sets, embedders[0])
    apart = len(np.unique(clusters(found.pages)))
    if apart < folds:
        raise InputError(
            f"expected at least {folds} groups of questions that share no page, one a fold, got {apart}: add questions"
            " on other pages, or ask for fewer --folds"
        )
    return found


def layout_of(table: Table) -> Layout:
    """Columns of everything there is in a table."""
    views = {*table.columns, *table.signals}
    return Layout(
        retrievers=table.columns,
        signals=tuple(table.signals),
        owners={signal: owner for signal, owner in OWNERS.items() if signal in table.signals},
        logarithmic=tuple(view for view in _LOGARITHMIC if view in views),
        gaps=tuple(view for view in _GAPS if view in views),
        question=tuple(table.question),
    )


def examples_of(collection: Collection) -> list[Example]:
    """Every question of a collection as numbers."""
    layout = collection.layout
    return [
        Example(features(hit.table, layout).astype(np.float32), hit.gold >= 0, float(weight))
        for hit, weight in zip(collection.hits, collection.weights, strict=True)
    ]


def _check_columns(sets: dict[str, tuple[HitList, ...]]) -> None:
    """Raises InputError unless all have the retrievers and signals of the first."""
    expected: tuple[tuple[str, ...], ...] | None = None
    for name, hits in sets.items():
        found = next(
            (hit.table.columns, tuple(hit.table.signals), tuple(hit.table.question))
            for hit in hits
            if hit.table.chunks
        )
        if not found[1]:
            raise InputError(f"{name} has no signals: save it again with  trivium evaluate --hits")
        if expected is None:
            expected = found
        elif found != expected:
            differ = sorted({*sum(found, ())} ^ {*sum(expected, ())}) or ["their order"]
            raise InputError(
                f"the hit lists have different retrievers or signals ({', '.join(differ)}): save {name} and the others"
                " again with one version of the program"
            )


def _gold(hit: HitList) -> Gold:
    return Gold(
        tuple(
            (
                *(hit.table.chunks[row] for row in np.flatnonzero(hit.gold == group)),
                *(f"{page}#gold-{group}" for page in hit.pages),
            )
            for group in range(hit.groups)
        )
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
