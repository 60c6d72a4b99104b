"""Embeds the next questions of a batch while the current one is searched for. Embedders release the GIL, so the two
overlap. Where other processes keep the other cores busy (:func:`trivium.common.idle_cores.alone`), groups of questions
are embedded when the first of them is needed, in the same thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from types import TracebackType
from typing import Self

from trivium.common.idle_cores import is_alone
from trivium.graph.records import Vectors

_AHEAD = 2
"""How many groups to embed in advance. More would only wait in memory."""
_LOOKED_AHEAD = 64
"""So many questions at a time are looked ahead for: with 16 or 128 a search takes up to a twentieth longer."""
_LARGEST = 128
"""Questions of a group: of so many, nine in ten have at least three others of their length beside them."""


class Ahead:
    """Context manager around the searches for ``texts``. ``embed`` maps texts to unit vectors (d,). Thread-safe.

    Texts are embedded one by one, or in groups if ``in_groups`` returns True; it is called once, when the first vector
    is needed. Groups grow, so that the first search need not wait and each group is ready before it is needed.

    Where all is done in one thread, groups do not grow, and ``look_ahead`` is called with the vectors of some questions
    of a group that come next, and that of the last question searched for; at the end with no vectors.
    """

    def __init__(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Sequence[Vectors]],
        in_groups: Callable[[], bool],
        look_ahead: Callable[[Sequence[Vectors], Vectors], object] = lambda *_: None,
    ) -> None:
        self._texts, self._embed, self._in_groups, self._look_ahead = texts, embed, in_groups, look_ahead
        self._lock = threading.Lock()
        self._largest: int | None = None
        self._begun: list[Future[Sequence[Vectors]]] = []
        self._places: list[tuple[int, int]] = []  # of each text begun: its group, and its place in that group
        self._looked = 1  # questions before this one; the first shows what others will look for
        self._last: Vectors | None = None
        self._kept = False  # whether there may be results of looking ahead
        waits = len(texts) < 2 or is_alone()  # until vectors are needed
        self._thread = None if waits else ThreadPoolExecutor(1, thread_name_prefix="ahead")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
        if kind is None and self._kept and self._last is not None:
            self._look_ahead((), self._last)  # nothing more

    def vector(self, number: int) -> Vectors:
        """Return the vector of question ``number`` and start embedding the next ones. Raises the embedder's errors."""
        ahead = 0 if self._thread is None else _AHEAD
        with self._lock:
            if self._largest is None:
                self._largest = _LARGEST if len(self._texts) > 1 and self._in_groups() else 1
            while len(self._places) < len(self._texts) and (
                len(self._places) <= number or len(self._begun) <= self._places[number][0] + ahead
            ):
                self._begin(self._largest)
            group, place = self._places[number]
        vectors = self._begun[group].result()
        self._prepare(number, vectors[place : place + _LOOKED_AHEAD])
        return vectors[place]

    def _prepare(self, number: int, coming: Sequence[Vectors]) -> None:
        """Look ahead for question ``number`` and some that follow, unless that has been done for it."""
        if self._thread is None and number >= self._looked:
            self._looked = number + len(coming)
            if self._last is not None and len(coming) > 1:
                self._kept = True
                self._look_ahead(coming, self._last)
        self._last = coming[0]

    def _begin(self, largest: int) -> None:
        first = len(self._places)
        # With a thread as many as before it: 1, 1, 2, 4, ...
        count = largest if self._thread is None else min(max(1, first), largest)
        texts = self._texts[first : first + count]
        self._places += [(len(self._begun), place) for place in range(len(texts))]
        if self._thread is not None:
            self._begun.append(self._thread.submit(copy_context().run, self._embed, texts))
            return
        done: Future[Sequence[Vectors]] = Future()
        try:
            done.set_result(self._embed(texts))
        except BaseException as error:
            done.set_exception(error)
        self._begun.append(done)
