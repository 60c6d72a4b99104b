"""Progress on the terminal: bars, or plain lines where stderr is a file or a pipe."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from trivium.common.progress import StageProgress

STAGES = {
    "parse": "Reading",
    "read": "Reading",
    "parts": "Parts",
    "records": "Linking",
    "embed": "Embedding",
    "sentences": "Sentences",
    "index": "Indexing",
    "links": "Mapping",
    "facts": "Reading",
    "relations": "Relating",
    "types": "Typing",
    "export": "Exporting",
    "check": "Checking",
    "pages": "Pages",
    "compare": "Comparing",
    "backup": "Copying",
    "restore": "Restoring",
}


class Reporter:
    """Progress of named stages; call it with (stage, done, total)."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(STAGES.get(stage, stage), total=total)
        self._progress.update(self._tasks[stage], completed=done, total=total)


@contextmanager
def reporter(console: Console, disable: bool) -> Iterator[Reporter]:
    """Show progress bars with the remaining time unless disabled."""
    bars = Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=disable,
    )
    with bars:
        yield Reporter(bars)


FIRST = 10.0
"""Seconds after which a stage prints its first line. Short work prints nothing."""
EVERY = 30.0
"""Seconds between the lines of a stage."""


@dataclass(slots=True)
class _Stage:
    begun: float
    done_before: int
    """What was done at the first call, by an earlier run that was interrupted."""
    next_line: float
    printed: bool = False


_LOADING = ("parse", "records", "embed", "sentences")


def told_what_can_be_used(
    progress: StageProgress, console: Console, clock: Callable[[], float] = time.monotonic
) -> StageProgress:
    """Return the same progress, which says once, when loading has taken :data:`FIRST` seconds, that others can search."""
    begun: float | None = None

    def report(stage: str, done: int, total: int) -> None:
        nonlocal begun
        now = clock()
        if stage in _LOADING:
            begun = now if begun is None else begun
            if now - begun >= FIRST:
                begun = math.inf
                console.print(
                    "documents can be searched as soon as they are read: by words first, by meaning once embedded",
                    soft_wrap=True,
                )
        progress(stage, done, total)

    return report


class LineReporter:
    """Prints how far a stage is every now and then; call it with (stage, done, total). ``clock`` returns seconds."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._stages: dict[str, _Stage] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = self._clock()
        known = self._stages.setdefault(stage, _Stage(now, done, now + FIRST))
        ended = known.printed and done >= total > 0  # a reader of earlier lines wants to know
        if now < known.next_line and not ended:
            return
        known.next_line = now + EVERY
        known.printed = not ended
        parts = [
            f"{STAGES.get(stage, stage.capitalize())}: {done:,}" + (f" of {total:,}" if total > 0 else "")
        ]
        seconds, fresh = now - known.begun, done - known.done_before
        if fresh > 0 and seconds > 0:
            rate = fresh / seconds
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s")
            if total > done:
                parts.append(f"{timedelta(seconds=round((total - done) / rate))} left")
        self._console.print(", ".join(parts), soft_wrap=True, markup=False, highlight=False)
