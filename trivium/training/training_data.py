"""Training data: saved hit lists, checked for consistency, and their candidates as feature rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.datasets.cross_validation import most_folds
from trivium.datasets.gold import Gold, Traced
from trivium.errors import InputError
from trivium.fusion.features import Layout, features
from trivium.fusion.hit_lists import HitList, load_hits
from trivium.fusion.score_table import Table
from trivium.retrievers.signals import OWNERS, PARTIAL, WALKS
from trivium.types import Question

_LOGARITHMIC = ("walk", *WALKS)
_GAPS = ("entity", *PARTIAL)
"""Views that are undefined for some candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class HitSet:
    """The hit lists of one file. ``digest`` is the SHA-256 of the file; ``importance`` (> 0) multiplies its weight."""

    name: str
    hits: tuple[HitList, ...]
    digest: str
    importance: float = 1.0

    @property
    def traced(self) -> Traced:
        """The questions with their gold, in the form the evaluation takes.

        A hit list names only the gold chunks among its candidates. Gold that no retriever returned is represented by one
        placeholder per page and group, so the numbers of groups and pages are right.
        """
        gold = {hit.question_id: _gold(hit) for hit in self.hits}
        return Traced(tuple(Question(hit.question_id, hit.question) for hit in self.hits), gold)


@dataclass(frozen=True, eq=False)
class Collection:
    """The sets of hit lists that one network is trained on. ``names``: some are from a store in which names in texts are
    entities.
    """

    sets: tuple[HitSet, ...]
    embedder: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    names: bool = False

    @cached_property
    def hits(self) -> list[HitList]:
        """The hit lists of all sets, in order."""
        return [hit for hit_set in self.sets for hit in hit_set.hits]

    @cached_property
    def pages(self) -> list[list[str]]:
        """The pages of each question's gold, by title: equal titles in different stores count as one page."""
        return [list(hit.pages) for hit in self.hits]

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each question. A set of q questions weighs sqrt(q) times its importance in total."""
        return np.concatenate(
            [
                np.full(len(hit_set.hits), hit_set.importance / max(len(hit_set.hits), 1) ** 0.5)
                for hit_set in self.sets
            ]
        )

    @cached_property
    def layout(self) -> Layout:
        """The columns of the hit lists."""
        return layout_of(self.hits[0].table)

    def by_set(
        self, values: Sequence[NDArray[np.float64]]
    ) -> Iterator[tuple[HitSet, Sequence[NDArray[np.float64]]]]:
        """Split ``values``, one per question of all sets, into the parts that belong to each set."""
        start = 0
        for hit_set in self.sets:
            yield hit_set, values[start : start + len(hit_set.hits)]
            start += len(hit_set.hits)


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A question: features (n, f) of its candidates, a mask (n,) of those that are gold, and its weight."""

    rows: NDArray[np.float32]
    gold: NDArray[np.bool_]
    weight: float


def read(paths: Sequence[Path], importance: Sequence[float] = (), folds: int = 2) -> Collection:
    """Read hit lists into sets named after their files. ``importance`` has one positive number per file, by default 1.

    Raises FusionError for a file that holds no hit lists; InputError when embedders, retrievers or signals differ, two
    files have the same name, a file has no gold among its candidates, or there are fewer groups of questions that share
    no page than ``folds``.
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
    if any(file.inputs != files[0].inputs for file in files):
        raise InputError(
            "the hit lists were computed with different settings of retrievers or by different versions: save them again"
            " with the same ones"
        )
    for path, file in zip(paths, files, strict=True):
        if not any((hit.gold >= 0).any() for hit in file.hits):
            raise InputError(f"nothing to learn from {path}: no question has gold among its candidates")
    _check_columns(dict(zip(names, (file.hits for file in files), strict=True)))
    sets = tuple(
        HitSet(path.stem, file.hits, _digest(path), factor)
        for path, file, factor in zip(paths, files, factors, strict=True)
    )
    collection = Collection(sets, embedders[0], files[0].inputs, any(file.names for file in files))
    groups = most_folds(collection.pages)
    if groups < folds:
        raise InputError(
            f"expected questions on at least {folds} pages, one a fold, got {groups}: add questions on other pages, or"
            " ask for fewer --folds"
        )
    return collection


def layout_of(table: Table) -> Layout:
    """The layout with every retriever and signal of a table."""
    views = {*table.columns, *table.signals}
    return Layout(
        retrievers=table.columns,
        signals=tuple(table.signals),
        owners={signal: owner for signal, owner in OWNERS.items() if signal in table.signals},
        logarithmic=tuple(view for view in _LOGARITHMIC if view in views),
        gaps=tuple(view for view in _GAPS if view in views),
        question=tuple(table.question),
    )


def examples_of(collection: Collection, layout: Layout | None = None) -> list[Example]:
    """Every question of a collection as an example, in order; in the columns of a ``layout``, by default all."""
    layout = layout or collection.layout
    return [
        Example(features(hit.table, layout).astype(np.float32), hit.gold >= 0, float(weight))
        for hit, weight in zip(collection.hits, collection.weights, strict=True)
    ]


def _check_columns(sets: dict[str, tuple[HitList, ...]]) -> None:
    """Raise InputError unless all sets have the retrievers and signals of the first."""
    expected: tuple[tuple[str, ...], ...] | None = None
    for name, hits in sets.items():
        columns = next(
            (hit.table.columns, tuple(hit.table.signals), tuple(hit.table.question))
            for hit in hits
            if hit.table.chunks
        )
        if not columns[1]:
            raise InputError(f"{name} has no signals: save it again with  trivium evaluate --hits")
        if expected is None:
            expected = columns
        elif columns != expected:
            differ = sorted({*sum(columns, ())} ^ {*sum(expected, ())}) or ["their order"]
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
