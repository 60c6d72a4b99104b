"""The interface of rerankers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trivium.errors import ConfigurationError, RerankError
from trivium.graph.schema import embedding_text

DEFAULT_PASSAGES = 30
"""Default number of passages to rerank."""
DEFAULT_SECONDS = 10.0
"""Default time limit."""


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """``passages`` is how many of the first passages are reranked; the rest keeps its order after them. ``seconds`` is
    the time limit, after which the original order is kept.
    """

    passages: int = DEFAULT_PASSAGES
    seconds: float = DEFAULT_SECONDS

    def __post_init__(self) -> None:
        if not 2 <= self.passages <= 1000:
            raise ConfigurationError(f"rerank.passages must be from 2 to 1,000, got {self.passages}")
        if not 0 < self.seconds <= 3600:
            raise ConfigurationError(
                f"rerank.seconds must be more than 0 and at most 3,600, got {self.seconds}"
            )


class Deadline:
    """The time by which a reranker must have finished, ``seconds`` from now; None means never."""

    def __init__(self, seconds: float | None = None) -> None:
        self._ends = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Remaining seconds; infinite without a limit, 0 when the time is up."""
        return float("inf") if self._ends is None else max(0.0, self._ends - time.monotonic())

    def check(self) -> None:
        """Raise RerankError if the time is up. Rerankers should call this between passages."""
        if self.left <= 0:
            raise RerankError("the time is up")


@dataclass(frozen=True, slots=True)
class RerankCandidate:
    """A passage to rerank. ``headings`` are the titles of its page and sections; ``score`` is that of the search,
    higher is better. ``views`` are the scores of the retrievers requested by the reranker (:attr:`Reranker.views`), NaN
    where a retriever has none.
    """

    uri: str
    headings: tuple[str, ...]
    text: str
    score: float = 0.0
    views: Mapping[str, float] = field(default_factory=dict)

    @property
    def full_text(self) -> str:
        """The text under its headings, as it was embedded."""
        return embedding_text(self.headings, self.text)


class Reranker(Protocol):
    """Scores the passages of a search by looking at each (or all) of them together with the question.

    Must be thread-safe. It is called in a separate thread, which is abandoned when the time is up, so it should check
    the deadline and :func:`trivium.common.stopping.check` between passages.
    """

    @property
    def name(self) -> str: ...

    @property
    def views(self) -> Sequence[str]:
        """Names of retrievers whose scores of the passages it needs; usually none."""
        ...

    @property
    def independent(self) -> bool:
        """Whether the score of a passage does not depend on the other passages, so that it can be cached."""
        ...

    def rerank(
        self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline
    ) -> Sequence[float]:
        """Return a finite score for each candidate; higher is better. The candidates are given best first, and equal
        scores keep their order. On RerankError, ChatModelError, EmbeddingError or any other exception the original
        order is kept.
        """
        ...
