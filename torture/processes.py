"""Several processes at work on one store, some of which are killed or stopped for a while."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from torture import served, worlds
from torture.cases import Kind, Outcome, dice, told
from torture.sandbox import Child, work_in_child
from torture.worlds import State
from trivium.engine import Engine
from trivium.errors import StoreBusyError, StoreChangedError

_FIRST, _SECOND, _THIRD = range(100), range(100, 160), range(160, 220)
_REMOVED = range(0, 100, 3)
_PATIENT = 0.6
"""Seconds within which faults are."""


@dataclass(frozen=True, slots=True)
class _Actor:
    """One of the processes. ``brings`` and ``takes`` are the pages that its work changes."""

    name: str
    work: Callable[[Path], Any]
    brings: range = range(0)
    takes: range = range(0)


def outcomes(seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`."""
    sources = [worlds.write_pages(scratch / str(n), some) for n, some in enumerate((_FIRST, _SECOND, _THIRD))]
    original = scratch / "original"
    work_in_child(lambda: worlds.build(original, [sources[0]]))
    actors = [
        _Actor("build", lambda store: worlds.build(store, [sources[1]]), brings=_SECOND),
        _Actor("build", lambda store: worlds.build(store, [sources[2]]), brings=_THIRD),
        _Actor("remove", _remove, takes=_REMOVED),
        _Actor("search", _search),
        _Actor("search", _search),
        _Actor("serve", _serve),
    ]
    goals: dict[tuple[int, ...], State] = {}
    for seed in seeds:
        drawn = dice("processes", seed)
        chosen = sorted(drawn.sample(range(len(actors)), drawn.randrange(2, 5)))
        some = [actors[number] for number in chosen]
        if tuple(chosen) not in goals:
            goals[tuple(chosen)] = _alone(original, scratch / "alone", some)
        goal = goals[tuple(chosen)]
        store = scratch / "store"
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(original, store)
        children = [Child(lambda a=actor, s=store: _refusal(a, s)) for actor in some]  # type: ignore[misc]
        faults = _disturb(children, drawn)
        what = (
            f"{len(some)} processes: {', '.join(a.name for a in some)}; {', '.join(faults) or 'undisturbed'}"
        )
        try:
            for child, actor in zip(children, some, strict=True):
                ended = child.wait(60)
                assert ended.code in (0, -signal.SIGKILL), f"{actor.name}: {ended.output[-1500:]}"
            _check(store, some, work_in_child(lambda: worlds.state(original)), goal)
            yield Outcome(seed, what)
        except AssertionError as error:
            for child in children:
                child.kill()
            yield Outcome(seed, what, told(error))


def _alone(original: Path, store: Path, actors: list[_Actor]) -> State:
    """Return the state of the store after the actors have worked one after another."""
    shutil.rmtree(store, ignore_errors=True)
    shutil.copytree(original, store)

    def work() -> State:
        _finish(store, actors)
        return worlds.state(store)

    return work_in_child(work)  # type: ignore[no-any-return]


def _finish(store: Path, actors: list[_Actor]) -> None:
    for actor in actors:
        if actor.brings or actor.takes:
            actor.work(store)


def _disturb(children: list[Child], drawn: random.Random) -> list[str]:
    """Kill some actors, stop others for a while, and return what was done."""
    deeds: list[tuple[float, int, int]] = []
    told_of = []
    for number in range(len(children)):
        at = drawn.random() * _PATIENT
        match drawn.randrange(4):
            case 0:
                deeds.append((at, number, signal.SIGKILL))
                told_of.append(f"{number} killed after {at:.2f} s")
            case 1:
                pause = drawn.random() * _PATIENT
                deeds += [(at, number, signal.SIGSTOP), (at + pause, number, signal.SIGCONT)]
                told_of.append(f"{number} stopped after {at:.2f} s for {pause:.2f} s")
            case _:
                pass
    began = time.monotonic()
    for at, number, what in sorted(deeds):
        time.sleep(max(0.0, began + at - time.monotonic()))
        children[number].send(what)
    return told_of


def _refusal(actor: _Actor, store: Path) -> str | None:
    """Another process may have the store for so long that this one gives up, and says so."""
    try:
        actor.work(store)
    except (StoreBusyError, StoreChangedError) as error:
        return str(error)
    return None


def _check(store: Path, actors: list[_Actor], before: State, goal: State) -> None:
    brought = {worlds.title(number) for actor in actors for number in actor.brings}
    taken = {worlds.title(number) for actor in actors for number in actor.takes}

    def check_and_finish() -> State:
        state = worlds.state(store)
        now = state["pages"]
        for uri, digest in now.items():
            known = goal["pages"].get(uri, before["pages"].get(uri))
            # The links of a page that waits for them are made by the next load.
            assert digest == known or uri in state["waiting"], f"{uri} is not whole"
            assert uri in before["pages"] or uri in brought, f"{uri} is from nowhere"
        lost = before["pages"].keys() - now.keys() - taken
        assert not lost, f"lost: {sorted(lost)[:5]}"
        _finish(store, actors)
        return worlds.state(store)

    finished = work_in_child(check_and_finish)
    assert not (wrong := worlds.difference(finished, goal)), f"not as one after the other: {wrong}"


def _remove(store: Path) -> None:
    with Engine.open(store) as engine:
        there = set(engine.pages())
        engine.remove([name for name in map(worlds.title, _REMOVED) if name in there])


def _search(store: Path) -> None:
    """Search for a while, and check that the hits are passages of the store."""
    known = {worlds.title(number) for number in range(worlds.PAGES)}
    drawn = random.Random(os.getpid())
    until = time.monotonic() + _PATIENT
    with Engine.open(store) as engine:
        while time.monotonic() < until:
            try:
                hits = engine.search(drawn.choice(worlds.QUESTIONS), 5)
            except StoreChangedError:  # asking again helps
                continue
            assert len(hits) == 5 and {hit.page for hit in hits} <= known, hits


def _serve(store: Path) -> None:
    """Run a server for a while, and send it searches."""
    with served.serving(store) as server:
        until = time.monotonic() + _PATIENT
        while time.monotonic() < until:
            answer = requests.post(
                f"{server.address}/search", json={"question": worlds.QUESTIONS[0]}, timeout=30
            )
            assert answer.status_code in (200, 503), answer.text
        server.check_log()


KIND = Kind("processes", 1.5, 2, outcomes)
