"""Types of progress callbacks, and the progress of work that a caller did not ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

Progress = Callable[[int, int], None]
"""Called with (done, total)."""
StageProgress = Callable[[str, int, int], None]
"""Called with (stage, done, total)."""

Display = Callable[[str], AbstractContextManager[Progress]]
"""Shows the progress of a stage within a block, if the block takes long enough to be worth it."""
unasked: ContextVar[Display | None] = ContextVar("unasked", default=None)
"""Shows work that whoever began something did not ask for, such as the upgrade of a store that is opened."""


@contextmanager
def unasked_progress(stage: str) -> Iterator[Progress | None]:
    """Yield what shows the progress of unasked work; None if nobody wants to see it. It may be called often, and with
    the same numbers, to say that the work goes on."""
    display = unasked.get()
    if display is None:
        yield None
        return
    with display(stage) as report:
        yield report
