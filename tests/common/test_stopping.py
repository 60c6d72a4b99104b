"""Work that is told to end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Generator
from contextvars import copy_context

import pytest

from trivium.common import stopping
from trivium.common.stopping import Stop, StoppedError


def test_without_a_stop_nothing_is_stopped() -> None:
    stopping.check()
    stopping.sleep(0.001)
    with stopping.calling(lambda: pytest.fail("nobody asked")):
        pass


def test_a_sleep_ends_when_the_stop_is_asked() -> None:
    stop = Stop()
    threading.Timer(0.1, stop.ask).start()
    begin = time.monotonic()
    with stop.in_force(), pytest.raises(StoppedError):
        stopping.sleep(60)
    assert time.monotonic() - begin < 5
    stopping.check()  # it is in force no longer


def test_a_call_is_made_once_whether_asked_before_or_within_and_never_afterwards() -> None:
    calls: list[str] = []
    stop = Stop()
    with stop.in_force():
        with stopping.calling(lambda: calls.append("ended before")):
            pass
        with stopping.calling(lambda: calls.append("within")):
            stop.ask()
            stop.ask()
        with stopping.calling(lambda: calls.append("asked before")):
            pass
        with pytest.raises(StoppedError):
            stopping.check()
    assert calls == ["within", "asked before"]


def test_the_inner_stop_counts_and_a_copied_context_takes_it_along() -> None:
    outer, inner = Stop(), Stop()
    with outer.in_force():
        with inner.in_force():
            context = copy_context()
        outer.ask()
        context.run(stopping.check)
        inner.ask()
        with pytest.raises(StoppedError):
            context.run(stopping.check)


def test_work_of_a_cancelled_task_stops() -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            stopping.sleep(60)
        finally:
            ended.set()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stopping.in_thread(work), 0.05)

    asyncio.run(main())
    assert ended.wait(5)


def test_items_arrive_from_a_thread_then_what_it_raises() -> None:
    threads: set[int] = set()

    def begin() -> Generator[int | None, None, None]:
        threads.add(threading.get_ident())
        yield 1
        yield None
        raise ValueError("broken")

    async def read() -> None:
        items = stopping.iterated(begin)
        assert [await anext(items), await anext(items)] == [1, None]
        with pytest.raises(ValueError, match="broken"):
            await anext(items)

    asyncio.run(read())
    assert threads.isdisjoint({threading.get_ident()})
