"""Small things about files and the terminal: locks, atomic writes, the end of a log."""

from __future__ import annotations

import fcntl
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import ToolError


def say(line: str) -> None:
    """Tell the user what happens; on stderr, as stdout is for the answer."""
    print(line, file=sys.stderr, flush=True)


def write_text(path: Path, text: str) -> None:
    """Write a file that is whole or not there, readable by its owner only."""
    descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def tail(path: Path, *, start: int = 0, lines: int = 20) -> str:
    """The last lines of a file, counting from byte ``start``; empty when it is not there."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(start, end - 64_000))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def essence(log: str, lines: int) -> list[str]:
    """The last lines of what a Java program said, without the stacks of its exceptions."""
    kept = (line for line in log.splitlines() if line.strip())
    return [line for line in kept if not re.match(r"\s+(at |\.\.\. \d+ more)", line)][-lines:]


@contextmanager
def locked(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold a lock file, waiting up to ``timeout`` seconds; the system frees it even if we are killed.

    Raises ToolError when another process keeps it.
    """
    with path.open("a") as file:
        deadline = time.monotonic() + timeout
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ToolError(
                        f"another command has been at work on {path.parent} for {timeout:.0f} s;"
                        " wait for it to end and try again"
                    ) from None
            if not told:
                say(f"waiting for another command at work on {path.parent} ...")
                told = True
            time.sleep(0.1)
        yield
