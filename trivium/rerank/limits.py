"""Calls a reranker within a time limit and validates its scores."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from contextvars import copy_context

from trivium.common import stopping
from trivium.common.stopping import Stop, StoppedError
from trivium.errors import RerankError, said
from trivium.rerank.base import Deadline, RerankCandidate, Reranker

MAX_RUNNING = 32
"""Maximum number of calls at once in a process, including abandoned ones that have not ended."""

_running = threading.BoundedSemaphore(MAX_RUNNING)


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
