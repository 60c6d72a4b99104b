"""A second look at the first passages: a small network reads the question and each of them together.

It is the embedder bge-small with low-rank changes (``readers/bge-small.safetensors``, fitted by
``experiments/answers/fit_second_look.py``), like the reader that judges answers, so that it needs no other model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import ClassVar

from trivium.answering.reader_network import Reader, opened
from trivium.common.idle_cores import available_cores
from trivium.embedding.embedder import to_valid_text
from trivium.embedding.model_files import installed
from trivium.errors import RerankError
from trivium.rerank.reranker import Deadline, RerankCandidate
from trivium.rerank.time_limit import at_once

EMBEDDER = "bge-small"
TOKENS = 128
"""Tokens of question, headings and passage that are read."""
READ = 10
"""Passages that are read; those behind them stay behind them."""
WEIGHT = 0.5
"""Of the log-odds that a passage answers, beside the score of the search."""


class SmallReranker:
    """Score: that of the search plus :data:`WEIGHT` times the log-odds, by the network, that the passage answers.

    The scores of the default fusion are log-odds, too; with those of other searches the reading counts nearly alone.
    Loaded with the first question. Thread-safe.
    """

    name: ClassVar[str] = "small"
    views: ClassVar[tuple[str, ...]] = ()
    independent: ClassVar[bool] = False

    def rerank(self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline) -> list[float]:
        """Raises RerankError without the embedder's files, and when the time is up."""
        reader, asked = _reader(), to_valid_text(question)

        def read(one: RerankCandidate) -> float:
            return reader.read(asked, " > ".join(one.headings), to_valid_text(one.text))

        odds = at_once(read, candidates[:READ], available_cores(), deadline)
        odds += [min(odds, default=0.0)] * (len(candidates) - len(odds))
        return [one.score + WEIGHT * own for one, own in zip(candidates, odds, strict=True)]


@cache
def _reader() -> Reader:
    if not installed(EMBEDDER):
        raise RerankError(
            f"'small' reads with {EMBEDDER}, whose files are not on this machine: trivium models install {EMBEDDER}"
        )
    changes = files(__package__).joinpath("readers", f"{EMBEDDER}.safetensors")
    return opened(EMBEDDER, changes.read_bytes(), TOKENS)
