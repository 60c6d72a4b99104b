"""walk: where do the links lead?

Personalised PageRank over the knowledge graph. Nodes are chunks and entities (pages are entities); edges join a chunk
with the entities it cites and with its own page. The walker restarts at the chunks closest to the question and at the
entities the question names, so that passages two links away from the question (the second hop of a multi-hop
question) gather mass. No language model is involved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trivium.errors import ConfigurationError
from trivium.graph.records import Floats, Neighbour
from trivium.graph.schema import Label
from trivium.retrievers.pagerank import masses_at, settled
from trivium.retrievers.query import Candidate, Query, best_in_order, check_counts, check_damping, check_depth
from trivium.retrievers.setting_values import CONSTANT

_FINEST = 1e-7
"""The smallest ``eps`` of a widened walk."""


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings of the walk.

    - ``chunks``: number of results when no depth is given.
    - ``seed_chunks``: number of nearest chunks the walk starts from; ``seed_entities``: number of nearest entities,
      used when the question names none.
    - ``temperature``: of the softmax over the seeds' cosines. Smaller is sharper.
    - ``entity_share``: share of the seed mass given to entities.
    - ``damping``: probability of following a link.
    - ``own_page_weight``: how much likelier the walker moves from a page to its own passages than to others that cite
      it.
    - ``name_weight``: where names in texts are entities, how much a name that is no page's counts beside a page: as a
      seed, and, divided by the root of the number of passages that have it, as a link.
    - ``eps``: precision, see :mod:`trivium.retrievers.pagerank`.
    """

    chunks: int = 20
    seed_chunks: int = 20
    seed_entities: int = 5
    temperature: float = 0.02
    entity_share: float = 0.25
    damping: float = 0.5
    own_page_weight: float = 8.0
    name_weight: float = 0.25
    eps: float = field(default=1e-5, metadata=CONSTANT)

    def __post_init__(self) -> None:
        check_counts(
            "walk", chunks=self.chunks, seed_chunks=self.seed_chunks, seed_entities=self.seed_entities
        )
        check_damping("walk.damping", self.damping)
        if not self.temperature > 0:
            raise ConfigurationError(f"walk.temperature must be positive, got {self.temperature}")
        if not 0 <= self.entity_share <= 1:
            raise ConfigurationError(f"walk.entity_share must be in [0, 1], got {self.entity_share}")
        for weight in ("own_page_weight", "name_weight"):
            if not 0 < (value := getattr(self, weight)) < float("inf"):
                raise ConfigurationError(f"walk.{weight} must be positive and finite, got {value}")
        if not 0 < self.eps < 1:
            raise ConfigurationError(f"walk.eps must be in (0, 1), got {self.eps}")


@dataclass(frozen=True, eq=False)
class WalkRetriever:
    """Chunks that the walker visits most. Score: stationary probability, [0, 1]."""

    name: ClassVar[str] = "walk"
    settings: WalkSettings = field(default_factory=WalkSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        graph = query.adjacency
        chunks, mass = self._solution(query)
        if graph.allowed is not None:
            allowed = graph.allowed[chunks]
            chunks, mass = chunks[allowed], mass[allowed]
        best = best_in_order(mass, self.settings.chunks if depth is None else depth)
        return [
            Candidate(graph.chunks[chunk], score)
            for chunk, score in zip(chunks[best].tolist(), mass[best].tolist(), strict=True)
        ]

    def prepare(self, query: Query) -> None:
        """Run the walk in advance; its result is cached in the query."""
        self._solution(query)

    def wider(self, times: int) -> WalkRetriever:
        """Start from ``times`` as many chunks, at a higher temperature, which gives distant seeds more weight, and
        with a higher precision.
        """
        settings = self.settings
        return WalkRetriever(
            replace(
                settings,
                seed_chunks=settings.seed_chunks * times,
                temperature=settings.temperature * times,
                eps=min(settings.eps, max(settings.eps / times, _FINEST)),
            )
        )

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        reached, mass = self._solution(query)
        return masses_at(reached, mass, query.chunk_rows(chunks))

    def _solution(self, query: Query) -> tuple[NDArray[np.int64], Floats]:
        """Return the rows (n,) of the chunks that the walker visits, ascending, and their masses (n,)."""
        return query.memoize(self, lambda: self._solve(query))

    def _solve(self, query: Query) -> tuple[NDArray[np.int64], Floats]:
        graph, settings = query.adjacency, self.settings
        nodes, masses = walk_seeds(query, settings)
        nodes, masses = settled(
            graph.indptr,
            graph.indices,
            nodes,
            masses,
            settings.damping,
            settings.eps,
            graph.own_chunks,
            settings.own_page_weight,
            len(graph.chunks) if graph.names else None,
            settings.name_weight,
        )
        count = np.searchsorted(nodes, len(graph.chunks))
        return nodes[:count], masses[:count]


def walk_seeds(query: Query, settings: WalkSettings) -> tuple[NDArray[np.int64], Floats]:
    """Return the start nodes (s,) of the walk in the query's graph, distinct, and their masses (s,), which sum to 1.

    Both are empty when no chunk or entity of the graph matches the question. If only chunks or only entities match,
    these get all of the mass.
    """
    graph = query.adjacency
    chunks, of_chunks = np.empty(0, dtype=np.int64), np.empty(0)
    if settings.entity_share < 1:  # otherwise no vector is needed
        near = query.closest_chunks(settings.seed_chunks)
        chunks = query.chunk_rows([one.uri for one in near])
        of_chunks = (1 - settings.entity_share) * softmax(near, settings.temperature)
        chunks, of_chunks = chunks[chunks >= 0], of_chunks[chunks >= 0]
    # The graph contains linked nodes only, so entities without links cannot be seeds.
    entities = query.named_rows
    if len(entities):
        of_entities = np.full(len(entities), 1 / len(entities))
        if graph.names:
            of_entities[graph.are_names(entities)] *= settings.name_weight
            of_entities /= of_entities.sum()
    else:
        known = [
            (row, one)
            for one in query.nearest(Label.ENTITY, settings.seed_entities)
            if (row := graph.entity_rows.get(one.uri, -1)) >= 0
        ]
        entities = np.array([row for row, _ in known], dtype=np.int64)
        of_entities = softmax([one for _, one in known], settings.temperature)
    nodes = np.concatenate([chunks, len(graph.chunks) + entities])
    masses = np.concatenate([of_chunks, settings.entity_share * of_entities])
    some = masses > 0
    nodes, masses = nodes[some], masses[some]
    return nodes, masses / masses.sum() if len(masses) else masses


def softmax(near: Sequence[Neighbour], temperature: float) -> Floats:
    """Return the neighbours' shares (n,), which sum to 1: exp((cosine - best) / temperature), normalised."""
    cosines = np.array([neighbour.score for neighbour in near], dtype=np.float64)
    weights = np.exp((cosines - cosines.max(initial=-np.inf)) / temperature)
    shares: Floats = weights / weights.sum()
    return shares
