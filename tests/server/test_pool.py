"""The queue is limited, and work whose client has left is not begun."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from trivium.server.logs import request_id
from trivium.server.pool import Pool, PoolFullError


def test_one_more_than_fits_is_refused_and_places_come_free() -> None:
    gate = threading.Event()

    async def main() -> None:
        pool = Pool("test", workers=1, queue=1)
        running = [asyncio.ensure_future(pool.run(lambda: gate.wait(10))) for _ in range(2)]
        await asyncio.sleep(0)
        assert pool.taken == 2
        with pytest.raises(PoolFullError):
            await pool.run(lambda: None)
        gate.set()
        assert await asyncio.gather(*running) == [True, True]
        await asyncio.sleep(0.01)
        assert pool.taken == 0 and await pool.run(lambda: 7) == 7
        pool.close()

    asyncio.run(main())


def test_who_came_first_is_served_first() -> None:
    """The slowest answer then waits no longer than those before it take."""
    gate, served = threading.Event(), list[int]()

    def serve(number: int) -> int:
        served.append(number)
        return number

    async def main() -> None:
        pool = Pool("test", workers=1, queue=20)
        first = asyncio.ensure_future(pool.run(lambda: gate.wait(10)))
        others = [asyncio.ensure_future(pool.run(partial(serve, number))) for number in range(20)]
        await asyncio.sleep(0.02)
        assert served == []
        gate.set()
        await asyncio.gather(first, *others)
        pool.close()

    asyncio.run(main())
    assert served == list(range(20))


def test_what_is_given_up_while_it_waits_is_never_done() -> None:
    """Its place is free at once; that of what runs is kept to its end."""
    gate, done = threading.Event(), []

    async def main() -> None:
        pool = Pool("test", workers=1, queue=5)
        first = asyncio.ensure_future(pool.run(lambda: gate.wait(10)))
        second = asyncio.ensure_future(pool.run(lambda: done.append("second")))
        await asyncio.sleep(0.02)
        second.cancel()
        first.cancel()
        await asyncio.sleep(0.02)
        assert pool.taken == 1
        gate.set()
        assert await pool.run(lambda: done.append("third")) is None
        pool.close()

    asyncio.run(main())
    assert done == ["third"]


def test_a_failure_comes_back_and_the_request_goes_along() -> None:
    async def main() -> None:
        pool = Pool("test", workers=1, queue=1)
        with pytest.raises(ZeroDivisionError):
            await pool.run(lambda: 1 // 0)
        request_id.set("this one")
        assert await pool.run(request_id.get) == "this one"
        pool.close()

    asyncio.run(main())
