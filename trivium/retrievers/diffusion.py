"""diffusion: is the chunk central among the best ones?

Personalised PageRank over a graph of the best chunks, as in Dampanaboina et al., *Diffusion-Aided RAG* (2025). What
the paper varies is configurable: the damping, the first stage and the number of its chunks, the seeds of the walk and
their weights, and the edges between chunks. On a complete graph of cosines with damping 0.85 the result is almost
pure centrality, hence ``damping``, ``neighbours``, ``threshold`` and the other graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from trivium.common.arrays import Floats
from trivium.errors import ConfigurationError, InputError
from trivium.retrievers.lexical import LexicalRetriever, tfidf
from trivium.retrievers.pagerank import pagerank_dense
from trivium.retrievers.passage_graph import Relations, Similarity, passage_graph, similarity_graph, strongest
from trivium.retrievers.query import (
    Candidate,
    Method,
    Query,
    best_rows,
    check_counts,
    check_damping,
    check_depth,
)
from trivium.retrievers.setting_values import CONSTANT

__all__ = ["DiffusionRetriever", "DiffusionSettings", "diffuse", "seed_weights", "similarity_graph"]

FirstStage = Literal["vector", "bm25", "tfidf"]
"""How the initial passages are ranked: by closeness to the question (like the retriever ``vector``), BM25 (like
``lexical``), or TF-IDF (:mod:`trivium.retrievers.lexical`).
"""

_PROPOSED = 4
"""For TF-IDF, the keyword index proposes this multiple of the requested passages (by its BM25)."""

SeedWeights = Literal["scores", "ranks", "equal"]
"""Restart weight of a seed: proportional to its score, to 1 / its rank, or equal for all seeds."""

_LONGEST = 4_000
"""Maximum number of chunks compared with each other."""


@dataclass(frozen=True, slots=True)
class RankedList:
    """Passages, best first, with their scores (n,)."""

    uris: list[str]
    scores: Floats


@dataclass(frozen=True, slots=True)
class DiffusionSettings:
    """Settings of the diffusion.

    - ``first_stage``: the ranking it starts from; ``chunks``: how many chunks of it to use.
    - ``damping``: probability of following an edge, that is the share of the score that comes from neighbours.
    - ``seeds``: number of best chunks at which the walk restarts, None for all; ``seed_weights``: their weights.
    - ``graph``: what joins two chunks; ``similarity``: how similarity is measured for it.
    - ``neighbours``: strongest edges kept per chunk, None for all. An edge is kept if either end selects it.
    - ``threshold``: edges with smaller weights are dropped.
    - ``method``, ``tol``: how PageRank is computed (:mod:`trivium.retrievers.pagerank`).
    """

    chunks: int = 50
    damping: float = 0.85
    neighbours: int | None = None
    method: Method = field(default="power", metadata=CONSTANT)
    tol: float = field(default=1e-10, metadata=CONSTANT)
    first_stage: FirstStage = "vector"
    seeds: int | None = field(default=None, metadata=CONSTANT)
    seed_weights: SeedWeights = field(default="scores", metadata=CONSTANT)
    graph: Relations = field(default="similarity", metadata=CONSTANT)
    similarity: Similarity = field(default="cosine", metadata=CONSTANT)
    threshold: float = field(default=0.0, metadata=CONSTANT)

    def __post_init__(self) -> None:
        check_counts("diffusion", chunks=self.chunks)
        for name, count in (("neighbours", self.neighbours), ("seeds", self.seeds)):
            if count is not None:
                check_counts("diffusion", **{name: count})
        check_damping("diffusion.damping", self.damping)
        for name, kind in _CHOICES.items():
            if getattr(self, name) not in get_args(kind):
                known = ", ".join(map(repr, get_args(kind)))
                raise ConfigurationError(
                    f"diffusion.{name} must be one of {known}, got {getattr(self, name)!r}"
                )
        if not self.tol > 0:
            raise ConfigurationError(f"diffusion.tol must be positive, got {self.tol}")
        if not 0 <= self.threshold <= 1:
            raise ConfigurationError(f"diffusion.threshold must be in [0, 1], got {self.threshold}")


_CHOICES = {
    "method": Method,
    "first_stage": FirstStage,
    "seed_weights": SeedWeights,
    "graph": Relations,
    "similarity": Similarity,
}


@dataclass(frozen=True, eq=False)
class DiffusionRetriever:
    """Re-ranks the list of a first stage by centrality. Score: stationary probability; sums to 1 over the list."""

    name: ClassVar[str] = "diffusion"
    settings: DiffusionSettings = field(default_factory=DiffusionSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        solution = self._solution(query)
        uris, scores = list(solution), list(solution.values())
        best = best_rows(np.array(scores), uris, len(uris) if depth is None else depth)
        return [Candidate(uris[row], scores[row]) for row in best]

    def wider(self, times: int) -> DiffusionRetriever | None:
        """Use a list ``times`` as long; None when its matrix would be too large."""
        if self.settings.chunks * times > _LONGEST:
            return None
        return DiffusionRetriever(replace(self.settings, chunks=self.settings.chunks * times))

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        scores = self._solution(query)
        return np.array([scores.get(uri, np.nan) for uri in chunks], dtype=np.float64)

    def score_list(self, query: Query, ranking: Sequence[tuple[str, float]]) -> Floats:
        """Return the scores of the passages of any other list, best first, in place of its own first stage. Scores that
        are no weights (negative ones, such as log-odds, or all 0) are replaced by ranks.
        """
        scores = np.array([score for _, score in ranking], dtype=np.float64)
        settings = self.settings
        if settings.seed_weights == "scores" and not (scores.any() and (scores >= 0).all()):
            settings = replace(settings, seed_weights="ranks")
        return diffuse(query, RankedList([uri for uri, _ in ranking], scores), settings)

    def _solution(self, query: Query) -> dict[str, float]:
        return query.memoize(self, lambda: self._solve(query))

    def _solve(self, query: Query) -> dict[str, float]:
        found = first_stage(query, self.settings.first_stage, self.settings.chunks)
        return dict(zip(found.uris, diffuse(query, found, self.settings).tolist(), strict=True))


def diffuse(query: Query, found: RankedList, settings: DiffusionSettings) -> Floats:
    """Return the stationary probabilities (n,) of the passages of any ranked list.

    ``settings.first_stage`` and ``settings.chunks`` are ignored. Raises InputError when the numbers of passages and
    scores differ.
    """
    if found.scores.shape != (len(found.uris),):
        raise InputError(
            f"expected a score for each of {len(found.uris)} passages, got shape {found.scores.shape}"
        )
    weights = passage_graph(query, found.uris, settings.graph, settings.similarity)
    return pagerank_dense(
        strongest(weights, settings.neighbours, settings.threshold),
        seed_weights(found.scores, settings.seeds, settings.seed_weights),
        settings.damping,
        settings.method,
        settings.tol,
    )


def seed_weights(scores: Floats, seeds: int | None = None, weights: SeedWeights = "scores") -> Floats:
    """Return unnormalised restart weights (n,) of a ranked list with these scores, best first.

    >>> seed_weights(np.array([0.8, 0.4, -0.1])).tolist()
    [0.8, 0.4, 0.0]
    >>> seed_weights(np.array([0.8, 0.4, -0.1]), seeds=2, weights="ranks").tolist()
    [1.0, 0.5, 0.0]
    """
    size = len(scores)
    kinds: dict[SeedWeights, Floats] = {
        "scores": np.maximum(scores, 0.0),
        "ranks": 1.0 / np.arange(1, size + 1),
        "equal": np.ones(size),
    }
    chosen = kinds[weights].astype(np.float64)
    if seeds is not None:
        chosen[seeds:] = 0.0
    return chosen


def first_stage(query: Query, name: FirstStage, chunks: int) -> RankedList:
    """Return the best ``chunks`` passages of a first stage."""
    if name == "vector":
        near = query.closest_chunks(chunks)
        return RankedList([one.uri for one in near], np.array([one.score for one in near]))
    if name == "bm25":
        found = LexicalRetriever().retrieve(query, chunks)
        return RankedList([one.uri for one in found], np.array([one.score for one in found]))
    proposed = query.store.keyword_search(query.terms, _PROPOSED * chunks) if query.terms else []
    if not proposed:
        return RankedList([], np.empty(0))
    scores = tfidf(query.term_counts(proposed), query.term_statistics)
    rows = best_rows(scores, proposed, chunks)
    return RankedList([proposed[row] for row in rows], scores[rows])
