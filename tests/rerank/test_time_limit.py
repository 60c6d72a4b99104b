"""A reranker that fails, answers nonsense or takes too long: its result is dropped, and the search does not wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.rerank.candidates import candidates
from trivium.common import stopping
from trivium.common.stopping import Stop, StoppedError
from trivium.errors import ChatModelError, RerankError
from trivium.rerank import time_limit
from trivium.rerank.reranker import Deadline, RerankCandidate
from trivium.rerank.time_limit import score_within


class Scripted:
    """Answers with whatever a function gives."""

    name, views, independent = "scripted", (), True

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    def rerank(self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline) -> Any:
        return self.answer()


def _raising(error: BaseException) -> Callable[[], Any]:
    def answer() -> Any:
        raise error

    return answer


def test_scores_come_through_as_numbers() -> None:
    assert score_within(Scripted(lambda: (2, 1.5)), "?", candidates("x", "y"), 5) == [2.0, 1.5]


def test_without_passages_nobody_is_asked() -> None:
    assert score_within(Scripted(_raising(AssertionError())), "?", [], 5) == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ([1.0], "expected 2 scores, got 1"),
        ([1.0, 2.0, 3.0], "expected 2 scores, got 3"),
        ([1.0, float("nan")], "expected finite scores"),
        ([1.0, float("inf")], "expected finite scores"),
        (["high", "low"], "expected numbers"),
        ([1.0, None], "expected numbers"),
        ("12", "got str"),
        (None, "got NoneType"),
        (7, "got int"),
    ],
)
def test_anything_but_a_score_for_each_is_an_error(answer: Any, why: str) -> None:
    with pytest.raises(RerankError, match=why):
        score_within(Scripted(lambda: answer), "?", candidates("x", "y"), 5)


@pytest.mark.parametrize(
    "error", [ChatModelError("the endpoint is down"), ZeroDivisionError("the endpoint is down")]
)
def test_any_error_becomes_one_kind_with_its_reason(error: Exception) -> None:
    with pytest.raises(RerankError, match="the endpoint is down") as caught:
        score_within(Scripted(_raising(error)), "?", candidates("x", "y"), 5)
    assert caught.value.__cause__ is error


def test_one_that_hangs_is_left_behind_when_the_time_is_up() -> None:
    """It checks neither the deadline nor the stop, and the search goes on without it."""
    hung = threading.Event()
    began = time.monotonic()
    with pytest.raises(RerankError, match=r"no answer within 0\.2 s"):
        score_within(Scripted(lambda: hung.wait(60)), "?", candidates("x", "y"), 0.2)
    assert time.monotonic() - began < 10
    hung.set()


def test_when_the_time_is_up_the_work_is_told_to_stop() -> None:
    stopped = threading.Event()

    def answer() -> Any:
        try:
            stopping.sleep(60)
        except StoppedError:
            stopped.set()
            raise

    with pytest.raises(RerankError, match="no answer within"):
        score_within(Scripted(answer), "?", candidates("x", "y"), 0.1)
    assert stopped.wait(10)


def test_where_nobody_waits_for_the_search_any_more_it_ends_at_once() -> None:
    stop = Stop()
    threading.Timer(0.1, stop.ask).start()
    began = time.monotonic()
    with stop.in_force(), pytest.raises(StoppedError):
        score_within(Scripted(lambda: time.sleep(20)), "?", candidates("x", "y"), 60)
    assert time.monotonic() - began < 15


def test_calls_that_never_end_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One place: while a hung call has it, the next is refused at once; when it ends, there is room again."""
    monkeypatch.setattr(time_limit, "_running", threading.BoundedSemaphore(1))
    hung = threading.Event()
    with pytest.raises(RerankError, match="no answer"):
        score_within(Scripted(lambda: hung.wait(60)), "?", candidates("x", "y"), 0.1)
    with pytest.raises(RerankError, match="earlier calls have not ended"):
        score_within(Scripted(lambda: [1, 2]), "?", candidates("x", "y"), 5)
    hung.set()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            assert score_within(Scripted(lambda: [1, 2]), "?", candidates("x", "y"), 5) == [1.0, 2.0]
            return
        except RerankError:
            time.sleep(0.01)
    pytest.fail("the place was not given back")


def test_a_deadline_counts_down() -> None:
    assert Deadline().left == float("inf")
    Deadline(60).check()
    passed = Deadline(0)
    assert passed.left == 0
    with pytest.raises(RerankError, match="time is up"):
        passed.check()
