"""A small feed-forward network over the features of candidates, in NumPy, stored as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, product
from trivium.common.cache import Memo
from trivium.common.idle_cores import Beside
from trivium.errors import FusionError
from trivium.fusion.features import Layout, counted, features
from trivium.fusion.score_table import Fused, Table
from trivium.fusion.shapley import shapley

Weights = NDArray[np.float32]

CLIP = 8.0
"""Standardised features are clipped to this many deviations. A feature that was constant in training can take any
value later.
"""

_WORTH_SHARING = 240
"""Number of rows from which computing them takes clearly longer than handing them to another thread. Candidates of a
search are fewer, the coalitions of their explanations many more.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """An ensemble of m networks of the same shape, whose scores are averaged.

    ``mean`` and ``deviation`` (f,) standardise the features over the training data. Each layer is (weights (m, i, o),
    bias (m, o)); all but the last are followed by ReLU. The last has one output, the logit. Raises FusionError for
    layers of inconsistent shapes or non-finite numbers.
    """

    mean: Weights
    deviation: Weights
    layers: tuple[tuple[Weights, Weights], ...]
    _members: tuple[tuple[tuple[Floats, Floats], ...], ...] = field(init=False, repr=False)
    """The layers of each network in double precision, which is used for scoring."""

    def __post_init__(self) -> None:
        width = self.mean.shape[0] if self.mean.ndim == 1 else -1
        sound = bool(self.layers) and self.deviation.shape == self.mean.shape
        for weights, bias in self.layers:
            members, out = bias.shape if bias.ndim == 2 else (0, -1)
            sound = sound and members == len(self.layers[0][1]) > 0 and weights.shape == (members, width, out)
            width = out
        arrays = [self.mean, self.deviation, *(array for layer in self.layers for array in layer)]
        if not sound or width != 1 or not all(np.isfinite(array).all() for array in arrays):
            raise FusionError("the layers of the network do not fit together")
        if not (self.deviation > 0).all():
            raise FusionError("the deviations of the network's features must be positive")
        members = tuple(
            tuple((w[member].astype(np.float64), b[member].astype(np.float64)) for w, b in self.layers)
            for member in range(len(self.layers[0][1]))
        )
        object.__setattr__(self, "_members", members)

    def logits(self, rows: Floats) -> Floats:
        """Return scores (n,) of features (n, f); higher is better. Computed in double precision, so that the score of
        a row is bitwise independent of the other rows.
        """
        return _in_halves(self._logits, rows)

    def logits_of_coalitions(self, rows: Floats, average: Floats, players: Sequence[Sequence[int]]) -> Floats:
        """Return the scores (2**p, r) of rows (r, f) in which only some players' features are the row's own and all
        others are the ``average`` (f,). ``players`` are the features of each of p players; player i is present in
        coalition c if bit i of c is set. Equal to :meth:`logits` of such rows within rounding.
        """

        def transposed(some: Floats) -> Floats:
            return self._logits_of_coalitions(some, average, players).T

        return _in_halves(transposed, rows, 1 << len(players)).T

    def _logits(self, rows: Floats) -> Floats:
        scaled = self.scaled(rows)
        scores = np.zeros(len(rows))
        for member in self._members:
            weights, bias = member[0]
            scores += _after_first(member, product(scaled, weights) + bias)
        return scores / len(self._members)

    def _logits_of_coalitions(
        self, rows: Floats, average: Floats, players: Sequence[Sequence[int]]
    ) -> Floats:
        base = self.scaled(average[np.newaxis])
        own = self.scaled(rows) - base
        shape = (1 << len(players), len(rows))
        scores = np.zeros(shape[0] * shape[1])
        for member in self._members:
            weights, bias = member[0]
            # The first layer is linear: what each player adds to it is computed once instead of for every coalition.
            values = np.empty((*shape, weights.shape[1]))
            values[0] = product(base, weights) + bias
            for player, columns in enumerate(players):
                known = 1 << player
                added = product(own[:, list(columns)], weights[list(columns)])
                np.add(values[:known], added, out=values[known : 2 * known])
            scores += _after_first(member, values.reshape(len(scores), -1))
        return scores.reshape(shape) / len(self._members)

    def scaled(self, rows: Floats) -> Floats:
        """Return features (n, f) standardised and clipped, as the layers take them."""
        scaled: Floats = (rows - self.mean) / self.deviation
        return np.minimum(np.maximum(scaled, -CLIP, out=scaled), CLIP, out=scaled)


def _after_first(member: Sequence[tuple[Floats, Floats]], values: Floats) -> Floats:
    """Return the outputs (n,) of a network from those of its first layer (n, h), which are overwritten."""
    for weights, bias in member[1:]:
        values = product(np.maximum(values, 0, out=values), weights)
        values += bias
    return values[:, 0]


def _in_halves(work: Callable[[Floats], Floats], rows: Floats, variants: int = 1) -> Floats:
    """Return ``work`` of rows (n, ...), which treats each alone and computes this many variants of it; many are shared
    with another thread.
    """
    half = len(rows) // 2
    if half * variants < _WORTH_SHARING:
        return work(rows)
    parts = Memo()
    with Beside() as beside:
        beside.begin(lambda: parts.of("second", lambda: work(rows[half:])))
        first = work(rows[:half])
        return np.concatenate([first, parts.of("second", lambda: work(rows[half:]))])


@dataclass(frozen=True, slots=True, eq=False)
class NetworkFusion:
    """Ranks by a trained network.

    Scores are logits, unbounded; at 0 relevance is as likely as irrelevance on the training data. ``competition``
    times the log-sum-exp of all candidates' logits is subtracted from every score, since a good candidate without
    competitors is more likely correct than one of many. ``inputs`` are the settings that what it takes is computed with
    (:class:`trivium.search.fuse.Inputs`), by dotted name.
    """

    network: Network
    layout: Layout
    name: str = "network"
    competition: float = 0.0
    inputs: Mapping[str, Any] = field(default_factory=dict)
    log_odds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        expected, found = len(self.layout.columns), self.network.mean.size
        if expected != found:
            raise FusionError(f"the layout has {expected} features, the network takes {found}")

    @property
    def needs_signals(self) -> bool:
        """Whether its layout has signals or question features."""
        return bool(self.layout.signals or self.layout.question)

    def fuse(self, table: Table) -> Fused:
        counts = counted(table, self.layout)
        if counts.all():
            return self._fuse(table)
        rows = np.flatnonzero(counts).tolist()
        return _behind(self._fuse(table.take(rows)), rows, *table.raw.shape)

    def _fuse(self, table: Table) -> Fused:
        rows = features(table, self.layout)
        if not len(rows):
            return Fused(np.zeros(0), lambda _: np.zeros((0, len(table.columns))))
        average = rows.mean(axis=0)
        scores = self.network.logits(np.concatenate([rows, average[np.newaxis]]))
        if self.competition:
            scores -= self.competition * weight_together(scores[:-1])
        players = {name: own for name, own in self.layout.players.items() if name in table.columns}

        def explain(wanted: Sequence[int]) -> Floats:
            # Question features are equal in all rows and thus equal to their average: they contribute nothing.
            groups = list(players.values())
            whole = np.zeros((len(wanted), len(table.columns)))
            columns = [table.column(name) for name in players]
            worth = self.network.logits_of_coalitions(rows[list(wanted)], average, groups)
            whole[:, columns] = shapley(worth)
            return whole

        return Fused(scores[:-1], explain, float(scores[-1]))


def weight_together(scores: Floats) -> float:
    """Return the log-sum-exp of scores (n > 0,), independent of their order."""
    highest = scores.max()
    return float(highest + np.log(np.exp(np.sort(scores - highest)).sum()))


def _behind(fused: Fused, rows: Sequence[int], candidates: int, columns: int) -> Fused:
    """Extend the scores of ``rows`` to all candidates. The others score 1 less than the lowest of them. No retriever
    knows them, so all columns contribute equally.
    """
    last = float(fused.scores.min()) - 1 if rows else 0.0
    scores = np.full(candidates, last)
    scores[list(rows)] = fused.scores
    place = {row: number for number, row in enumerate(rows)}

    def explain(wanted: Sequence[int]) -> Floats:
        shares = np.full((len(wanted), columns), (last - fused.baseline) / columns)
        in_table = [number for number, row in enumerate(wanted) if row in place]
        shares[in_table] = fused.explain([place[wanted[number]] for number in in_table])
        return shares

    return Fused(scores, explain, fused.baseline)
