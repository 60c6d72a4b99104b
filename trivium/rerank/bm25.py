"""BM25 over all candidates, whichever retriever found them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from trivium.rerank.base import Deadline, RerankCandidate

LEXICAL = "lexical"
"""The retriever that computes BM25. Document frequencies are those of the entire store, not of the candidates."""


@dataclass(frozen=True, slots=True)
class Bm25Reranker:
    """Score: BM25 as computed by the retriever ``lexical``, >= 0; 0 if no word is shared."""

    name: ClassVar[str] = "bm25"
    views: ClassVar[tuple[str, ...]] = (LEXICAL,)
    independent: ClassVar[bool] = True

    def rerank(
        self,
        question: str,  # noqa: ARG002 - the retriever has seen it
        candidates: Sequence[RerankCandidate],
        deadline: Deadline,  # noqa: ARG002 - there is nothing to wait for
    ) -> list[float]:
        scores = [candidate.views[LEXICAL] for candidate in candidates]
        return [0.0 if math.isnan(score) else score for score in scores]
