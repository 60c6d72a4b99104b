"""The interpreter that has imported the package already behaves like one started anew."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import until

SCRIPT = """
import os, sys
sys.stdout.write(f"{sys.argv} {__name__} {os.getcwd()} {os.environ.get('ASKED')} {sys.stdin.read()}")
sys.stderr.write("err\\n")
sys.exit(7)
"""


@pytest.mark.parametrize("how", ["text", "file", "standard input"])
def test_it_runs_what_python_runs_with_the_same_end(python: Path, tmp_path: Path, how: str) -> None:
    """Arguments, name, folder, environment, the three streams and the exit code."""
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    arguments = {
        "text": ["-c", SCRIPT, "--more"],
        "file": ["script.py", "--more"],
        "standard input": ["-", "--more"],
    }[how]
    given = SCRIPT if how == "standard input" else "given"
    environment = {**os.environ, "ASKED": "yes"}
    ours, real = (
        subprocess.run(
            [command, *arguments],
            cwd=tmp_path,
            env=environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
        )
        for command in (python, sys.executable)
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (real.returncode, real.stdout, real.stderr)
    assert ours.returncode == 7 and "yes" in ours.stdout


def test_it_writes_in_the_encoding_it_is_told(python: Path) -> None:
    """And shows what that lacks on the error stream as Python does."""
    text = "import sys; print('\\xe9'); sys.stderr.write('\\u2713')"
    ours, real = (
        subprocess.run(
            [command, "-c", text],
            env={**os.environ, "PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            timeout=120,
        )
        for command in (python, sys.executable)
    )
    assert (ours.stdout, ours.stderr) == (real.stdout, real.stderr) == (b"\xe9\n", b"\\u2713")


def test_each_run_begins_with_what_was_imported_and_nothing_else(python: Path) -> None:
    """What one leaves behind no other sees."""
    text = "import sys; print('trivium.cli' in sys.modules, hasattr(sys, 'left')); sys.left = 1"
    for _ in range(2):
        done = subprocess.run([python, "-c", text], capture_output=True, text=True, timeout=120)
        assert done.stdout == "True False\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it_as_it_ends_python(python: Path, number: signal.Signals) -> None:
    """The command ends by the signal, and what it ran is gone."""
    text = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with subprocess.Popen(
        [python, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as command:
        assert command.stdout is not None
        child = int(command.stdout.readline())
        command.send_signal(number)
        assert command.wait(timeout=120) == -number
        assert command.stdout.read() == ""  # its end of the pipe is closed
    # Its streams close before the system has reaped it, so that its number may live on for a moment.
    until(lambda: not _exists(child))


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
