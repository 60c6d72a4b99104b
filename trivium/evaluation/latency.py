"""Measures the time of each stage of a search."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from trivium.search.stages import STAGES, StageEnded

TOTAL = "total"


class Stopwatch:
    """Measures the stages of one search at a time. Every moment between :meth:`start` and :meth:`stop` counts to
    exactly one stage, so the stages sum to the total even if several threads work on one stage. Does nothing while
    stopped.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._laps: dict[str, float] | None = None
        self._last = ""
        self._since = 0.0

    def start(self) -> None:
        """Start at zero."""
        self._laps, self._last, self._since = {}, "", self._clock()

    def lap(self, stage: str | None = None) -> None:
        """Record that a stage has just ended, or (None) something that belongs to the previous stage."""
        if self._laps is None:
            return
        with self._lock:
            now = self._clock()
            self._last = self._last if stage is None else stage
            self._laps[self._last] = self._laps.get(self._last, 0.0) + now - self._since
            self._since = now

    def stage_ended(self, ended: StageEnded) -> None:
        """The observer of a search (:data:`trivium.search.stages.StageObserver`)."""
        self.lap(ended.stage)

    def stop(self) -> dict[str, float]:
        """Return the seconds since the start by stage, and their ``total``."""
        laps, self._laps = self._laps or {}, None
        return {**laps, TOTAL: sum(laps.values())}


class Timing(BaseModel):
    """Median and 90th percentile over questions, in milliseconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    median: float
    p90: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Timing:
        """Compute it from the seconds of each question; zeros if there are none."""
        if not len(seconds):
            return cls(median=0.0, p90=0.0)
        milliseconds = 1000 * np.asarray(seconds)
        return cls(median=float(np.median(milliseconds)), p90=float(np.quantile(milliseconds, 0.9)))


def timings(laps: Sequence[Mapping[str, float]]) -> dict[str, Timing]:
    """Map stages to timings, from the seconds of each search. Stages that a search did not have count as zero.

    >>> timings([{"embed": 0.001, "total": 0.001}, {"embed": 0.003, "total": 0.003}])["embed"].median
    2.0
    """
    measured = [name for name in (*STAGES, TOTAL) if any(name in lap for lap in laps)]
    return {name: Timing.of([lap.get(name, 0.0) for lap in laps]) for name in measured}
