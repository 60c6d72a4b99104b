"""A process that is killed at a chosen moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

_AT_EVENT = """
import os, signal, sys
{imports}
last = int(sys.argv[1])
count = 0
def count_events(event, arguments):
    global count
    if event.startswith({events!r}):
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count_events)
{work}
"""
EVENTS = ("open", "os.", "sqlite3.", "shutil.", "fcntl.")
"""Python's audit events of files and databases (https://docs.python.org/3/library/audit_events.html)."""


def kill_at_event(number: int, imports: str, work: str, *arguments: str | Path) -> bool:
    """Run ``work``, Python code that finds its arguments from ``sys.argv[2]`` on, and kill it (SIGKILL) at the audit
    event of that number, from 1; False where it ended before. Raises AssertionError where it fails by itself."""
    code = _AT_EVENT.format(imports=imports, work=work, events=EVENTS)
    done = subprocess.run(
        [sys.executable, "-c", code, str(number), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=120,
        check=False,
    )
    if done.returncode == -signal.SIGKILL:
        return True
    assert done.returncode == 0, done.stderr
    return False
