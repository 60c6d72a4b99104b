"""The stopwatch and what is made of its laps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from trivium.evaluation.latency import Stopwatch, timings


def test_every_moment_counts_to_one_stage() -> None:
    """Started at 10; embedded at 11, two retrievers back at 13 and 14, in order (with them) at 14.5, texts at 16."""
    clock = iter([10.0, 11.0, 13.0, 14.0, 14.5, 16.0])
    watch = Stopwatch(lambda: next(clock))
    watch.start()
    for stage in ("embed", "retrieve", "retrieve", None, "fetch"):
        watch.lap(stage)
    assert watch.stop() == {"embed": 1.0, "retrieve": 3.5, "fetch": 1.5, "total": 6.0}


def test_a_stopped_watch_does_nothing() -> None:
    watch = Stopwatch(lambda: pytest.fail("a stopped watch looked at the clock"))
    watch.lap("embed")
    assert watch.stop() == {"total": 0.0}


def test_threads_that_share_a_stage_share_its_time() -> None:
    """Eight hundred laps, each a tick after the one before, whoever takes it: 800 ticks in all."""
    ticks = count()
    watch = Stopwatch(lambda: float(next(ticks)))
    watch.start()
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(lambda: [watch.lap("retrieve") for _ in range(100)]) for _ in range(8)]:
            done.result()
    assert watch.stop() == {"retrieve": 800.0, "total": 800.0}


def test_timings_are_medians_and_ninetieth_percentiles_in_milliseconds() -> None:
    """1 to 11 ms: the middle is 6, the tenth of eleven values is 10. Signals in two searches of eleven: median 0."""
    laps = [{"embed": n / 1000, "total": n / 1000} for n in range(1, 12)]
    laps[3]["signals"] = laps[7]["signals"] = 0.005
    found = timings(laps)
    assert list(found) == ["embed", "signals", "total"]
    assert (found["embed"].median, found["embed"].p90) == pytest.approx((6.0, 10.0))
    assert (found["signals"].median, found["signals"].p90) == pytest.approx((0.0, 5.0))
