"""An application of one's own under gunicorn: what its clients see while the store changes and its workers are replaced.

    python benchmarks/own_app.py --store my-store --questions questions.jsonl --clients 50 --seconds 20

Starts ``examples/fastapi_app.py`` with two uvicorn workers on a copy of the store. Every client asks one question after
the other by POST, each on a new connection, as proxies do. After a third of the time a document is added by ``trivium
build``, and the workers are asked until all of them have found it; after two thirds SIGHUP replaces the workers. Prints
the answers by status, latencies, after how long each worker found the document, and the memory. No request is repeated,
since a client cannot know what became of a POST. Ends with 1 if any request failed, or a worker did not find the
document, or was not replaced. Clients and server share the cores of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import numpy as np
from server_load import Client, children_of, memory

from experiments import command
from trivium.datasets.questions import read_questions

EXAMPLES = Path(__file__).parents[1] / "examples"
ADDED = "The ferry of Arlen was repaired by Mira Falk in 1931.\n"
QUESTION = "Who repaired the ferry of Arlen?"
PATIENCE = 60.0
"""Seconds until a worker has found a document, or was replaced."""


@dataclass(slots=True)
class Seen:
    """What the clients saw. Times are in seconds."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    found_after: dict[int, float] = field(default_factory=dict)
    workers: list[set[int]] = field(default_factory=list)
    replaced_after: float = float("nan")
    megabytes: float = float("nan")

    @property
    def sound(self) -> bool:
        """Whether all went as it should."""
        before, after = self.workers
        found = set(self.found_after) == before
        return set(self.statuses) == {"200"} and found and not before & after and len(after) == len(before)


async def ask(port: int, seen: Seen, question: str) -> bytes:
    """Ask a question on a new connection, as a proxy does."""
    client = Client("127.0.0.1", port)
    try:
        status, answer = await client.ask("POST", "/search", json.dumps({"question": question}).encode())
    except (OSError, asyncio.IncompleteReadError) as error:
        seen.statuses[type(error).__name__] += 1
        return b""
    finally:
        client.close()
    seen.statuses[str(status)] += 1
    return answer


async def keep_asking(port: int, questions: Iterator[str], seen: Seen, until: float) -> None:
    """One client."""
    while time.monotonic() < until:
        started = time.perf_counter()
        await ask(port, seen, next(questions))
        seen.seconds.append(time.perf_counter() - started)


async def workers_that(port: int, question: str | None, expected: bytes) -> set[int]:
    """Ask some workers, each on a connection of its own, and return those whose answer contains ``expected``."""
    found = set()
    body = json.dumps({"question": question}).encode()
    for _ in range(4):
        client = Client("127.0.0.1", port)
        with suppress(OSError, asyncio.IncompleteReadError):
            _, told = await client.ask("GET", "/ready")
            answer = told if question is None else (await client.ask("POST", "/search", body))[1]
            if expected in answer:
                found.add(json.loads(told)["process"])
        client.close()
    return found


async def load(
    master: subprocess.Popen[bytes], port: int, store: Path, given: argparse.Namespace, questions: list[str]
) -> Seen:
    """The whole run."""
    seen, started = Seen(), time.monotonic()
    asked = cycle(questions)
    clients = [keep_asking(port, asked, seen, started + given.seconds) for _ in range(given.clients)]
    running = asyncio.gather(*clients)
    await asyncio.sleep(given.seconds / 3)
    seen.workers.append(set(children_of(master.pid)))
    document = store.parent / "ferry.txt"
    document.write_text(ADDED)
    command = [sys.executable, "-m", "trivium", "build", str(document), "--store", str(store)]
    build = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL)
    if await build.wait():
        sys.exit("the document could not be added")
    added = time.monotonic()
    while set(seen.found_after) != seen.workers[0] and time.monotonic() < added + PATIENCE:
        for worker in await workers_that(port, QUESTION, b"Mira Falk"):
            seen.found_after.setdefault(worker, time.monotonic() - added)
    await asyncio.sleep(max(0.0, started + given.seconds * 2 / 3 - time.monotonic()))
    seen.megabytes = memory(master.pid)
    master.send_signal(signal.SIGHUP)
    sent = time.monotonic()
    while time.monotonic() < sent + PATIENCE:
        now = set(children_of(master.pid))
        if not now & seen.workers[0] and len(now) == given.workers:
            seen.replaced_after = time.monotonic() - sent
            break
        await asyncio.sleep(0.1)
    await running
    seen.workers.append(set(children_of(master.pid)))
    return seen


@contextmanager
def gunicorn(store: Path, workers: int) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The application on a free port, once all its workers answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "fastapi_app:app", "--chdir", str(EXAMPLES)]
    command += ["--worker-class", "uvicorn_worker.UvicornWorker", "--workers", str(workers)]
    command += ["--bind", f"127.0.0.1:{port}", "--log-level", "warning", "--no-control-socket"]
    master = subprocess.Popen(command, env={**os.environ, "TRIVIUM_STORE": str(store)})
    try:
        asyncio.run(started_workers(port, workers))
        yield master, port
    finally:
        master.terminate()
        master.wait(60)


async def started_workers(port: int, count: int) -> None:
    """Wait until so many workers answer."""
    deadline, found = time.monotonic() + PATIENCE, set[int]()
    while len(found) < count:
        if time.monotonic() > deadline:
            sys.exit(
                "the application did not start: is the extra `serve` installed, with gunicorn, uvicorn-worker?"
            )
        await asyncio.sleep(0.1)
        found |= await workers_that(port, None, b"process")


def main() -> int:
    """Run, print, and return the exit code."""
    parser = command.Parser(
        __doc__, takes="half a minute more than --seconds", packages=("gunicorn", "uvicorn-worker", "fastapi")
    )
    parser.add_argument("--store", type=command.existing, required=True)
    parser.add_argument("--questions", type=command.existing, nargs="+", required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30.0)
    given = parser.parse_args()
    questions = [question.text for file in given.questions for question in read_questions(file)]
    with tempfile.TemporaryDirectory() as folder:
        store = Path(shutil.copytree(given.store, Path(folder) / "store"))
        with gunicorn(store, given.workers) as (master, port):
            seen = asyncio.run(load(master, port, store, given, questions))
    report(given, seen)
    return 0 if seen.sound else 1


def report(given: argparse.Namespace, seen: Seen) -> None:
    """Print what was seen."""
    told = ", ".join(f"{status}: {count:,}" for status, count in sorted(seen.statuses.items()))
    print(f"{given.clients} clients, {given.workers} workers, {given.seconds:g} s")
    print(f"answers        {told}")
    print(f"a second       {len(seen.seconds) / given.seconds:.1f}")
    for share in (50, 95, 99):
        print(f"p{share}            {1000 * float(np.percentile(seen.seconds, share)):.0f} ms")
    print(f"longest        {1000 * max(seen.seconds):.0f} ms")
    after = ", ".join(f"{seconds:.1f} s" for seconds in seen.found_after.values())
    print(f"a document     found by {len(seen.found_after)} workers, {after} after the command that added it")
    print(f"SIGHUP         all workers are new after {seen.replaced_after:.1f} s")
    print(f"memory         {seen.megabytes:.0f} MB, shared pages once")


if __name__ == "__main__":
    command.run(main)
