"""Progress bars for the terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

STAGES = {
    "parse": "Reading",
    "read": "Reading",
    "shards": "Shards",
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
    "upgrade": "Upgrading",
}


class _Rate(ProgressColumn):
    """Items per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", style="progress.data.speed")


class Reporter:
    """Progress of named stages; call it with (stage, done, total)."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(STAGES.get(stage, stage), total=total)
        self._progress.update(self._tasks[stage], completed=done, total=total)


class LateReporter:
    """Progress of one stage that is shown only after ``patience`` seconds. Call it often."""

    def __init__(self, bars: Progress, stage: str, patience: float) -> None:
        self._bars = bars
        self._report = Reporter(bars)
        self._stage = stage
        self._begins = time.monotonic() + patience
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        if not self._shown and time.monotonic() >= self._begins:
            self._shown = True
            self._bars.start()
        if self._shown:
            self._report(self._stage, done, total)

    def end(self) -> None:
        """Leave the bar as it is."""
        if self._shown:
            self._bars.stop()


@contextmanager
def reporter(console: Console, disable: bool) -> Iterator[Reporter]:
    """Show progress bars with rate and remaining time unless disabled."""
    with _bars(console, disable) as bars:
        yield Reporter(bars)


@contextmanager
def late_reporter(console: Console, stage: str, patience: float) -> Iterator[LateReporter]:
    """Show a progress bar if the block takes longer than ``patience`` seconds."""
    late = LateReporter(_bars(console, disable=False), stage, patience)
    try:
        yield late
    finally:
        late.end()


def _bars(console: Console, disable: bool) -> Progress:
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=console,
        disable=disable,
    )
