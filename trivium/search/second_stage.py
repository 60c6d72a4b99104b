"""What may follow a ranking: the first passages in a better order, and an end by the scores instead of by number."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trivium.errors import InputError, RerankError
from trivium.graph.records import round_score
from trivium.rerank.base import Reranker, RerankSettings
from trivium.rerank.column import rerank_candidates
from trivium.rerank.limits import score_within
from trivium.retrievers.base import Query, Retriever
from trivium.search.cut import Cut
from trivium.search.options import Warned, check_k
from trivium.search.ranking import Ranking, probability
from trivium.search.stages import StageObserver, ignore_stages, observed

_log = logging.getLogger(__name__)


def log_warnings(warnings: Sequence[str]) -> None:
    """For searches that nobody else watches."""
    for warning in warnings:
        _log.warning("%s", warning)


@dataclass(frozen=True, slots=True)
class Placed:
    """A chunk in its place: ``score`` is that of the search, ``rerank_score`` that of the reranker, None for passages
    that it has not scored."""

    uri: str
    score: float
    rerank_score: float | None = None

    @property
    def deciding(self) -> float:
        """The score that it has its place by."""
        return self.score if self.rerank_score is None else self.rerank_score


@dataclass(frozen=True, slots=True)
class SecondStage:
    """What follows a ranking of which ``k`` passages are wanted. ``views`` are the retrievers whose scores the reranker
    wants to see. ``warn`` is told where the reranker failed and the order stays as it was."""

    k: int
    reranker: Reranker | None = None
    settings: RerankSettings = field(default_factory=RerankSettings)
    views: Mapping[str, Retriever] = field(default_factory=dict)
    cut: Cut | None = None
    warn: Warned = log_warnings
    on_stage: StageObserver = ignore_stages

    @property
    def wanted(self) -> int:
        """How many passages the ranking needs."""
        most = self.k if self.cut is None else self.cut.most(self.k) + 1
        return most if self.reranker is None else max(most, self.settings.passages)

    @property
    def needs_vectors(self) -> bool:
        """Whether the question must be embedded, whatever was asked before."""
        return any(name != "lexical" for name in self.views)

    def check(self, calibrated: bool) -> None:
        """Raise InputError where too many passages are wanted, and where the cut goes by probabilities and the search
        has none."""
        check_k(self.wanted)
        if self.cut is not None and self.cut.needs_probabilities and not calibrated:
            raise InputError(
                f"the cut {self.cut.rule} needs probabilities, which only a trained fusion gives, asked without a"
                " condition: take near or gap"
            )

    def apply(self, query: Query, ranking: Ranking) -> list[Placed]:
        """The passages of a ranking, best first, that are given for the question."""
        return self.ended(self.reranked(query, ranking))

    def reranked(self, query: Query, ranking: Ranking) -> list[Placed]:
        """All passages of a ranking, the first of them in the order of the reranker where there is one."""
        placed = [Placed(uri, score) for uri, score in ranking]
        if self.reranker is None or len(placed) <= 1:
            return placed
        with observed(self.on_stage, "rerank"):
            return self._reranked(query, placed, self.reranker)

    def ended(self, placed: Sequence[Placed]) -> list[Placed]:
        """Those that are given: the first ``k``, or what the cut keeps. What was not reranked has no score of that scale,
        and is kept by no cut where others were."""
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
