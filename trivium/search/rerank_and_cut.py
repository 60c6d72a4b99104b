"""The stage after ranking: reranks the first passages and cuts the list by its scores."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trivium.common.argument_checks import check_count
from trivium.errors import InputError, RerankError
from trivium.graph.records import round_score
from trivium.rerank.as_retriever import rerank_candidates
from trivium.rerank.reranker import Reranker, RerankSettings
from trivium.rerank.time_limit import score_within
from trivium.retrievers.query import Query, Retriever
from trivium.search.cut import Cut
from trivium.search.ranking import Ranking, probability
from trivium.search.requests import MAX_K, Warned
from trivium.search.stage_timing import StageObserver, ignore_stages, observed

_log = logging.getLogger(__name__)


def log_warnings(warnings: Sequence[str]) -> None:
    """Log warnings, for searches without a callback for them."""
    for warning in warnings:
        _log.warning("%s", warning)


@dataclass(frozen=True, slots=True)
class Placed:
    """A ranked chunk. ``score`` is the score of the search, ``rerank_score`` that of the reranker, None for passages
    it did not score.
    """

    uri: str
    score: float
    rerank_score: float | None = None

    @property
    def deciding(self) -> float:
        """The score that determines the rank."""
        return self.score if self.rerank_score is None else self.rerank_score


@dataclass(frozen=True, slots=True)
class SecondStage:
    """Post-processing of a ranking of which ``k`` passages are requested. ``views`` are the retrievers whose scores
    the reranker uses. ``warn`` is called when the reranker fails and the order is unchanged.
    """

    k: int
    reranker: Reranker | None = None
    settings: RerankSettings = field(default_factory=RerankSettings)
    views: Mapping[str, Retriever] = field(default_factory=dict)
    cut: Cut | None = None
    warn: Warned = log_warnings
    on_stage: StageObserver = ignore_stages

    @property
    def wanted(self) -> int:
        """Number of passages that the ranking must provide."""
        most = self.k if self.cut is None else self.cut.most(self.k) + 1
        return most if self.reranker is None else max(most, self.settings.passages)

    @property
    def needs_vectors(self) -> bool:
        """Whether the reranker needs the question vector, regardless of which retrievers are asked."""
        return any(name != "lexical" for name in self.views)

    def check(self, calibrated: bool) -> None:
        """Raise InputError when too many passages are requested, or when the cut needs probabilities and the scores
        are not calibrated.
        """
        check_count("k", self.wanted, MAX_K)
        if self.cut is not None and self.cut.needs_probabilities and not calibrated:
            raise InputError(
                f"the cut {self.cut.rule} needs probabilities, which only a trained fusion gives, asked without a"
                " condition: take near or gap"
            )

    def apply(self, query: Query, ranking: Ranking) -> list[Placed]:
        """Return the final passages for a ranking, best first."""
        return self.ended(self.reranked(query, ranking))

    def reranked(self, query: Query, ranking: Ranking) -> list[Placed]:
        """Return all passages of a ranking, with the first ones reordered by the reranker if there is one."""
        placed = [Placed(uri, score) for uri, score in ranking]
        if self.reranker is None or len(placed) <= 1:
            return placed
        with observed(self.on_stage, "rerank"):
            return self._reranked(query, placed, self.reranker)

    def ended(self, placed: Sequence[Placed]) -> list[Placed]:
        """Return the first ``k`` passages, or those that the cut keeps. If some passages were reranked, a cut keeps
        only those: the others have no score on the same scale.
        """
        if self.cut is None:
            return list(placed[: self.k])
        ranked = list(placed)
        if placed and placed[0].rerank_score is not None:
            ranked = [one for one in placed if one.rerank_score is not None]
        scores = [one.deciding for one in ranked]
        likely = [probability(one.score) for one in ranked] if self.cut.needs_probabilities else []
        return ranked[: self.cut.count(scores, self.k, likely)]

    def _reranked(self, query: Query, placed: list[Placed], reranker: Reranker) -> list[Placed]:
        first, rest = placed[: self.settings.passages], placed[self.settings.passages :]
        candidates = rerank_candidates(query, [(one.uri, one.score) for one in first], self.views)
        try:
            scores = score_within(reranker, query.text, candidates, self.settings.seconds)
        except RerankError as error:
            self.warn([f"{reranker.name}: {error}; the passages are in the order of the search"])
            return placed
        scored = [
            Placed(one.uri, one.score, round_score(score)) for one, score in zip(first, scores, strict=True)
        ]
        return sorted(scored, key=lambda one: -one.deciding) + rest
