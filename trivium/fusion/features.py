"""Features of a question's candidates for a trained fusion: one row per candidate, a few dozen columns.

Each view (a retriever's score or a signal) contributes its raw value and the value standardised over this question's
candidates; each retriever also contributes whether it returned the candidate and at which rank. Features of the
question and of the shape of its lists are equal in all rows: they let the weights depend on the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.errors import FusionError
from trivium.fusion.convex import impute, logarithm, standardise
from trivium.fusion.score_table import Table

QUESTION = "question"
"""The player that owns the features of the question. All other players are retrievers."""
_AGREEING = ("lexical", "walk", "page", "section")
"""Retrievers whose top ten are compared with those of ``vector``."""
_SHAPED = ("vector", "lexical", "page", "walk", "coverage")
"""Views whose score curve is summarised by features."""
_TOP = 10


BLOCKS = ("standard", "raw", "found", "rank", "gaps", "question", "agreement", "shape", "size")
"""Kinds of columns that a layout may have, in their order."""


@dataclass(frozen=True)
class Layout:
    """The columns of a feature matrix and their order; part of an artefact.

    - ``retrievers``, ``signals``: the views.
    - ``owners``: maps each signal to its retriever.
    - ``logarithmic``: views that hold probabilities and are used as logarithms.
    - ``gaps``: views that are undefined for some candidates.
    - ``question``: features of the question.
    - ``blocks``: kinds of columns, from :data:`BLOCKS`.
    - ``floors``: for fusions that know a retriever's scores only for the candidates it returned: by retriever, the
      score of all other candidates.
    - ``depths``: by retriever, how many of its best candidates count as returned.

    Raises FusionError for an unknown kind of columns.
    """

    retrievers: tuple[str, ...]
    signals: tuple[str, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)
    logarithmic: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    question: tuple[str, ...] = ()
    blocks: tuple[str, ...] = BLOCKS
    floors: Mapping[str, float] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [block for block in self.blocks if block not in BLOCKS]
        if unknown:
            raise FusionError(f"unknown columns {', '.join(unknown)}: expected some of {', '.join(BLOCKS)}")

    @cached_property
    def views(self) -> tuple[str, ...]:
        """Retrievers, followed by signals."""
        return (*self.retrievers, *self.signals)

    def places(self, views: Sequence[str]) -> list[int]:
        """Return the places of some of its views among all. Raises KeyError for a view that it does not have."""
        return [self._place[view] for view in views]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {view: place for place, view in reversed([*enumerate(self.views)])}  # the first of equal names

    @cached_property
    def columns(self) -> list[tuple[str, str]]:
        """(name, player) of every column, in order."""
        owner = {view: self.owners.get(view, view) for view in self.views}
        columns = {
            "standard": [(f"standard {view}", owner[view]) for view in self.views],
            "raw": [(f"raw {view}", owner[view]) for view in self.views],
            "found": [(f"found by {name}", name) for name in self.retrievers],
            "rank": [(f"rank in {name}", name) for name in self.retrievers],
            "gaps": [(f"no {view}", owner[view]) for view in self.gaps],
            "question": [(name, QUESTION) for name in self.question],
            "agreement": [(f"agreement with {name}", QUESTION) for name in _agreeing(self)],
            "shape": [
                (f"{shape} of {view}", QUESTION)
                for view in _shaped(self)
                for shape in ("height", "lead", "slope", "best")
            ],
            "size": [("candidates", QUESTION), ("lists a candidate", QUESTION)],
        }
        return [column for block in BLOCKS if block in self.blocks for column in columns[block]]

    @cached_property
    def players(self) -> dict[str, list[int]]:
        """Column numbers by player: each retriever, and the question."""
        found: dict[str, list[int]] = {name: [] for name in (*self.retrievers, QUESTION)}
        for column, (_, player) in enumerate(self.columns):
            found[player].append(column)
        return found


def counted(table: Table, layout: Layout) -> NDArray[np.bool_]:
    """Return a mask (n,) of the candidates that a layout covers: all, or with ``floors`` only those returned by one
    of its retrievers.
    """
    if not layout.floors:
        return np.ones(len(table.chunks), dtype=np.bool_)
    found: NDArray[np.bool_] = np.any(_ranks(table, layout) > 0, axis=1)
    return found


def features(table: Table, layout: Layout) -> Floats:
    """Return the feature matrix (n, f) of a layout. Views of retrievers that were not asked are constant."""
    n = len(table.chunks)
    views = np.full((n, len(layout.views)), np.nan)
    places, columns = _asked(table, layout)
    views[:, places] = table.raw[:, columns]
    ranks = _ranks(table, layout)
    found = ranks > 0
    for name, floor in layout.floors.items():
        place = layout.retrievers.index(name)
        views[~found[:, place], place] = floor
    for place, name in enumerate(layout.signals, start=len(layout.retrievers)):
        if name in table.signals and layout.owners.get(name, name) in table.columns:
            views[:, place] = table.signals[name]
    gaps = np.isnan(views[:, layout.places(layout.gaps)]).astype(np.float64)
    logarithmic = layout.places(layout.logarithmic)
    masses = views[:, logarithmic]
    views[:, logarithmic] = logarithm(np.where(np.isnan(masses), 0.0, masses))
    raw = impute(views)
    standard = standardise(raw)
    numbers = {
        "question": [table.question.get(name, 0.0) for name in layout.question],
        "agreement": _agreement(ranks, layout),
        "shape": _shapes(raw, standard, layout),
        "size": [np.log1p(n), found.sum() / n if n else 0.0],
    }
    blocks = {
        "standard": standard,
        "raw": raw,
        "found": found,
        "rank": np.where(found, 1 / (1 + np.log(np.maximum(ranks, 1))), 0.0),
        "gaps": gaps,
        **{block: np.array(values) for block, values in numbers.items()},
    }
    wanted = [blocks[block] for block in BLOCKS if block in layout.blocks]
    rows = np.empty((n, sum(block.shape[-1] for block in wanted)))
    begin = 0
    for block in wanted:  # features of the question are broadcast to all rows
        rows[:, begin : begin + block.shape[-1]] = block
        begin += block.shape[-1]
    return rows


def _ranks(table: Table, layout: Layout) -> NDArray[np.int64]:
    """Return the ranks (n, r) in the layout's retrievers, cut at its depths."""
    ranks = np.zeros((len(table.chunks), len(layout.retrievers)), dtype=np.int64)
    places, columns = _asked(table, layout)
    ranks[:, places] = table.ranks[:, columns]
    if layout.depths:
        deepest = [layout.depths.get(name, np.iinfo(np.int64).max) for name in layout.retrievers]
        ranks[ranks > np.array(deepest)] = 0
    return ranks


def _asked(table: Table, layout: Layout) -> tuple[list[int], list[int]]:
    """Return the places of the layout's retrievers that were asked, and their columns in the table."""
    asked = [name for name in layout.retrievers if name in table.columns]
    return [layout.retrievers.index(name) for name in asked], [table.columns.index(name) for name in asked]


def _agreeing(layout: Layout) -> Sequence[str]:
    return [name for name in _AGREEING if "vector" in layout.retrievers and name in layout.retrievers]


def _shaped(layout: Layout) -> Sequence[str]:
    return [view for view in _SHAPED if view in layout.views]


def _agreement(ranks: NDArray[np.int64], layout: Layout) -> list[float]:
    """Return the share of the top ten of ``vector`` that each of the other retrievers also has in its top ten."""
    if not _agreeing(layout):
        return []
    top = (ranks > 0) & (ranks <= _TOP)
    own = top[:, layout.retrievers.index("vector")]
    return [float((own & top[:, layout.retrievers.index(name)]).sum()) / _TOP for name in _agreeing(layout)]


def _shapes(raw: Floats, standard: Floats, layout: Layout) -> list[float]:
    """Return, for each summarised view, the best standardised score, its lead over the second and over the tenth, and
    the best raw score.
    """
    places = layout.places(_shaped(layout))
    n = len(standard)
    if not n:
        return [0.0] * (4 * len(places))
    falling = np.sort(standard[:, places], axis=0)[::-1]
    best, second, tenth = falling[0], falling[min(1, n - 1)], falling[min(_TOP, n) - 1]
    numbers: list[float] = (
        np.stack([best, best - second, best - tenth, raw[:, places].max(axis=0)], axis=1).ravel().tolist()
    )
    return numbers
