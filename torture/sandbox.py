"""Work in a process of its own, forked from this one, which has imported everything already and holds no thread."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.waiting import until

Work = Callable[[], Any]
EVENTS = ("open", "os.", "sqlite3.", "shutil.", "fcntl.")
"""Python's audit events of files and databases (https://docs.python.org/3/library/audit_events.html)."""
_PR_SET_PDEATHSIG = 1
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_LIVE: set[Child] = set()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its exit code (the negative number of a signal), what its work returned (as JSON), and all
    that it printed."""

    code: int
    value: Any
    output: str


class Child:
    """A process at work. It is the first of a session, so that all it starts can be found."""

    def __init__(self, work: Work) -> None:
        # Both outlive this object only in the child.
        self._value = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `wait`
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        # A signal that comes before the child is ready waits until it is.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        self.pid = os.fork()
        if self.pid == 0:
            _run(work, self._value.fileno(), self._output.fileno(), mask)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._status: int | None = None
        _LIVE.add(self)

    def ended(self) -> bool:
        """Whether the process has ended. If so, it is reaped."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
        return self._status is not None

    def send(self, number: int) -> None:
        """Send the process a signal, unless it has ended."""
        if not self.ended():
            os.kill(self.pid, number)

    def printed(self) -> str:
        """Return what the process and its children have printed so far."""
        size = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), size, 0).decode("utf-8", "replace")

    def wait(self, seconds: float = 120.0) -> Ended:
        """Wait for its end. Raises AssertionError where it takes longer, after killing it and all it has started."""
        deadline = time.monotonic() + seconds
        pause = 0.0005
        while not self.ended():
            if time.monotonic() > deadline:
                self.kill()
                raise AssertionError(
                    f"did not end within {seconds:g} s; it printed: {self.printed()[-2000:]}"
                )
            time.sleep(pause)
            pause = min(0.01, pause * 1.5)
        assert self._status is not None
        _LIVE.discard(self)
        self._value.seek(0)
        text = self._value.read()
        ended = Ended(
            os.waitstatus_to_exitcode(self._status), json.loads(text) if text else None, self.printed()
        )
        self._value.close()
        return ended

    def kill(self) -> None:
        """Kill the process and every process of its session."""
        for pid in {self.pid, *self.others()}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        until(self.ended)
        _LIVE.discard(self)

    def others(self) -> list[int]:
        """Return the other processes of its session that have not ended."""
        return [pid for pid in _sessions().get(self.pid, []) if pid != self.pid]


def kill_all() -> None:
    """End every process that is still at work, as when a run is interrupted."""
    for child in list(_LIVE):
        child.kill()


def work_in_child(work: Work, seconds: float = 120.0) -> Any:
    """What ``work`` returns, as JSON. Raises AssertionError with all it printed where it fails or takes longer."""
    ended = Child(work).wait(seconds)
    assert ended.code == 0, _why(ended)
    return ended.value


def _why(ended: Ended) -> str:
    lines = ended.output.strip().splitlines() or [""]
    return f"{lines[-1][:600]} (exit code {ended.code})\n{ended.output[-3000:]}"


def count_events(work: Work) -> int:
    """How many audit events of files and databases ``work`` brings about, which runs in this process."""
    counted = 0

    def count(event: str, _: Any) -> None:
        nonlocal counted
        counted += event.startswith(EVENTS)

    sys.addaudithook(count)
    work()
    return counted


def end_at_event(number: int, how: signal.Signals) -> None:
    """Send this process a signal at the audit event of that number, from 1."""
    counted = 0

    def count(event: str, _: Any) -> None:
        nonlocal counted
        if event.startswith(EVENTS):
            counted += 1
            if counted == number:
                os.kill(os.getpid(), how)

    sys.addaudithook(count)


def _run(work: Work, value: int, output: int, mask: set[signal.Signals]) -> None:
    """In the child, which blocks some signals until it is ready for them; never returns."""
    code = 1
    try:
        _end_with_parent()
        os.setsid()
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
        text = json.dumps(work()).encode()
        os.pwrite(value, text, 0)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _end_with_parent() -> None:
    """Have the system kill this process when its parent ends, for whatever reason."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _sessions() -> dict[int, list[int]]:
    """The processes of each session."""
    found: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if not path.name.isdigit():
            continue
        try:
            # After the name in parentheses: state, parent, group, session.
            state, _, _, session = (path / "stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if state not in "ZX":
            found.setdefault(int(session), []).append(int(path.name))
    return found
