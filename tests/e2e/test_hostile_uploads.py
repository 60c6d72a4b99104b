"""Documents that are made to exhaust a server cost it neither its memory nor its answers, and it still ends when told."""

from __future__ import annotations

import gzip
import re
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import requests

from tests.e2e.test_server import QUESTION, ready, serve
from tests.waiting import until

SLOW = b"<title>Slow</title><p " + b" ".join(b"a%d='</b>'" % i for i in range(150_000)) + b">x</p>"
MOST_MEGABYTES = 1_000


def attacks() -> dict[str, bytes]:
    """Files by what is wrong with them. Not made when tests are collected: it takes a second."""
    return {
        "array": gzip.compress(b"[" + b"{}," * 30_000_000 + b"{}]", 1),
        "lines": gzip.compress(b'{"title":"A","text":"b"}\n' + b"x\n" * 1_000_000),
        "values": b'{"title":"A","text":"b","c":[' + b"{}," * 6_000_000 + b"{}]}",
        "attributes": b"<title>T</title><p " + b" ".join(b"a%d" % i for i in range(100_000)) + b">x</p>",
        "headings": b"<title>T</title><h2>" + b"x" * 400_000 + b"</h2>" + b"<h3>y</h3><p>z</p>" * 2_500,
        "equal headings": b"<title>T</title>" + b"<h2>Same</h2><p>x</p>" * 16_000,
    }


def resident(process: int) -> float:
    """Megabytes that a process holds, and its children. One that is just being made still has the memory of its parent,
    and its command line: it does not count yet."""
    try:
        folder = Path(f"/proc/{process}")
        found = re.search(r"^VmRSS:\s+(\d+) kB", (folder / "status").read_text(), re.MULTILINE)
        children = [
            c for task in (folder / "task").iterdir() for c in (task / "children").read_text().split()
        ]
    except OSError:
        return 0.0
    command = command_line(process)
    made = [child for child in children if command_line(int(child)) != command]
    return (int(found.group(1)) / 1e3 if found else 0.0) + sum(resident(int(child)) for child in made)


def command_line(process: int) -> bytes:
    """Nothing of a process that has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


@contextmanager
def watched(process: int) -> Iterator[list[float]]:
    """What it holds, again and again."""
    seen: list[float] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.02):
            seen.append(resident(process))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def search(address: str) -> float:
    """Seconds that a search takes."""
    started = time.perf_counter()
    assert requests.post(f"{address}search", json={"question": QUESTION}, timeout=60).status_code == 200
    return time.perf_counter() - started


def upload(address: str, content: bytes) -> str:
    answer = requests.post(f"{address}documents", files={"files": ("attack", content)}, timeout=60)
    assert answer.status_code == 202
    return f"{address}jobs/{answer.json()['id']}"


def is_over(job: str) -> bool:
    state: dict[str, Any] = requests.get(job, timeout=60).json()
    return state["state"] in ("done", "failed")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
@pytest.mark.slow
def test_hostile_uploads_cost_little_memory_and_searches_go_on(sample_store: Path, tmp_path: Path) -> None:
    with serve(Path(copytree(sample_store, tmp_path / "store"))) as (running, address):
        ready(address)
        before = statistics.median(search(address) for _ in range(15))
        with watched(running.pid) as megabytes:
            jobs = [upload(address, content) for content in attacks().values()]
            during: list[float] = []
            while not is_over(jobs[-1]):  # they are done one after the other
                during.append(search(address))
                assert running.poll() is None
                time.sleep(0.1)  # nobody reads the server's log, which must not fill its pipe
        assert all(map(is_over, jobs))
        assert max(megabytes) < MOST_MEGABYTES
        # Twice as long is the aim; a busy machine of two cores has the parser, the server and the tests on it.
        assert statistics.median(during) < 3 * before + 0.02
        slow = upload(address, SLOW)
        until(lambda: requests.get(slow, timeout=60).json()["state"] == "running")
        started = time.monotonic()
        running.send_signal(signal.SIGTERM)
        running.wait(15)
        assert time.monotonic() - started < 10
