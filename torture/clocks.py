"""Clocks that jump by hours, and files with times of another day: everything must work as before."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests

from torture import worlds
from torture.cases import Kind, Outcome, dice, told
from torture.operations import World, check
from torture.sandbox import Child, work_in_child
from torture.served import QUESTION, Server, build_store, serving
from trivium.engine import Engine

_JUMPS = (-1e9, -86_400.0, -3_600.0, -1.0, 1.0, 3_600.0, 86_400.0, 1e9)
"""Seconds."""
_RATE = 30


class _Jumping:
    """A replacement for the time of day that jumps every few calls."""

    def __init__(self, seed: int) -> None:
        self._drawn = random.Random(seed)
        self._offset = 0.0
        self._time, self._time_ns = time.time, time.time_ns

    def install(self) -> None:
        """Replace the clock of this process."""
        time.time, time.time_ns = self._seconds, lambda: int(self._seconds() * 1e9)

    def _seconds(self) -> float:
        if self._drawn.random() < 0.2:
            self._offset = self._drawn.choice(_JUMPS)
        return max(0.0, self._time() + self._offset)


def outcomes(seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`."""
    world = World(scratch)
    served = build_store(scratch)
    names = [name for name in world.operations if name != "workers"]
    for seed in seeds:
        drawn = dice("clocks", seed)
        task = drawn.choices(("serve", "files", *names), (2, 3, *[1] * len(names)))[0]
        try:
            if task == "serve":
                _serve(served, scratch / "served copy", seed, drawn)
            elif task == "files":
                _old_files(world, drawn)
            else:
                operation = world.operations[task]
                store = world.fresh(operation, "case")
                ended = Child(lambda o=operation, s=store, n=seed: _work(o.work, s, n)).wait()  # type: ignore[misc]
                assert ended.code == 0, ended.output[-1500:]
                check(store, operation, world.start(operation), world.undisturbed(operation).goal)
            yield Outcome(seed, f"{task}: clock jumps")
        except AssertionError as error:
            yield Outcome(seed, f"{task}: clock jumps", told(error))


def _work(work: Any, store: Path, seed: int) -> None:
    _Jumping(seed).install()
    work(store)


def _old_files(world: World, drawn: random.Random) -> None:
    """Give the files of a store and of its sources times in the far past or in the future, then change a page."""
    operation = world.operations["add"]
    store = world.fresh(operation, "case")
    for path in (*store.rglob("*"), world.second):
        at = max(0.0, time.time() + drawn.choice(_JUMPS))
        os.utime(path, (at, at))

    def work() -> worlds.State:
        with Engine.open(store) as reader:
            before = worlds.state_of(reader)
            worlds.build(store, [world.second])
            assert worlds.state_of(reader) != before, "a reader goes on seeing what was"
        return worlds.state(store)

    wrong = worlds.difference(work_in_child(work), world.undisturbed(operation).goal)
    assert not wrong, wrong


def _serve(original: Path, store: Path, seed: int, drawn: random.Random) -> None:
    """Run a server whose clock jumps, and test searches, changes and its limit of requests."""
    shutil.rmtree(store, ignore_errors=True)
    shutil.copytree(original, store)
    with serving(store, "--rate-limit", str(_RATE), before=_Jumping(seed).install) as server:
        server.check_search()
        _change(server)
        codes = [
            requests.post(f"{server.address}/search", json={"question": QUESTION}, timeout=30).status_code
            for _ in range(2 * _RATE)
        ]
        assert set(codes) == {200, 429}, f"answers: {sorted(set(codes))}"
        assert codes.count(200) <= _RATE + 5, (
            f"{codes.count(200)} of {len(codes)} pass a limit of {_RATE} a minute"
        )
        server.check_log()


def _change(server: Server) -> None:
    files = {"files": ("vulcan.md", "# Vulcan\n\nVulcan was thought to circle the Sun.\n")}
    answer = requests.post(f"{server.address}/documents", files=files, timeout=30)
    assert answer.status_code == 202, answer.text
    job = answer.json()
    deadline = time.monotonic() + 20
    while job["state"] not in ("done", "failed"):
        assert time.monotonic() < deadline, f"a change has not ended: {job}"
        time.sleep(0.3)  # asking counts, too
        job = requests.get(f"{server.address}/jobs/{job['id']}", timeout=30).json()
        if "state" not in job:
            return  # too many requests: as it should be
    assert job["state"] == "done", job


KIND = Kind("clocks", 1.0, 2, outcomes)
