"""The table of the jobs: whatever happens, nothing that was accepted is lost, done twice or overtaken."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from trivium.server import job_table
from trivium.server.job_table import (
    Change,
    JobTable,
    QueueFullError,
)

LIMIT = 4
"""Jobs that may wait."""


class Life(RuleBasedStateMachine):
    """A table and a list of what should be in it: jobs are submitted and done; servers end and begin."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.table = JobTable(Path(self.folder.name) / "jobs.db")
        self.waiting: list[str] = []
        self.running: str | None = None
        self.starts: dict[str, int] = {}
        self.ended: dict[str, str] = {}
        self.order: list[str] = []

    @rule()
    def submit(self) -> None:
        change = Change(Change.new_id(), "add", None, ("a.html", "ä.html"), 7)
        if len(self.waiting) >= LIMIT:
            with pytest.raises(QueueFullError):
                self.table.add(change, LIMIT)
            return
        assert self.table.add(change, LIMIT).state == "queued"
        self.waiting.append(change.id)
        self.order.append(change.id)

    @rule()
    @precondition(lambda self: self.running is None)
    def take(self) -> None:
        taken = self.table.take()
        if not self.waiting:
            assert taken is None
            return
        self.running = self.waiting.pop(0)
        self.starts[self.running] = self.starts.get(self.running, 0) + 1
        change = Change(self.running, "add", None, ("a.html", "ä.html"), 7)
        assert taken == (change, self.starts[self.running])

    @rule()
    @precondition(lambda self: self.running is not None)
    def finish(self) -> None:
        assert self.running is not None
        self.table.end(self.running, "done", {"added": 1})
        self.ended[self.running] = "done"
        self.running = None

    @rule()
    def crash(self) -> None:
        """The server is killed and another one begins."""
        self._restart(counted=True)

    @rule()
    def stop(self) -> None:
        """The server is told to end, and another one begins."""
        self.table.put_back(counted=False)
        if self.running is not None:
            self.starts[self.running] -= 1
        self._restart(counted=True)

    def _restart(self, *, counted: bool) -> None:
        self.table.close()
        self.table = JobTable(Path(self.folder.name) / "jobs.db")
        self.table.put_back(counted=counted)
        if self.running is not None:
            self.waiting.insert(0, self.running)
        self.running = None

    @invariant()
    def nothing_is_lost_or_overtaken(self) -> None:
        jobs = self.table.recent(1000)
        assert [job.id for job in reversed(jobs)] == self.order
        states = {job.id: job.state for job in jobs}
        assert states == {
            **dict.fromkeys(self.waiting, "queued"),
            **({} if self.running is None else {self.running: "running"}),
            **self.ended,
        }
        unfinished = {*self.waiting, *([] if self.running is None else [self.running])}
        assert self.table.unfinished() == unfinished
        queue = self.table.queue()
        assert (queue.waiting, queue.bytes) == (len(self.waiting), 7 * len(unfinished))
        assert (queue.oldest_seconds > 0) <= bool(self.waiting)

    def teardown(self) -> None:
        self.table.close()
        self.folder.cleanup()


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)


def test_a_table_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """It had other columns, jobs that replaced a page (uploads now), and jobs that were cancelled."""
    table = JobTable(tmp_path / "jobs.db")
    table._connection.executescript(
        "ALTER TABLE job ADD COLUMN key TEXT; ALTER TABLE job ADD COLUMN cancelling INTEGER NOT NULL DEFAULT 0;"
        "PRAGMA user_version = 1"
    )
    table.add(Change("c", "add"), 2)
    table._connection.execute("UPDATE job SET state = 'cancelled', finished = created")
    table.add(Change("a", "replace", "Mars", ("mars.md",)), 2)  # type: ignore[arg-type]
    table.close()
    table = JobTable(tmp_path / "jobs.db")
    table.add(Change("b", "add"), 2)
    assert table.take() == (Change("a", "add", names=("mars.md",)), 1)
    assert [job.id for job in table.recent(10)] == ["b", "a"]
    table.close()


def test_the_last_jobs_that_ended_are_remembered_and_all_that_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_table, "REMEMBERED", 3)
    table = JobTable(tmp_path / "jobs.db")
    for number in range(8):
        table.add(Change(str(number), "add"), 10)
    for number in range(5):
        table.take()
        table.end(str(number), "done", {})
    assert [job.id for job in table.recent(100)] == ["7", "6", "5", "4", "3", "2"]
    table.close()
