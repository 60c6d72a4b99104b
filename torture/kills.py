"""Processes that are killed while they change a store: what was committed is there, and the same command finishes."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.waiting import until
from torture.cases import Kind, Outcome, dice, told
from torture.operations import Operation, World, check
from torture.sandbox import Child, end_at_event

_HOW = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)


def outcomes(seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`."""
    world = World(scratch)
    names = list(world.operations)
    weights = [operation.weight for operation in world.operations.values()]
    for seed in seeds:
        drawn = dice("kills", seed)
        operation = world.operations[drawn.choices(names, weights)[0]]
        how = drawn.choice(_HOW)
        alone = world.undisturbed(operation)
        store = world.fresh(operation, "case")
        # The moments of creation are few events that take no time.
        at_event = drawn.random() < (0.9 if operation.name == "create" else 0.6)
        moment = drawn.random()
        if at_event:
            number = 1 + int(moment * alone.events)
            child = Child(lambda n=number, s=store, o=operation, h=how: _killed(n, h, o, s))  # type: ignore[misc]
        else:
            child = Child(lambda s=store, o=operation: o.work(s))  # type: ignore[misc]
            time.sleep(moment * alone.seconds)
            child.send(how)
        place = f"event {number} of {alone.events}" if at_event else f"after {moment * alone.seconds:.3f} s"
        what = f"{operation.name}: {how.name} at {place}"
        try:
            ended = child.wait()
            assert ended.code in (0, -how), f"ended by itself: {ended.output[-1500:]}"
            until(lambda c=child: not c.others(), 10)  # type: ignore[misc]
            check(store, operation, world.start(operation), alone.goal)
            yield Outcome(seed, what)
        except AssertionError as error:
            child.kill()
            yield Outcome(seed, what, told(error))


def _killed(number: int, how: signal.Signals, operation: Operation, store: Path) -> None:
    end_at_event(number, how)
    operation.work(store)


KIND = Kind("kills", 3.0, 3, outcomes)
