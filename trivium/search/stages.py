"""The stages of a search, and the one hook through which others watch them: timing, serving and comparing use it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

from trivium.common import stopping

StageName = Literal["live", "embed", "retrieve", "score", "signals", "fuse", "rerank", "fetch"]

STAGES: tuple[StageName, ...] = ("embed", "retrieve", "score", "signals", "fuse", "fetch")
"""In their order: embed the question, ask the retrievers, score every candidate in every view, gather the signals that a
trained fusion wants, fuse and order, fetch the texts. A search that names live sources has the stage ``live`` before
them, one that names a reranker the stage ``rerank`` before the last."""


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage of a search has ended, ``seconds`` after it began. ``retriever`` names the retriever that was at work in
    the stages ``retrieve`` and ``score``; several may be at work where the store is a server or a core is idle."""

    stage: StageName
    seconds: float
    retriever: str = ""


StageObserver = Callable[[StageEnded], None]
"""Called at the end of every stage, from the thread that worked on it. It should be quick and must not raise."""


def ignore_stages(_: StageEnded) -> None:
    """The observer that looks away."""


class observed:  # noqa: N801 - used like a function
    """A context manager that tells ``observe`` how long its block took, unless it raises. Raises StoppedError where
    nobody waits any more. A class, since a search begins dozens of stages."""

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
