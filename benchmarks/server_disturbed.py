"""Disturbs a server under load, and measures which requests fail and how soon it recovers.

    python benchmarks/server_disturbed.py --store my-store --questions questions.jsonl --clients 50 --processes 2

Starts ``trivium serve`` on a copy of the store on a small tmpfs (requires root) and has every client ask one question
after the other. Then, in turn, stops a search process (SIGSTOP), fills and empties the disk, and overwrites the index.
Documents are added in every phase. Prints for each phase the answers by status, latencies, the outcome of the changes,
and the recovery time: from the disturbance (or from its end, if the server cannot repair it) until an added document is
found and searches take less than twice as long as in the calm phase.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from server_load import Client, Outcome, ask_one, ready, server

from experiments import command
from trivium.datasets.questions import read_questions
from trivium.errors import InputError

SPARE_MEGABYTES = 320
"""Free space on the disk in addition to three copies of the store: indexes are built next to the ones in use, and the
server rejects additions when less than 256 MB are free.
"""
CALM_SECONDS = 5.0
LONGEST = 120.0
"""Seconds after which a phase is aborted."""
_PAGE = """<!doctype html><title>{name}</title><h1>{name}</h1>
<p>The word of this document is {name}, and no other has it.</p>"""


@dataclass(slots=True)
class Phase:
    """Events between two disturbances. Times are in seconds."""

    name: str
    outcome: Outcome = field(default_factory=Outcome)
    changes: Counter[str] = field(default_factory=Counter)
    well_after: float | None = None


class Disturbed:
    """A server under load. ``phase`` is the current one."""

    def __init__(self, process: int, host: str, port: int, store: Path) -> None:
        self.process = process
        self.store = store
        self.phases: list[Phase] = []
        self.calm = 0.0
        self._client = Client(host, port)
        self._number = 0

    @property
    def phase(self) -> Phase:
        return self.phases[-1]

    async def begin(self, name: str) -> Phase:
        """Start the next phase."""
        self.phases.append(Phase(name))
        await asyncio.sleep(0)
        return self.phase

    async def change(self) -> str | None:
        """Add a document. Returns its name if it was added, else None."""
        self._number += 1
        name = f"Quux{self._number}"
        boundary = "disturbed"
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}.html"\r\n\r\n'
        body = f"{head}{_PAGE.format(name=name)}\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        status, answer = await self.asked("POST", "/documents", body, kind)
        if status != 202:
            self.phase.changes[str(status)] += 1
            return None
        job = json.loads(answer)
        while job["state"] in ("queued", "running"):
            await asyncio.sleep(0.05)
            _, answer = await self.asked("GET", f"/jobs/{job['id']}")
            job = json.loads(answer)
        self.phase.changes[job["state"]] += 1
        return name if job["state"] == "done" else None

    async def asked(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, bytes]:
        """Return the status and body of an answer; the status is 0 if the connection broke."""
        try:
            return await self._client.ask(method, path, body, kind)
        except (OSError, asyncio.IncompleteReadError):
            self._client.close()
            return 0, b""

    async def until_well(self, since: float) -> None:
        """Wait until a new document is found and searches are as fast as in the calm phase, and record how long that
        took.
        """
        while time.perf_counter() - since < LONGEST:
            name = await self.change()
            if name is not None and await self.finds(name) and await self.is_quick():
                self.phase.well_after = time.perf_counter() - since
                return
            await asyncio.sleep(0.2)

    async def finds(self, name: str) -> bool:
        """Return whether a search for a document finds it."""
        _, answer = await self.asked("POST", "/search", json.dumps({"question": name, "k": 3}).encode())
        return name.encode() in answer

    async def is_quick(self) -> bool:
        """Return whether the next hundred searches take less than twice as long as in the calm phase."""
        seconds = self.phase.outcome.seconds
        before, started = len(seconds), time.perf_counter()
        while len(seconds) < before + 100 and time.perf_counter() - started < 10:
            await asyncio.sleep(0.05)
        return len(seconds) > before and float(np.median(seconds[before:])) < 2 * self.calm


async def stop_a_process(disturbed: Disturbed) -> None:
    """Stop a search process; the server has to detect and replace it."""
    tasks = Path(f"/proc/{disturbed.process}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    searching = [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    os.kill(searching[0], signal.SIGSTOP)
    await disturbed.until_well(time.perf_counter())


async def fill_the_disk(disturbed: Disturbed) -> None:
    """Fill the disk and request changes; then empty it."""
    filler = disturbed.store.parent / "filler"
    with filler.open("wb") as file:
        try:
            while True:
                file.write(b"x" * (1 << 20))
        except OSError:
            pass  # the disk is full
    for _ in range(5):
        await disturbed.change()
        await asyncio.sleep(0.5)
    filler.unlink()
    await disturbed.until_well(time.perf_counter())


async def damage_the_index(disturbed: Disturbed) -> None:
    """Overwrite the middle of each index file without changing its size."""
    since = time.perf_counter()
    for file in sorted((disturbed.store / "index").rglob("*")):
        size = file.stat().st_size if file.is_file() else 0
        if size:
            with file.open("r+b") as opened:
                opened.seek(size // 3)
                opened.write(os.urandom(max(1, size // 3)))
    await disturbed.until_well(since)


DISTURBANCES: dict[str, Callable[[Disturbed], Awaitable[None]]] = {
    "a process is stopped": stop_a_process,
    "the disk is full": fill_the_disk,
    "the index is damaged": damage_the_index,
}


async def run(disturbed: Disturbed, address: tuple[str, int], clients: int, bodies: list[bytes]) -> None:
    """Run all phases one after the other, with clients asking questions throughout."""
    watch = Client(*address)
    await ready(watch)
    watch.close()
    calm = await disturbed.begin("calm")
    over = False
    work = [
        asyncio.ensure_future(_ask_on(disturbed, Client(*address), bodies, 7 * n, lambda: over))
        for n in range(clients)
    ]
    await asyncio.sleep(CALM_SECONDS / 2)
    calm.outcome.seconds.clear()  # the first requests load what later ones use
    await asyncio.sleep(CALM_SECONDS)
    disturbed.calm = float(np.median(calm.outcome.seconds))
    await disturbed.until_well(time.perf_counter())
    for name, disturb in DISTURBANCES.items():
        await disturbed.begin(name)
        await disturb(disturbed)
    over = True
    await asyncio.gather(*work)


async def _ask_on(
    disturbed: Disturbed, client: Client, bodies: list[bytes], first: int, over: Callable[[], bool]
) -> None:
    """Ask one question after the other; each counts in the phase in which it ends."""
    for place in count(first):
        if over():
            client.close()
            return
        one = Outcome()
        await ask_one(client, bodies[place % len(bodies)], one)
        disturbed.phase.outcome.statuses += one.statuses
        disturbed.phase.outcome.seconds += one.seconds


def report(disturbed: Disturbed, clients: int) -> None:
    """Print the results."""
    grid = Table(title=f"{clients} clients")
    for heading in ("", "answers", "p50 ms", "p99 ms", "longest ms", "changes", "well after"):
        grid.add_column(heading)
    for phase in disturbed.phases:
        times = 1000 * np.array(phase.outcome.seconds or [float("nan")])
        grid.add_row(
            phase.name,
            ", ".join(f"{status}: {n:,}" for status, n in sorted(phase.outcome.statuses.items())),
            *(f"{value:.0f}" for value in (np.median(times), np.percentile(times, 99), times.max())),
            ", ".join(f"{state}: {n}" for state, n in sorted(phase.changes.items())),
            "never" if phase.well_after is None else f"{phase.well_after:.1f} s",
        )
    Console().print(grid)


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="two minutes")
    parser.add_argument("--store", type=command.existing, required=True)
    parser.add_argument("--questions", type=command.existing, required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    bodies = [
        json.dumps({"question": question.text, "k": 10}).encode()
        for question in read_questions(given.questions)
    ]
    size = sum(file.stat().st_size for file in given.store.rglob("*") if file.is_file()) >> 20
    with tempfile.TemporaryDirectory() as folder:
        options = f"size={3 * size + SPARE_MEGABYTES}m"
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=False).returncode:
            raise InputError("a small disk of its own is needed: run this as root")
        try:
            store = shutil.copytree(given.store, Path(folder) / "store")
            with server(store, ["--processes", str(given.processes)]) as (process, host, port):
                disturbed = Disturbed(process, host, port, store)
                asyncio.run(run(disturbed, (host, port), given.clients, bodies))
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    report(disturbed, given.clients)


if __name__ == "__main__":
    command.run(main)
