"""Runs libraries that read untrusted files: a program for one file, which imports nothing of this package."""

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


def run_once(
    program: Path, arguments: Sequence[str], given: Iterable[bytes], *, most: int, seconds: float
) -> tuple[int, bytes]:
    """Run a Python file with ``given`` as its standard input; return its exit code (negative if it was killed) and its
    output.

    It is killed after ``seconds``, and when its output exceeds ``most`` bytes, in which case one byte more is returned.
    Raises NotStartedError, and StoppedError when the result is no longer needed.
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
                # Read at most the limit, whatever the input has made of the program.
                said = process.stdout.read(most + 1)
                if len(said) > most:
                    process.kill()
        finally:
            timer.cancel()
    stopping.check()
    return process.returncode, said
