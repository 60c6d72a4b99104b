"""Uploads documents designed to exhaust a server, and checks whether it survives.

    python benchmarks/hostile_uploads.py --store my-store

Starts ``trivium serve`` on a copy of the store. Prints for every attack the outcome, the peak resident memory of the
server and of each parser process (Linux), and the median search latency during and before it. Finally stops the server
in the middle of an attack, and prints how long that took.
"""

from __future__ import annotations

import gzip
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from experiments import command

QUESTION = "Who discovered the moons of Mars?"


def array_of_empty_objects() -> bytes:
    """Return a gzip file of 280 kB that unpacks to 280 MB of JSON, several gigabytes as Python objects."""
    return gzip.compress(b"[" + b"{}," * 93_000_000 + b"{}]")


def array_of_bad_records() -> bytes:
    """Return the same with elements each of which is reported as invalid."""
    return gzip.compress(b'[{"title":"A","text":"b"},' + b'{"a":1},' * 30_000_000 + b"{}]")


def bad_lines() -> bytes:
    """Return a gzip file of 11 kB that unpacks to 11 MB of lines without a record."""
    return gzip.compress(b'{"title":"A","text":"b"}\n' + b"x\n" * 5_500_000)


def values_in_one_record() -> bytes:
    """Return a record whose JSON contains ten million objects."""
    return b'{"title":"A","text":"b","c":[' + b"{}," * 9_900_000 + b"{}]}"


def attributes(count: int) -> bytes:
    """Return an element with that many attributes."""
    return b"<title>T</title><p " + b" ".join(b"a%d" % i for i in range(count)) + b">x</p>"


def hidden_attributes(count: int) -> bytes:
    """Return an element with that many attributes between quoted tags, which a scan of the bytes does not detect."""
    return b"<title>T</title><p " + b" ".join(b"a%d='</b>'" % i for i in range(count)) + b">x</p>"


def nested_headings() -> bytes:
    """Return a heading of 400 kB above 2,500 others."""
    return b"<title>T</title><h2>" + b"x" * 400_000 + b"</h2>" + b"<h3>y</h3><p>z</p>" * 2_500


def equal_headings() -> bytes:
    """Return 16,000 headings of one name."""
    return b"<title>T</title>" + b"<h2>Same</h2><p>x</p>" * 16_000


def long_names() -> bytes:
    """Return a heading of 4 kB that is part of the uris of 200,000 chunks."""
    return b"<title>T</title><h2>" + b"word " * 760 + b"</h2>" + b"<p>x</p>" * 200_000


def many_records() -> bytes:
    """Return 57 MB of records."""
    return b"".join(b'{"title":"R %d","text":"%s"}\n' % (i, b"some text " * 80) for i in range(68_000))


ATTACKS: dict[str, Callable[[], bytes]] = {
    "gzip of an array of {}": array_of_empty_objects,
    "gzip of an array of bad records": array_of_bad_records,
    "gzip of bad lines": bad_lines,
    "ten million values in a record": values_in_one_record,
    "100,000 attributes": lambda: attributes(100_000),
    "1,000,000 attributes": lambda: attributes(1_000_000),
    "150,000 attributes, hidden": lambda: hidden_attributes(150_000),
    "long heading over 2,500": nested_headings,
    "16,000 equal headings": equal_headings,
    "long name in 200,000 uris": long_names,
}


@contextmanager
def server(store: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``trivium serve`` on a free port; yields the process and its address."""
    command = [sys.executable, "-m", "trivium", "serve", "--store", str(store), "--port", "0", *options]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert running.stdout is not None
        found = re.search(r"http://\S+/", running.stdout.readline())
        if found is None:
            sys.exit("the server did not start")
        while requests.get(f"{found.group()}ready", timeout=60).status_code != 200:
            time.sleep(0.1)
        yield running, found.group()
    finally:
        running.kill()
        running.wait()


class Watch:
    """Samples the memory of a process and its children, and ``asks`` questions, until it is closed."""

    def __init__(self, process: int, address: str, asks: bool = True) -> None:
        self.own = 0.0  # peak, in megabytes
        self.child = 0.0
        self.both = 0.0
        self.seconds: list[float] = []
        self._process = process
        self._address = address
        self._closing = threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._look, self._ask)[: 1 + asks]]

    def __enter__(self) -> Watch:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        for thread in self._threads:
            thread.join()

    def _look(self) -> None:
        while not self._closing.wait(0.02):
            own = resident(self._process)
            children = [resident(child) for child in children_of(self._process)]
            self.own = max(self.own, own)
            self.child = max([self.child, *children])
            self.both = max(self.both, own + sum(children))

    def _ask(self) -> None:
        with requests.Session() as session:
            while not self._closing.wait(0.05):
                started = time.perf_counter()
                session.post(f"{self._address}search", json={"question": QUESTION}, timeout=60)
                self.seconds.append(time.perf_counter() - started)

    @property
    def median(self) -> float:
        """Median milliseconds of a search."""
        return 1e3 * statistics.median(self.seconds) if self.seconds else float("nan")


def resident(process: int) -> float:
    """Return the resident memory of a process in megabytes."""
    try:
        found = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0.0
    return int(found.group(1)) / 1e3 if found else 0.0


def children_of(process: int) -> list[int]:
    """Return the process ids of the children of all threads of a process."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def upload(address: str, name: str, content: bytes) -> dict[str, Any]:
    """Upload a document and return its job."""
    answer = requests.post(f"{address}documents", files={"files": (name, content)}, timeout=120)
    return {"state": str(answer.status_code)} if answer.status_code != 202 else answer.json()


def ended(address: str, job: dict[str, Any], until: float) -> dict[str, Any]:
    """Return a job once it has ended, or its state at the deadline."""
    while job["state"] in ("queued", "running") and time.perf_counter() < until:
        time.sleep(0.1)
        job = requests.get(f"{address}jobs/{job['id']}", timeout=60).json()
    return job


def told(job: dict[str, Any]) -> str:
    """Return a short description of the outcome of a job."""
    report = job.get("report") or {}
    problems = [problem["reason"] for problem in report.get("problems", [])]
    counts = (
        f"{report.get('added', 0)} added, {len(problems) + report.get('problems_left_out', 0):,} problems"
    )
    return f"{job['state']}, {counts}" + (f": {problems[-1][:100]}" if problems else "")


def main() -> None:
    """Run all attacks and print the results."""
    parser = command.Parser(__doc__, takes="several minutes")
    parser.add_argument("--store", type=command.existing, required=True)
    parser.add_argument("--only", help="Run only attacks whose names contain this.", default="")
    parser.add_argument(
        "--large", type=int, default=6, help="Number of concurrent uploads of 57 MB at the end."
    )
    parser.add_argument(
        "--seconds", type=float, default=90.0, help="Maximum time to wait for an accepted upload."
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(shutil.copytree(given.store, Path(folder) / "store"))
        with server(store) as (running, address):
            with Watch(running.pid, address) as idle:
                time.sleep(5)
            print(f"idle: {idle.own:.0f} MB, a search {idle.median:.1f} ms")
            print("attack | bytes | seconds | MB server, parser, both | search ms | outcome")
            for name, make in ATTACKS.items():
                if given.only in name:
                    attack(name, make(), running.pid, address, given.seconds)
            upload(address, "slow.html", hidden_attributes(400_000))
            time.sleep(2)
            print(f"SIGTERM while a document is parsed: ended after {seconds_to_end(running):.1f} s")
        if given.large:
            with server(store) as (running, address):
                name = f"{given.large} times 57 MB at once"
                attack(name, many_records(), running.pid, address, given.seconds, given.large)
                print(f"SIGTERM while it is embedded: ended after {seconds_to_end(running):.1f} s")


def seconds_to_end(running: subprocess.Popen[str]) -> float:
    """Stop the server and return the seconds until it has ended."""
    started = time.perf_counter()
    running.send_signal(signal.SIGTERM)
    running.wait(120)
    return time.perf_counter() - started


def attack(name: str, content: bytes, process: int, address: str, patience: float, times: int = 1) -> None:
    """Upload a document and print a line with the outcome."""
    started = time.perf_counter()
    with Watch(process, address) as watch:
        jobs: list[dict[str, Any]] = []
        threads = [
            threading.Thread(target=lambda: jobs.append(upload(address, "attack", content)))
            for _ in range(times)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        outcomes = [ended(address, job, started + patience) for job in jobs]
    seconds = time.perf_counter() - started
    memory = f"{watch.own:.0f}, {watch.child:.0f}, {watch.both:.0f}"
    print(
        f"{name} | {len(content):,} | {seconds:.1f} | {memory} | {watch.median:.1f} | {told(outcomes[0])}",
        flush=True,
    )


if __name__ == "__main__":
    command.run(main)
