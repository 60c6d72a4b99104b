"""Programs of this package that work on what may be hostile: each run in a process apart, within limits."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from trivium.common import stopping


class NotStartedError(Exception):
    """A program cannot be started."""


def run_apart(
    program: Path, arguments: Sequence[str], given: Iterable[bytes], *, most: int, seconds: float
) -> tuple[int, bytes]:
    """Run a Python file on what is ``given`` to its standard input: its exit code (negative where it was killed) and what
    it says. It is killed after ``seconds``, and when it says more than ``most`` bytes: one more is returned then.

    Raises NotStartedError, and StoppedError where nobody waits for it any more.
    """
    stopping.check()
    with tempfile.TemporaryFile() as file:
        file.writelines(given)
        file.seek(0)
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", str(program), *arguments],
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise NotStartedError(str(error)) from error
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            with process, stopping.calling(process.kill):
                assert process.stdout is not None
                # No more than there can be, whatever the input has made of the program.
                said = process.stdout.read(most + 1)
                if len(said) > most:
                    process.kill()
        finally:
            timer.cancel()
    stopping.check()
    return process.returncode, said
