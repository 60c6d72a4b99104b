"""diffusion: is it central among the best?

Personalised PageRank over a similarity graph of the best chunks, as in Dampanaboina et al., *Diffusion-Aided
RAG* (2025). On a complete graph with damping 0.85 the result is almost pure centrality, hence the two knobs:
``damping`` and ``neighbours``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from trivium.common.arrays import Floats
from trivium.errors import ConfigurationError
from trivium.graph.schema import Label
from trivium.retrievers.base import (
    Candidate,
    Method,
    Query,
    check_counts,
    check_damping,
    check_depth,
    ranked,
)

_LONGEST = 4_000
"""Chunks that are compared with each other at most."""


@dataclass(frozen=True, slots=True)
class DiffusionSettings:
    """``chunks``: size of the dense list. ``damping``: share of the score that comes from neighbours.
    ``neighbours``: edges kept per chunk (the strongest; one of the two ends suffices), None for all."""

    chunks: int = 50
    damping: float = 0.85
    neighbours: int | None = None
    method: Method = "power"
    tol: float = 1e-10

    def __post_init__(self) -> None:
        check_counts("diffusion", chunks=self.chunks)
        if self.neighbours is not None:
            check_counts("diffusion", neighbours=self.neighbours)
        check_damping("diffusion.damping", self.damping)
        if self.method not in ("solve", "power"):
            raise ConfigurationError(f"diffusion.method must be 'solve' or 'power', got {self.method!r}")
        if not self.tol > 0:
            raise ConfigurationError(f"diffusion.tol must be positive, got {self.tol}")


@dataclass(frozen=True, eq=False)
class DiffusionRetriever:
    """The dense list re-ranked by centrality. Score: probability, summing to 1 over the list."""

    name: ClassVar[str] = "diffusion"
    settings: DiffusionSettings = field(default_factory=DiffusionSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        scores = self._solution(query)
        return ranked([Candidate(uri, score) for uri, score in scores.items()], depth)

    def wider(self, times: int) -> DiffusionRetriever | None:
        """With a list so many times as long; None where its matrix would be too large."""
        if self.settings.chunks * times > _LONGEST:
            return None
        return DiffusionRetriever(replace(self.settings, chunks=self.settings.chunks * times))

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        scores = self._solution(query)
        return np.array([scores.get(uri, np.nan) for uri in chunks], dtype=np.float64)

    def _solution(self, query: Query) -> dict[str, float]:
        return query.memoize(self, lambda: self._solve(query))

    def _solve(self, query: Query) -> dict[str, float]:
        from trivium.retrievers.pagerank import pagerank_dense  # loads numba, see trivium.common.compiled

        settings = self.settings
        near = query.closest_chunks(settings.chunks)
        uris = [neighbour.uri for neighbour in near]
        weights = similarity_graph(query.store.vectors(Label.CHUNK, uris), settings.neighbours)
        seeds = np.array([max(0.0, neighbour.score) for neighbour in near])
        ranks = pagerank_dense(weights, seeds, settings.damping, settings.method, settings.tol)
        return dict(zip(uris, ranks.tolist(), strict=True))


def similarity_graph(vectors: np.ndarray, neighbours: int | None = None) -> Floats:
    """Edges max(0, cosine) between unit vectors (n x d) as a symmetric matrix (n x n) with a zero diagonal.

    With ``neighbours`` = k an edge stays if it is among the k strongest of one of its ends (ties by row).
    """
    from trivium.common.product import product  # loads numba, see trivium.common.compiled

    unit = np.nan_to_num(np.asarray(vectors, dtype=np.float64))
    weights: Floats = np.maximum(product(unit, unit.T), 0.0)
    np.fill_diagonal(weights, 0.0)
    if neighbours is None or neighbours >= len(weights) - 1:
        return weights
    strongest = np.argsort(-weights, axis=1, kind="stable")[:, :neighbours]
    kept = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(kept, strongest, True, axis=1)
    return np.where(kept | kept.T, weights, 0.0)
