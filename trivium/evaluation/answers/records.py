"""The stored form of an answer: one line of JSON with everything that measures use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from trivium.answering.citation_marks import cited, without_marks
from trivium.types import Answer, Outcome, Usage

_FROZEN = ConfigDict(frozen=True, extra="forbid")
NOTHING_SPENT = Usage()


class Timing(BaseModel):
    """Median and 90th percentile over questions, in milliseconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    median: float
    p90: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Timing:
        """Compute it from the seconds of each question; zeros if there are none."""
        if not len(seconds):
            return cls(median=0.0, p90=0.0)
        milliseconds = 1000 * np.asarray(seconds)
        return cls(median=float(np.median(milliseconds)), p90=float(np.quantile(milliseconds, 0.9)))


class Said(BaseModel):
    """A statement: characters ``start`` to ``end`` of the answer, as in :class:`trivium.types.Statement`."""

    model_config = _FROZEN

    start: int
    end: int
    citations: tuple[int, ...]
    support: float
    supported: bool


class Cited(BaseModel):
    """A citation: the number in the text, and the chunk."""

    model_config = _FROZEN

    number: int
    uri: str


class Answered(BaseModel):
    """The answer to a question with the context of a ``row``.

    ``hits`` are the chunks found, best first, and ``offered`` the numbers (ranks, from 1) of those that the reader
    was given: as many as fit into its window. ``seconds`` is the total time and ``search_seconds`` the part until the
    passages were found. Tokens are those the reader read and wrote; ``search_..._tokens`` are those of language
    models that selected or reranked passages, and ``rerank_..._tokens`` the part of these for reranking. ``warnings``
    are failures that were worked around, such as that of a reranker.
    """

    model_config = _FROZEN

    row: str
    question: str
    text: str
    outcome: Outcome
    statements: tuple[Said, ...]
    citations: tuple[Cited, ...]
    hits: tuple[str, ...]
    offered: tuple[int, ...]
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    search_seconds: float
    search_prompt_tokens: int = 0
    search_completion_tokens: int = 0
    rerank_prompt_tokens: int = 0
    rerank_completion_tokens: int = 0
    warnings: tuple[str, ...] = ()
    confidence: float | None = None

    @classmethod
    def of(
        cls,
        row: str,
        question: str,
        answer: Answer,
        offered: Sequence[int],
        seconds: float,
        search_seconds: float,
        search_usage: Usage = NOTHING_SPENT,
        rerank_usage: Usage = NOTHING_SPENT,
        warnings: Sequence[str] = (),
    ) -> Answered:
        """Create it from an answer to the question with the id ``question``."""
        return cls(
            row=row,
            question=question,
            text=answer.text,
            outcome=answer.outcome,
            statements=tuple(
                Said(
                    start=s.start,
                    end=s.end,
                    citations=s.citations,
                    support=s.support,
                    supported=s.supported,
                )
                for s in answer.statements
            ),
            citations=tuple(Cited(number=c.number, uri=c.uri) for c in answer.citations),
            hits=tuple(hit.uri for hit in answer.passages),
            offered=tuple(offered),
            prompt_tokens=answer.usage.prompt_tokens,
            completion_tokens=answer.usage.completion_tokens,
            seconds=seconds,
            search_seconds=search_seconds,
            search_prompt_tokens=search_usage.prompt_tokens,
            search_completion_tokens=search_usage.completion_tokens,
            rerank_prompt_tokens=rerank_usage.prompt_tokens,
            rerank_completion_tokens=rerank_usage.completion_tokens,
            warnings=tuple(warnings),
            confidence=answer.confidence,
        )

    @property
    def usage(self) -> Usage:
        """Tokens of the reader."""
        return Usage(self.prompt_tokens, self.completion_tokens)

    @property
    def search_usage(self) -> Usage:
        """Tokens of the language models that selected or reranked passages."""
        return Usage(self.search_prompt_tokens, self.search_completion_tokens)

    @property
    def rerank_usage(self) -> Usage:
        """The part of these for reranking."""
        return Usage(self.rerank_prompt_tokens, self.rerank_completion_tokens)

    @property
    def said(self) -> str:
        """The text without citation marks."""
        return without_marks(self.text)

    @property
    def refused(self) -> bool:
        """Whether the answer says that nothing was found. If a language model said so, the text continues with the
        closest passages, which it did not write.
        """
        return self.outcome == "absent" or (self.outcome == "closest" and self.completion_tokens > 0)

    @property
    def context(self) -> tuple[str, ...]:
        """The chunks that were offered, best first."""
        return tuple(self.hits[number - 1] for number in self.offered)

    def marks(self) -> list[tuple[int, str | None]]:
        """Every number cited in the text, by a statement or in the list of citations, with the chunk that the list
        assigns to it (None if it does not).
        """
        named: dict[int, str | None] = {citation.number: citation.uri for citation in self.citations}
        numbers = [*cited(self.text), *(number for s in self.statements for number in s.citations)]
        return [*{**dict.fromkeys(numbers), **named}.items()]

    def points_to_offered(self, number: int, uri: str | None) -> bool:
        """Whether a citation refers to a passage that the reader was given, and the list assigns no other chunk to
        it.
        """
        return number in self.offered and uri in (None, self.hits[number - 1])
