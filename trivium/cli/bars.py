"""Progress bars for the terminal."""

from __future__ import annotations

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


@contextmanager
def reporter(console: Console, disable: bool) -> Iterator[Reporter]:
    """Show progress bars with rate and remaining time unless disabled."""
    bars = Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=console,
        disable=disable,
    )
    with bars:
        yield Reporter(bars)
