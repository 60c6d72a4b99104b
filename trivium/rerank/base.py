"""What a reranker is, and what it is given."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trivium.errors import ConfigurationError, RerankError
from trivium.graph.schema import embedding_text

DEFAULT_PASSAGES = 30
"""How many of the passages that were found are put in order anew."""
DEFAULT_SECONDS = 10.0
"""How long that may take."""


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """``passages``: how many of the first are put in order anew; the rest stays behind them. ``seconds``: how long that
    may take; then the order stays as it was."""

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
    """When a reranker must have finished. ``seconds`` are counted from now; None means never."""

    def __init__(self, seconds: float | None = None) -> None:
        self._ends = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; infinite where there is no limit, 0 where the time is up."""
        return float("inf") if self._ends is None else max(0.0, self._ends - time.monotonic())

    def check(self) -> None:
        """Raises RerankError where the time is up. Rerankers ask between one passage and the next."""
        if self.left <= 0:
            raise RerankError("the time is up")


@dataclass(frozen=True, slots=True)
class RerankCandidate:
    """A passage to be put in its place. ``headings`` are the titles of page and sections above it, ``score`` is that of
    the search, higher is better. ``views`` are the scores of the retrievers that the reranker asked for by name
    (:attr:`Reranker.views`); NaN where a retriever has none."""

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
    """Scores the passages that a search has found, by looking at each (or all) of them with the question.

    Threads may share it. It is called in a thread of its own, which nobody waits for when the time is up: it should look
    at the deadline between one passage and the next, and at :func:`trivium.common.stopping.check`.
    """

    @property
    def name(self) -> str: ...

    @property
    def views(self) -> Sequence[str]:
        """Names of retrievers whose scores of the passages it wants to see; most want none."""
        ...

    @property
    def independent(self) -> bool:
        """Whether the score of a passage is the same whatever the others are, so that it can be kept."""
        ...

    def rerank(
        self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline
    ) -> Sequence[float]:
        """A finite score for each of the candidates, which come best first; higher is better. Equal ones keep their
        order. Raises RerankError, ChatModelError, EmbeddingError or anything else where it cannot: the order then
        stays as it was."""
        ...
