"""The questions of a batch are embedded ahead of the one that is searched for: embedders do not hold Python's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from types import TracebackType
from typing import Self

from trivium.graph.records import Vectors

_AHEAD = 2
"""How many questions; more would only lie in wait."""


class Ahead:
    """A context manager around the searches for ``texts``, in their order. ``embed`` makes a unit vector (d,) of one."""

    def __init__(self, texts: Sequence[str], embed: Callable[[str], Vectors]) -> None:
        self._texts, self._embed = texts, embed
        self._begun: list[Future[Vectors]] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ahead") if len(texts) > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)

    def vector(self, number: int) -> Vectors:
        """The vector of a question; those behind it are begun. An error of the embedder is raised here."""
        if self._thread is None:
            return self._embed(self._texts[number])
        for text in self._texts[len(self._begun) : number + 1 + _AHEAD]:
            self._begun.append(self._thread.submit(copy_context().run, self._embed, text))
        return self._begun[number].result()
