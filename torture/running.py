"""Runs kinds side by side in several processes, each with its own seeds, and gathers what came of the cases."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from torture import sandbox
from torture.cases import Kind, NotRunError, Outcome, told


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run. ``seconds`` is the time of all kinds together, None for as long as ``cases`` takes; ``cases``
    how many each job tries of each kind at most (``quick``: as many as the kind says). ``seeds`` are the very seeds to
    try, by kind; else they count up from ``first_seed``."""

    kinds: Sequence[Kind]
    jobs: int
    seconds: float | None = None
    cases: int | None = None
    quick: bool = False
    first_seed: int = 0
    seeds: dict[str, list[int]] | None = None

    def seconds_of(self, kind: Kind) -> float | None:
        """Return the time for one kind."""
        if self.seconds is None:
            return None
        return self.seconds * kind.share / sum(each.share for each in self.kinds)


@dataclass(slots=True)
class Result:
    """The results of one kind."""

    name: str
    tried: int = 0
    seconds: float = 0.0
    groups: Counter[str] = field(default_factory=Counter)
    failures: list[Outcome] = field(default_factory=list)
    not_run: str | None = None

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of a case."""
        self.tried += 1
        self.groups[outcome.what.partition(":")[0]] += 1
        if outcome.failure is not None:
            self.failures.append(outcome)


Watcher = Callable[[Result], None]


def run(plan: Plan, watch: Watcher = lambda _: None) -> list[Result]:
    """What came of a plan. ``watch`` is told after every case. Interrupted (SIGINT) it stops all that runs and
    returns what there is."""
    results = {kind.name: Result(kind.name) for kind in plan.kinds}
    readers: dict[int, int] = {}
    for job in range(plan.jobs):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            _work(plan, job, writer)
        os.close(writer)
        readers[reader] = pid
    waiting = dict(readers)
    parts = dict.fromkeys(readers, b"")
    try:
        while waiting:
            for reader in select.select(list(waiting), [], [], 1.0)[0]:
                read = os.read(reader, 1 << 16)
                *lines, parts[reader] = (parts[reader] + read).split(b"\n")
                for line in lines:
                    _take(json.loads(line), results, watch)
                if not read:
                    os.waitpid(waiting.pop(reader), 0)
    except KeyboardInterrupt:
        for pid in waiting.values():
            os.kill(pid, signal.SIGINT)
        for pid in waiting.values():
            os.waitpid(pid, 0)
    finally:
        for reader in readers:
            os.close(reader)
    return list(results.values())


def _take(line: dict[str, Any], results: dict[str, Result], watch: Watcher) -> None:
    result = results[line["kind"]]
    if "not_run" in line:
        result.not_run = line["not_run"]
    elif "ended" in line:
        result.seconds = max(result.seconds, line["ended"])
    else:
        result.add(Outcome(line["seed"], line["what"], line["failure"]))
        result.seconds = max(result.seconds, line["seconds"])
    watch(result)


def _work(plan: Plan, job: int, writer: int) -> None:
    """Run one job, in a process of its own; never returns."""

    def say(**line: Any) -> None:
        data = json.dumps(line).encode() + b"\n"
        while data:
            data = data[os.write(writer, data) :]

    memory = Path("/dev/shm")  # noqa: S108 - a folder in it is made with a name of its own
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    code = 0
    try:
        for kind in plan.kinds:
            scratch = Path(tempfile.mkdtemp(prefix=f"torture-{kind.name}-", dir=place))
            try:
                _run_kind(plan, job, kind, scratch, say)
            finally:
                sandbox.kill_all()
                shutil.rmtree(scratch, ignore_errors=True)
    except KeyboardInterrupt:
        code = 1
    finally:
        sys.stderr.flush()
        os._exit(code)


def _run_kind(plan: Plan, job: int, kind: Kind, scratch: Path, say: Callable[..., None]) -> None:
    began = time.monotonic()
    last: list[int] = []
    seeds = _noted(_seeds(plan, kind, job), last)
    try:
        for outcome in kind.outcomes(seeds, scratch):
            seconds = time.monotonic() - began
            say(
                kind=kind.name,
                seed=outcome.seed,
                what=outcome.what,
                failure=outcome.failure,
                seconds=seconds,
            )
    except NotRunError as error:
        say(kind=kind.name, not_run=str(error))
    except Exception as error:  # of the harness itself: a failure as well, or it would go unseen
        trace = "".join(traceback.format_exception(error)[-6:])
        seed = last[-1] if last else -1
        say(kind=kind.name, seed=seed, what="harness", failure=f"{told(error)}\n{trace}", seconds=0.0)
    say(kind=kind.name, ended=time.monotonic() - began)


def _noted(seeds: Iterator[int], last: list[int]) -> Iterator[int]:
    for seed in seeds:
        last[:] = [seed]
        yield seed


def _seeds(plan: Plan, kind: Kind, job: int) -> Iterator[int]:
    """Iterate over the seeds of a job until the time for the kind is over."""
    if plan.seeds is not None:
        yield from plan.seeds.get(kind.name, [])[job :: plan.jobs]
        return
    seconds = plan.seconds_of(kind)
    began = time.monotonic()
    numbers = iter(range(plan.first_seed + job, 1 << 62, plan.jobs))
    for number in islice(numbers, kind.quick if plan.quick else plan.cases):
        if seconds is not None and time.monotonic() - began > seconds:
            return
        yield number
