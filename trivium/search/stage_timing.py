"""The stages of a search, and the hook to observe them, used for timing, serving and comparison."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

from trivium.common import stopping

StageName = Literal["live", "embed", "retrieve", "score", "signals", "fuse", "rerank", "fetch"]

STAGES: tuple[StageName, ...] = ("embed", "retrieve", "score", "signals", "fuse", "fetch")
"""The stages in their order: embed the question, ask the retrievers, score every candidate with every retriever,
compute the signals for a trained fusion, fuse and order, fetch the texts. Searches with live sources begin with the
stage ``live``; searches with a reranker have the stage ``rerank`` before ``fetch``.
"""


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage of a search has ended after ``seconds``. ``retriever`` is set in the stages ``retrieve`` and ``score``;
    several retrievers may run concurrently.
    """

    stage: StageName
    seconds: float
    retriever: str = ""


StageObserver = Callable[[StageEnded], None]
"""Called at the end of every stage, on the thread that ran it. It should be fast and must not raise."""


def ignore_stages(_: StageEnded) -> None:
    """An observer that does nothing."""


class observed:  # noqa: N801 - used like a function
    """Context manager that reports the duration of its block to ``observe``, unless the block raises. Raises
    StoppedError when the search was cancelled. A class rather than a generator, since a search enters dozens of
    stages.
    """

    __slots__ = ("_observe", "_retriever", "_stage", "_started")

    def __init__(self, observe: StageObserver, stage: StageName, retriever: str = "") -> None:
        self._observe, self._stage, self._retriever = observe, stage, retriever

    def __enter__(self) -> None:
        stopping.check()
        self._started = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._observe(StageEnded(self._stage, time.perf_counter() - self._started, self._retriever))
