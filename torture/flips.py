"""Flips one bit of a store's files: `trivium check` must find it, or it must do no harm."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torture import worlds
from torture.cases import Kind, Outcome, dice, told
from torture.operations import World
from torture.sandbox import Child, work_in_child
from trivium.cli import main
from trivium.errors import TriviumError

FOUND = 1
"""Exit code of ``trivium check`` where something is wrong."""


def outcomes(seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`."""
    world = World(scratch)
    original, store = world.store("whole"), scratch / "store"
    work_in_child(lambda: worlds.state(original))
    sound = work_in_child(lambda: worlds.state(original))
    assert Child(lambda: _checked(original)).wait().code == 0, "a sound store is said to be damaged"
    files = sorted(
        path.relative_to(original) for path in original.rglob("*") if path.is_file() and path.stat().st_size
    )
    for seed in seeds:
        drawn = dice("flips", seed)
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(original, store)
        # Files are what a name says; a database of many pages gets as many flips as all others.
        name = Path("graph.db") if drawn.random() < 0.5 else drawn.choice(files)
        content = bytearray((store / name).read_bytes())
        at, bit = drawn.randrange(len(content)), drawn.randrange(8)
        content[at] ^= 1 << bit
        (store / name).write_bytes(content)
        what = f"{name.name}: bit {bit} of byte {at:,}"
        try:
            yield Outcome(seed, what, _failure(store, sound))
        except AssertionError as error:
            yield Outcome(seed, what, told(error))


def _failure(store: Path, sound: worlds.State) -> str | None:
    """Return what is wrong; None if the flip is found or harmless."""
    checked = Child(lambda: _checked(store)).wait()
    if checked.code == FOUND:
        return None
    assert checked.code == 0, f"check ended with {checked.code}: {checked.output[-1500:]}"
    ended = Child(lambda: _seen(store)).wait()
    assert ended.code == 0, f"ended with {ended.code}: {ended.output[-1500:]}"
    if "error" in ended.value or "damaged" in ended.output:
        return None  # it is said when it is read
    wrong = worlds.difference(ended.value["state"], sound)
    return f"neither found nor harmless: {wrong}" if wrong else None


def _checked(store: Path) -> None:
    main(["check", str(store), "--full", "--json"])


def _seen(store: Path) -> dict[str, Any]:
    try:
        return {"state": json.loads(json.dumps(worlds.state(store)))}
    except TriviumError as error:
        return {"error": str(error)}


KIND = Kind("flips", 1.5, 5, outcomes)
