"""Calls a reranker within a time limit and validates its scores, and what rerankers share to keep to it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import TypeVar

from trivium.common import stopping
from trivium.common.stopping import Stop, StoppedError
from trivium.errors import RerankError, said
from trivium.rerank.reranker import Deadline, RerankCandidate, Reranker

MAX_RUNNING = 32
"""Maximum number of calls at once in a process, including abandoned ones that have not ended."""

_running = threading.BoundedSemaphore(MAX_RUNNING)

T = TypeVar("T")
R = TypeVar("R")


def score_within(
    reranker: Reranker, question: str, candidates: Sequence[RerankCandidate], seconds: float
) -> list[float]:
    """Return a finite score for each candidate. Raises RerankError with the reason when the reranker fails, returns
    anything else, or has not answered within ``seconds``; it is then asked to stop and abandoned. Raises StoppedError
    when the search has been abandoned.
    """
    if not candidates:
        return []
    if not _running.acquire(blocking=False):
        raise RerankError(f"{MAX_RUNNING} earlier calls have not ended")
    call = _Call(reranker, question, candidates, seconds)
    try:
        call.start()
    except RuntimeError as error:  # too many threads
        _running.release()
        raise RerankError(said(error)) from error
    return _checked(call.answer_within(seconds), len(candidates))


class _Call:
    """A reranker working in a separate thread."""

    def __init__(
        self, reranker: Reranker, question: str, candidates: Sequence[RerankCandidate], seconds: float
    ) -> None:
        self._asked = (reranker, question, tuple(candidates), Deadline(seconds))
        self._stop = Stop()
        self._told = threading.Event()  # it has ended, or has been abandoned
        self._answer: object = None
        self._error: BaseException | None = None
        self._ended = False

    def start(self) -> None:
        """Start the call. Its slot is released when it ends, however late."""
        context = copy_context()
        # A daemon thread, so that a call that never ends cannot block the exit of the interpreter.
        threading.Thread(target=lambda: context.run(self._work), name="rerank", daemon=True).start()

    def answer_within(self, seconds: float) -> object:
        """Return its answer. Raises RerankError when it failed or has not answered in time, and StoppedError."""
        try:
            with stopping.calling(self._told.set):
                self._told.wait(seconds)
            stopping.check()
        finally:
            self._stop.ask()
        if not self._ended:
            raise RerankError(f"no answer within {seconds:g} s")
        if self._error is not None:
            raise RerankError(said(self._error) or type(self._error).__name__) from self._error
        return self._answer

    def _work(self) -> None:
        reranker, question, candidates, deadline = self._asked
        try:
            with self._stop.in_force():
                self._answer = reranker.rerank(question, candidates, deadline)
            self._ended = True
        except StoppedError:
            pass
        except Exception as error:  # a custom reranker may raise anything
            self._error, self._ended = error, True
        finally:
            _running.release()
            self._told.set()


def _checked(answer: object, count: int) -> list[float]:
    if isinstance(answer, str | bytes) or not hasattr(answer, "__iter__"):
        raise RerankError(f"expected {count} scores, got {type(answer).__name__}")
    try:
        scores = [float(score) for score in answer]
    except (TypeError, ValueError) as error:
        raise RerankError("expected numbers as scores, got something else") from error
    if len(scores) != count:
        raise RerankError(f"expected {count} scores, got {len(scores)}")
    if not all(map(math.isfinite, scores)):
        raise RerankError("expected finite scores, got one that is not")
    return scores


def at_once(work: Callable[[T], R], items: Sequence[T], threads: int, deadline: Deadline) -> list[R]:
    """Apply ``work`` to each item in ``threads`` threads and return the results in order. Raises the first error of an
    item, RerankError when the time is up, and StoppedError when asked to stop. In these cases no further item is
    started, and running ones are abandoned.
    """
    todo = iter(range(len(items)))
    made: dict[int, R] = {}
    errors: list[BaseException] = []
    lock = threading.Lock()
    told = threading.Event()

    def next_place() -> int | None:
        with lock:
            return None if errors or told.is_set() else next(todo, None)

    def work_through() -> None:
        try:
            while (place := next_place()) is not None:
                deadline.check()
                stopping.check()
                result = work(items[place])
                with lock:
                    made[place] = result
                    if len(made) == len(items):
                        told.set()
        except BaseException as error:  # raised by the waiting thread
            errors.append(error)
            told.set()

    for _ in range(min(threads, len(items))):
        context = copy_context()  # contains the stop in force, so that requests to an endpoint are aborted
        threading.Thread(target=lambda context=context: context.run(work_through), daemon=True).start()
    if items:
        with stopping.calling(told.set):
            told.wait()
        stopping.check()
    if errors:
        raise errors[0]
    return [made[place] for place in range(len(items))]
