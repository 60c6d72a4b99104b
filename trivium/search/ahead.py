"""Embeds the next questions of a batch while the current one is searched for. Embedders release the GIL, so the two
overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from types import TracebackType
from typing import Self

from trivium.graph.records import Vectors

_AHEAD = 2
"""How many questions to embed in advance. More would only wait in memory."""


class Ahead:
    """Context manager around the searches for ``texts``, in their order. ``embed`` maps a text to a unit vector (d,)."""

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
        """Return the vector of question ``number`` and start embedding the next ones. Raises the embedder's errors."""
        if self._thread is None:
            return self._embed(self._texts[number])
        for text in self._texts[len(self._begun) : number + 1 + _AHEAD]:
            self._begun.append(self._thread.submit(copy_context().run, self._embed, text))
        return self._begun[number].result()
