"""Loads a server with many concurrent clients and checks whether it remains stable.

    python benchmarks/server_load.py --store my-store --questions questions.jsonl --clients 50 --seconds 60 --changing

Starts ``trivium serve`` on a copy of the store. Every client asks one question after the other on its own connection;
all go through the list together, so that with more than a thousand questions no vector comes from the server's memory.
Answers come from the server's cache only with ``--cache``.
Prints the answers by status, throughput, latencies, the processor time of one request, and the memory of the server's
processes at the quarters of the run (Linux; shared pages count once). With ``--changing``, another client adds and
deletes documents as fast as the server shows them, or with ``--every 1`` one a second. ``--requests`` continues until
that many requests were answered, to see whether memory grows. ``--ask`` requests answers instead of passages, every
second question with three earlier ones as a conversation, and ``--where`` adds a filter on documents. Clients and
server share the cores of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments import command
from trivium.datasets.questions import read_questions

_PAGE = """<!doctype html><title>Load {n}</title><h1>Load {n}</h1><p>The document number {n} of a test, which speaks of
<a href="/wiki/Earth">Earth</a> and is gone in a moment.</p>"""


@dataclass(slots=True)
class Outcome:
    """Observations of the clients. Times are in seconds."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    failed_changes: int = 0
    megabytes: list[float] = field(default_factory=list)
    server_seconds: float = 0.0  # of processor, of the process that accepts requests
    children_seconds: float = 0.0  # of processor, of the processes it started
    client_seconds: float = 0.0


class Client:
    """A connection that is reopened after it was closed."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, bytes]:
        """Return the status and body of an answer."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(*self._address)
        assert self._reader is not None
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"content-length: (\d+)", answer)
        content = await self._reader.readexactly(int(length.group(1)) if length else 0)
        if "connection: close" in answer:
            self.close()
        return int(answer.split(" ")[1]), content

    @property
    def connected(self) -> bool:
        """Whether the connection of the request before is still open."""
        return self._reader is not None and not self._reader.at_eof()

    def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


@contextmanager
def server(store: Path, options: list[str]) -> Iterator[tuple[int, str, int]]:
    """Run ``trivium serve`` on a free port; yields process, host and port."""
    command = [sys.executable, "-m", "trivium", "serve", "--store", str(store), "--port", "0", *options]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert running.stdout is not None
        found = re.search(r"http://([^:/]+):(\d+)/", running.stdout.readline())
        if found is None:
            sys.exit("the server did not start")
        yield running.pid, found.group(1), int(found.group(2))
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(60)


async def ready(client: Client) -> None:
    """Wait until the server answers questions."""
    while (await client.ask("GET", "/ready"))[0] != 200:
        await asyncio.sleep(0.1)


def memory(process: int) -> float:
    """Return the memory of a process and its children in megabytes; shared pages are divided among the processes using
    them.
    """
    folder = Path(f"/proc/{process}")
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", (folder / "smaps_rollup").read_text(), re.MULTILINE)
        children = children_of(process)
    except OSError:
        return float("nan")
    own = int(found.group(1)) / 1e3 if found else float("nan")
    return own + sum(memory(child) for child in children)


def processor_seconds(process: int) -> tuple[float, float]:
    """Return the processor time of a process, and that of its children, also of those that have ended."""
    try:
        spent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    own, ended = (sum(map(int, spent[at : at + 2])) / os.sysconf("SC_CLK_TCK") for at in (11, 13))
    return own, ended + sum(sum(processor_seconds(child)) for child in children_of(process))


def children_of(process: int) -> list[int]:
    """Return the running children of a process."""
    tasks = list(Path(f"/proc/{process}/task").iterdir())
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


async def watch_memory(process: int, until: Any, outcome: Outcome) -> None:
    """Sample the memory once a second until the deadline."""
    while not until():
        outcome.megabytes.append(memory(process))
        await asyncio.sleep(1)


async def ask_on(client: Client, path: str, bodies: Iterator[bytes], until: Any, outcome: Outcome) -> None:
    """Ask one question after the other until the deadline."""
    while not until():
        await ask_one(client, path, next(bodies), outcome)


async def ask_one(client: Client, path: str, body: bytes, outcome: Outcome) -> None:
    """Send one search or ask request."""
    started = time.perf_counter()
    try:
        status, _ = await client.ask("POST", path, body)
        outcome.statuses[str(status)] += 1
    except (OSError, asyncio.IncompleteReadError) as error:
        outcome.statuses[type(error).__name__] += 1
        client.close()
    outcome.seconds.append(time.perf_counter() - started)


async def change_on(client: Client, until: Any, outcome: Outcome, every: float) -> None:
    """Add and delete a document repeatedly until the deadline, one ``every`` so many seconds, or as soon as
    the one before has been shown.
    """
    for number in count():
        if until():
            return
        page = _PAGE.format(n=number).encode()
        boundary = "load-test"
        part = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="load.html"\r\n\r\n'
        form = part.encode() + page + f"\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        for request in (("POST", "/documents", form, kind), ("DELETE", f"/documents/Load%20{number}")):
            started = time.perf_counter()
            status, answer = await client.ask(*request)
            job = json.loads(answer)
            while status == 202 and job["state"] in ("queued", "running"):
                await asyncio.sleep(0.02)
                _, answer = await client.ask("GET", f"/jobs/{job['id']}")
                job = json.loads(answer)
            outcome.changes.append(time.perf_counter() - started)
            outcome.failed_changes += status != 202 or job["state"] != "done"
            await asyncio.sleep(max(0.0, started + every - time.perf_counter()))


async def load(
    process: int, host: str, port: int, given: argparse.Namespace, bodies: list[bytes]
) -> tuple[Outcome, float]:
    """Return the outcome and the duration in seconds."""
    watch = Client(host, port)
    await ready(watch)
    path = "/ask" if given.ask else "/search"
    for body in bodies[:50]:
        await watch.ask("POST", path, body)
    outcome, started = Outcome(), time.perf_counter()
    server_before, children_before = processor_seconds(process)
    client_before = time.process_time()

    def until() -> bool:
        if given.requests is not None:
            return len(outcome.seconds) >= given.requests
        return time.perf_counter() - started >= given.seconds

    clients = [Client(host, port) for _ in range(given.clients)]
    asked = cycle(bodies)
    work = [ask_on(client, path, asked, until, outcome) for client in clients]
    work.append(watch_memory(process, until, outcome))
    if given.changing:
        work.append(change_on(Client(host, port), until, outcome, given.every))
    await asyncio.gather(*work)
    seconds = time.perf_counter() - started
    server_after, children_after = processor_seconds(process)
    outcome.server_seconds = server_after - server_before
    outcome.children_seconds = children_after - children_before
    outcome.client_seconds = time.process_time() - client_before
    for client in (watch, *clients):
        client.close()
    return outcome, seconds


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="half a minute more than --seconds")
    parser.add_argument("--store", type=command.existing, required=True)
    parser.add_argument("--questions", type=command.existing, nargs="+", required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--requests", type=int, help="Continue until that many requests were answered, however long it takes."
    )
    parser.add_argument("--changing", action="store_true", help="Add and delete documents meanwhile.")
    parser.add_argument(
        "--every", type=float, default=0.0, help="Seconds between the beginnings of two changes (default 0)."
    )
    parser.add_argument("--explain", action="store_true", help="Request explanations, too.")
    parser.add_argument("--ask", action="store_true", help="Request answers, half of them in a conversation.")
    parser.add_argument("--where", help="A filter on documents, as in `trivium search --where`.")
    parser.add_argument("--processes", type=int, help="--processes of the server.")
    parser.add_argument("--cache", type=int, default=0, help="--cache of the server, in megabytes.")
    given = parser.parse_args()
    asked = [question.text for file in given.questions for question in read_questions(file)]
    bodies = [json.dumps(request(given, asked, place)).encode() for place in range(len(asked))]
    options = [
        part
        for name, value in (
            ("--processes", given.processes),
            ("--cache", given.cache),
        )
        if value is not None
        for part in (name, str(value))
    ]
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(given.store, Path(folder) / "store")
        with server(copy, options) as (process, host, port):
            outcome, seconds = asyncio.run(load(process, host, port, given, bodies))
    report(given, outcome, seconds)


def request(given: argparse.Namespace, asked: list[str], place: int) -> dict[str, Any]:
    """Return the request body for a question."""
    body: dict[str, Any] = {"question": asked[place], "k": 10, "where": given.where}
    if not given.ask:
        body["explain"] = given.explain
    elif place % 2:
        before = [asked[place - back] for back in (3, 2, 1)]
        body["history"] = [{"question": text, "answer": f"I was asked: {text}"} for text in before]
    return {name: value for name, value in body.items() if value is not None}


def report(given: argparse.Namespace, outcome: Outcome, seconds: float) -> None:
    """Print the results."""
    changing = ", documents coming and going" if given.changing else ""
    grid = Table(title=f"{given.clients} clients, {seconds:.0f} s{changing}", show_header=False)
    grid.add_row("answers", ", ".join(f"{status}: {n:,}" for status, n in sorted(outcome.statuses.items())))
    grid.add_row("a second", f"{len(outcome.seconds) / seconds:.1f}")
    for share in (50, 95, 99):
        grid.add_row(f"p{share}", f"{1000 * float(np.percentile(outcome.seconds, share)):.0f} ms")
    grid.add_row("longest", f"{1000 * max(outcome.seconds):.0f} ms")
    spent = (outcome.server_seconds, outcome.children_seconds, outcome.client_seconds)
    server, children, clients = (1000 * part / max(1, len(outcome.seconds)) for part in spent)
    grid.add_row(
        "processor",
        f"{server + children:.1f} ms a request: {server:.1f} of the server, {children:.1f} of its processes;"
        f" {clients:.1f} more of the clients",
    )
    if given.changing and outcome.changes:
        median = 1000 * float(np.median(outcome.changes))
        grid.add_row(
            "changes", f"{len(outcome.changes)}, {outcome.failed_changes} failed, median {median:.0f} ms"
        )
    last = len(outcome.megabytes) - 1
    quarters = [outcome.megabytes[last * part // 4] for part in range(5)]
    grid.add_row("memory", " → ".join(f"{megabytes:.0f}" for megabytes in quarters) + " MB")
    Console().print(grid)


if __name__ == "__main__":
    command.run(main)
