"""``pip install`` that says how far it is: run by the Makefile with the new environment's Python, so that it uses the
standard library only.

    .venv/bin/python tools/pip_install.py -c constraints.txt -e '.[serve]'

At a terminal it is one line that changes, elsewhere a line for each step and one every half minute. Under ``CI=true`` it
is ``pip install --quiet``.
"""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections import deque
from pathlib import Path
from typing import TextIO

_COLLECTING = re.compile(r"\s*Collecting ([\w.-]+)")
_DOWNLOADING = re.compile(r"\s*(?:Downloading|Using cached) (\S+) \(([\d.]+) ([kMG]?B)\)")
_INSTALLING = re.compile(r"Installing collected packages: (.*)")
_MEGABYTES = {"B": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
_KEPT = 25
"""So many last lines of pip are shown when it fails."""
_EVERY = 30.0
"""Seconds between lines where there is no terminal."""


class Report:
    """What pip has done so far, read from its lines."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.megabytes = 0.0
        self.step = "asking the package index"
        self.before: int | None = None
        """Packages that were there when pip began to unpack, which is all it says of that step."""

    def read(self, line: str) -> bool:
        """Take a line of pip's; whether a new step begins with it."""
        if found := _COLLECTING.match(line):
            self.found.add(found[1].lower())
            if not self.step.startswith("getting"):
                self.step = "getting packages"
                return True
            self.step = f"getting packages: {found[1]}"
        elif found := _DOWNLOADING.match(line):
            self.megabytes += float(found[2]) * _MEGABYTES[found[3]]
            self.step = f"getting packages: {found[1].split('-')[0]} ({found[2]} {found[3]})"
        elif found := _INSTALLING.match(line):
            count = len(found[1].split(","))
            self.step = f"unpacking {count} packages, a minute or two"
            self.before = _unpacked()
            return True
        return False

    def __str__(self) -> str:
        done = "" if self.before is None else f" ({_unpacked() - self.before} done)"
        return f"{len(self.found):>4} found, {self.megabytes:,.0f} MB   {self.step}{done}"


def install(arguments: list[str], told: TextIO) -> int:
    """Run pip with these arguments and tell how far it is; gives its exit code."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    if os.environ.get("CI", "").lower() in ("1", "true"):
        return subprocess.run([*command, "--quiet", *arguments], check=False).returncode
    started = shown = time.monotonic()
    report, last = Report(), deque[str](maxlen=_KEPT)
    changing = told.isatty()
    with subprocess.Popen(
        [*command, "--progress-bar", "off", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as pip:
        assert pip.stdout is not None
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(pip.stdout, lines), daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=0.5)
            except queue.Empty:
                line = ""
            if line is None:
                break
            last.append(line)
            now = time.monotonic()
            if (report.read(line) or now - shown >= _EVERY) or changing:
                shown = now
                _tell(told, f"{now - started:4.0f} s  {report}", changing)
        code = pip.wait()
    seconds = time.monotonic() - started
    if changing:
        told.write("\n")
    if code != 0:
        told.write("".join(last))
        told.write(
            f"pip failed after {seconds:.0f} s (see above); the same command goes on with what is there\n"
        )
    else:
        told.write(f"{seconds:4.0f} s  done\n")
    return code


def _unpacked() -> int:
    return sum(1 for _ in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def _read(source: TextIO, lines: queue.SimpleQueue[str | None]) -> None:
    for line in source:
        lines.put(line)
    lines.put(None)


def _tell(told: TextIO, line: str, changing: bool) -> None:
    if changing:
        width = shutil.get_terminal_size().columns - 1
        told.write(f"\r{line[:width]:<{width}}")
    else:
        told.write(f"{line}\n")
    told.flush()


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:], sys.stderr))
