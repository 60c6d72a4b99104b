"""Disks that are full at one byte or another: an error that says so, nothing committed is lost, and with space the work
goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.fakes.disks import NoDiskError, mounted_disk
from torture import worlds
from torture.cases import Kind, NotRunError, Outcome, dice, told
from torture.operations import Operation, World, check
from torture.sandbox import Child
from trivium.errors import TriviumError

MEGABYTES = 24
_ADVICE = ("free space", "full", "No space left")
"""One of them is in every error."""


def outcomes(seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`."""
    world = World(scratch)
    disk = scratch / "disk"
    names = [name for name in world.operations if name != "workers"]
    with ExitStack() as stack:
        try:
            stack.enter_context(mounted_disk(disk, MEGABYTES))
        except NoDiskError as error:
            raise NotRunError(str(error)) from error
        for seed in seeds:
            drawn = dice("disks", seed)
            operation = world.operations[drawn.choice(names)]
            goal = world.undisturbed(operation).goal
            # The first bytes are those of small files; a store is a few hundred kilobytes.
            room = (
                int(4096 * 1.6 ** (drawn.random() * 15)) if drawn.random() < 0.8 else drawn.randrange(40_000)
            )
            what = f"{operation.name}: {room:,} bytes free"
            store = disk / "store"
            shutil.rmtree(store, ignore_errors=True)
            if operation.start is not None:
                shutil.copytree(world.store(operation.start), store)
            try:
                refused = _with_room(room, disk, operation, store)
                check(store, operation, world.start(operation), goal)
                yield Outcome(seed, f"{'refused' if refused else 'done'}: {what}")
            except AssertionError as error:
                yield Outcome(seed, what, told(error))
        shutil.rmtree(disk / "store", ignore_errors=True)


def _with_room(room: int, disk: Path, operation: Operation, store: Path) -> bool:
    """Work where so many bytes are free; whether it was refused. Raises AssertionError where it fails in another way."""
    filler = disk / "filler"
    space = os.statvfs(disk)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, space.f_bavail * space.f_frsize - room))
    try:
        ended = Child(lambda: _refusal(operation, store)).wait()
    finally:
        filler.unlink()
    assert ended.code == 0, f"ended with {ended.code}: {ended.output[-1500:]}"
    if ended.value is None:
        return False
    kind, message = ended.value
    assert any(advice in message for advice in _ADVICE), f"no way out: {kind}: {message}"
    return True


def _refusal(operation: Operation, store: Path) -> Any:
    try:
        operation.work(store)
        if (store / "index").exists():
            worlds.state(store)
    except TriviumError as error:
        return type(error).__name__, str(error)
    return None


KIND = Kind("disks", 1.5, 3, outcomes)
