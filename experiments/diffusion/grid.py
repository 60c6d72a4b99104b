"""Diffuses the ranked list of a question under all settings of a grid at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from trivium.retrievers.diffusion import DiffusionSettings, RankedList, SeedWeights, seed_weights
from trivium.retrievers.passage_graph import Relations, Similarity, passage_graph, strongest
from trivium.retrievers.query import Query

Floats = NDArray[np.float64]

CHUNKS = (20, 50)
DAMPINGS = (0.1, 0.3, 0.5, 0.7, 0.85, 0.95)
GRAPHS: dict[str, tuple[Relations, Similarity]] = {
    "cosine": ("similarity", "cosine"),
    "centred": ("similarity", "centred"),
    "words": ("similarity", "words"),
    "links": ("links", "cosine"),
    "cosine + links": ("both", "cosine"),
}
NEIGHBOURS: tuple[int | None, ...] = (None, 10, 5)
SEEDS: tuple[int | None, ...] = (None, 5, 1)
WEIGHTS: tuple[SeedWeights, ...] = ("scores", "ranks", "equal")
MEASURES = ("hit@1", "hit@5", "recall@5", "ndcg@10")


@dataclass(frozen=True)
class Setting:
    """One point of the grid."""

    chunks: int = 50
    graph: str = "cosine"
    neighbours: int | None = None
    damping: float = 0.85
    seeds: int | None = None
    weights: SeedWeights = "scores"

    def settings(self) -> DiffusionSettings:
        """Return the settings of the package's diffusion."""
        relations, similarity = GRAPHS[self.graph]
        return DiffusionSettings(
            chunks=self.chunks,
            damping=self.damping,
            neighbours=self.neighbours,
            seeds=self.seeds,
            seed_weights=self.weights,
            graph=relations,
            similarity=similarity,
        )

    def __str__(self) -> str:
        seeds = "all" if self.seeds is None else str(self.seeds)
        edges = "all edges" if self.neighbours is None else f"{self.neighbours} neighbours"
        return f"{self.graph}, {edges}, n {self.chunks}, damping {self.damping:g}, {seeds} seeds by {self.weights}"


@cache
def grid() -> tuple[Setting, ...]:
    """Return all settings, in the order of :func:`solutions`."""
    return tuple(Setting(*values) for values in product(CHUNKS, GRAPHS, NEIGHBOURS, DAMPINGS, SEEDS, WEIGHTS))


def solutions(query: Query, found: RankedList) -> Floats:
    """Return scores (settings x passages) of the passages of a list, NaN for those beyond the depth of a setting.

    Solved in closed form, without the teleport from passages without edges to the seeds, which only multiplies all
    scores by a constant.
    """
    size = len(found.uris)
    graphs = {name: passage_graph(query, found.uris, *kind) for name, kind in GRAPHS.items()}
    rows: list[Floats] = []
    for count, weights in _graphs(graphs):
        system = np.stack([np.eye(len(weights)) - damping * weights.T for damping in DAMPINGS])
        starts = np.stack([seed_weights(found.scores[:count], *kind) for kind in product(SEEDS, WEIGHTS)])
        ranks = np.linalg.solve(system, np.broadcast_to(starts.T, (len(DAMPINGS), *starts.T.shape)))
        scores = np.full((len(DAMPINGS), len(starts), size), np.nan)
        scores[:, :, : len(weights)] = ranks.transpose(0, 2, 1)
        rows.append(scores.reshape(-1, size))
    return np.concatenate(rows)


def _graphs(graphs: dict[str, Floats]) -> Iterator[tuple[int, Floats]]:
    """Yield the number of passages and the transition matrix among them, in the order of :func:`grid`."""
    for count, name, neighbours in product(CHUNKS, GRAPHS, NEIGHBOURS):
        weights = strongest(graphs[name][:count, :count], neighbours)
        degrees = weights.sum(axis=1, keepdims=True)
        yield count, np.divide(weights, degrees, out=np.zeros_like(weights), where=degrees > 0)


def measures(scores: Floats, groups: Sequence[int], count: int) -> Floats:
    """Return :data:`MEASURES` (settings x measures) of the rankings by ``scores`` (settings x passages); NaN comes
    last, ties keep the order of the list. ``groups`` are the gold groups of the passages, -1 for none, ``count`` their
    number.
    """
    order = np.argsort(-np.nan_to_num(np.round(scores, 9), nan=-1.0), axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[np.newaxis], axis=1)
    placed = np.array(groups, dtype=np.int64)
    first = np.full((len(scores), count), np.inf)
    for group in range(count):
        members = placed == group
        if members.any():
            first[:, group] = ranks[:, members].min(axis=1)
    ideal = (1 / np.log2(np.arange(2, min(count, 10) + 2))).sum()
    gains = np.where(first <= 10, 1 / np.log2(first + 1), 0.0).sum(axis=1) / ideal
    return np.stack(
        [(first <= 1).any(axis=1), (first <= 5).any(axis=1), (first <= 5).mean(axis=1), gains], axis=1
    ).astype(np.float64)
