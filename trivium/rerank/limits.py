"""Have a reranker score passages within a time limit, and take nothing from it but what can be used."""

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
"""Calls at once in a process, counting those that nobody waits for any more and that do not end."""

_running = threading.BoundedSemaphore(MAX_RUNNING)


def score_within(
    reranker: Reranker, question: str, candidates: Sequence[RerankCandidate], seconds: float
) -> list[float]:
    """A finite score for each of the candidates. Raises RerankError that says why where the reranker fails, answers with
    anything else, or has not answered after so many ``seconds``; it is told to stop then, and not waited for. Raises
    StoppedError where nobody waits for the search any more."""
    if not candidates:
        return []
    if not _running.acquire(blocking=False):
        raise RerankError(f"{MAX_RUNNING} earlier calls have not ended")
    call = _Call(reranker, question, candidates, seconds)
    try:
        call.start()
    except RuntimeError as error:  # there are too many threads
        _running.release()
        raise RerankError(said(error)) from error
    return _checked(call.answer_within(seconds), len(candidates))


class _Call:
    """A reranker at work in a thread of its own."""

    def __init__(
        self, reranker: Reranker, question: str, candidates: Sequence[RerankCandidate], seconds: float
    ) -> None:
        self._asked = (reranker, question, tuple(candidates), Deadline(seconds))
        self._stop = Stop()
        self._told = threading.Event()  # it has ended, or nobody waits any more
        self._answer: object = None
        self._error: BaseException | None = None
        self._ended = False

    def start(self) -> None:
        """Begin. Gives its place back when it ends, however late."""
        context = copy_context()
        # A daemon, so that one which never ends does not keep the interpreter from ending.
        threading.Thread(target=lambda: context.run(self._work), name="rerank", daemon=True).start()

    def answer_within(self, seconds: float) -> object:
        """What it answered. Raises RerankError where it failed or has not answered in time, StoppedError."""
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
        except Exception as error:  # a reranker of somebody's own may raise anything
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
