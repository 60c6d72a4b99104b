"""A server as a process."""

from __future__ import annotations

import os
import re
import resource
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import requests


@contextmanager
def serve(
    store: Path | str, *options: str, log: IO[str] | int = subprocess.PIPE
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and its address as it printed it. ``log``: for its stderr. A pipe that nobody reads is
    full after some 400 requests."""
    arguments = ["-m", "trivium", "serve", "--store", str(store), "--port", "0", *options]
    with started(arguments, log) as server:
        yield server


@contextmanager
def started(
    arguments: Sequence[str], log: IO[str] | int = subprocess.PIPE, files: int | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """What Python runs with these arguments, and the address it prints. ``log``: for its stderr. ``files``: how many it
    may open."""

    def limit() -> None:
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    running = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env={**os.environ, "COLUMNS": "100", "PYTHONUNBUFFERED": "1"},
        preexec_fn=limit,
    )
    try:
        assert running.stdout is not None
        assert select.select([running.stdout], [], [], 60)[0], "it said nothing"
        line = running.stdout.readline()
        found = re.search(r"http://\S+/", line)
        assert found is not None, (line, running.poll())
        yield running, found.group()
    finally:
        if running.poll() is None:
            running.kill()
        running.communicate()


def ready(address: str) -> None:
    """Wait until it can answer questions."""
    deadline = time.monotonic() + 60
    while requests.get(f"{address}ready", timeout=60).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def host_and_port(address: str) -> tuple[str, int]:
    """For a socket."""
    host, _, port = address.removeprefix("http://").rstrip("/").rpartition(":")
    return host, int(port)
