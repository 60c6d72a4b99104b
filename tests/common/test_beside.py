"""Work that another thread does meanwhile: it has ended when the block is left, and never more than cores are idle."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from trivium.common import idle_cores as module
from trivium.common.cache import Memo
from trivium.common.idle_cores import Beside, alone, for_each


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread beside the one that asks, whatever machine this is."""
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    monkeypatch.setattr(module, "_HELPERS", module._Helpers())


def test_work_has_ended_when_the_block_is_left() -> None:
    release, done = threading.Event(), []

    def work() -> None:
        release.wait(10)
        done.append(threading.current_thread())

    with Beside() as beside:
        assert beside.begin(work)
        assert done == []
        release.set()
    assert [thread is threading.current_thread() for thread in done] == [False]


def test_work_has_ended_when_an_error_leaves_the_block() -> None:
    release, done = threading.Event(), []

    def work() -> None:
        release.wait(10)
        done.append("done")

    with pytest.raises(ZeroDivisionError), Beside() as beside:
        beside.begin(work)
        release.set()
        _ = 1 // 0
    assert done == ["done"]


def test_nothing_is_begun_while_no_core_is_idle() -> None:
    release = threading.Event()
    with Beside() as beside:
        assert beside.begin(lambda: release.wait(10))
        assert not beside.begin(lambda: None)
        release.set()
    with Beside() as beside:
        assert beside.begin(lambda: None)


def test_nothing_is_begun_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_cores", lambda: 1)
    monkeypatch.setattr(module, "_HELPERS", module._Helpers())
    with Beside() as beside:
        assert not beside.begin(lambda: None)


def test_nothing_is_begun_by_who_wants_to_be_alone() -> None:
    with Beside() as beside:
        with alone():
            assert not beside.begin(lambda: None)
        assert beside.begin(lambda: None)


def test_an_error_is_for_who_asks_for_the_outcome_and_the_core_is_idle_again() -> None:
    memo = Memo()
    with Beside() as beside:
        beside.begin(lambda: memo.of("answer", lambda: 1 // 0))
    with pytest.raises(ZeroDivisionError):
        memo.of("answer", lambda: 1)
    with Beside() as beside:
        assert beside.begin(lambda: None)


def test_work_sees_the_context_of_who_began_it() -> None:
    context: ContextVar[str] = ContextVar("context", default="none")
    context.set("own")
    seen: list[str] = []
    with Beside() as beside:
        beside.begin(lambda: seen.append(context.get()))
    assert seen == ["own"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    with Beside() as beside:
        beside.begin(lambda: None)
    os.register_at_fork(after_in_child=module._HELPERS.forget)  # as the module does for its own
    child = os.fork()
    if child == 0:
        done: list[int] = []
        with Beside() as beside:
            beside.begin(lambda: done.append(1))
        os._exit(0 if done else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_what_is_asked_for_by_many_is_made_once() -> None:
    made: list[int] = []
    memo = Memo()

    def make() -> int:
        made.append(1)
        return len(made)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: memo.of("key", make), range(64))) == {1}


def test_each_item_is_worked_on_once_by_two_threads_and_answers_are_in_order() -> None:
    both = threading.Barrier(2, timeout=10)
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item < 2:
            both.wait()  # nobody passes alone
        return item * item

    assert for_each(range(20), work) == [item * item for item in range(20)]
    assert sorted(begun) == list(range(20))


def test_work_for_items_begins_no_further_threads() -> None:
    with Beside() as outer:
        assert for_each([1, 2], lambda _: Beside().begin(lambda: None)) == [False, False]
        assert outer.begin(lambda: None)


def test_after_an_error_no_item_is_begun_and_the_first_one_is_raised() -> None:
    failed = threading.Event()
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 0:
            failed.wait(10)  # the other thread fails first, at a later item
            raise ValueError("the first")
        failed.set()
        raise ValueError("the second")

    with pytest.raises(ValueError, match="the first"):
        for_each(range(20), work)
    assert sorted(begun) == [0, 1]


def test_items_of_one_core_are_done_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_cores", lambda: 1)
    monkeypatch.setattr(module, "_HELPERS", module._Helpers())
    begun: list[int] = []
    assert for_each([3, 1, 2], lambda item: begun.append(item)) == [None] * 3
    assert begun == [3, 1, 2]
