"""Bits that flip in the files of a store: each is found by a check, or changes nothing that anybody reads."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.contract.state import state_of
from trivium.embedding.embedder import Embedder
from trivium.engine import Engine
from trivium.errors import TriviumError
from trivium.graph.sqlite import EmbeddedStore

QUESTION = "Who discovered the moons of Mars?"
FOUND = "found"
HARMLESS = "harmless"


def flip_bits(
    store: Path, scratch: Path, embedder: Callable[[], Embedder], count: int, seed: int
) -> Counter[str]:
    """Flip one bit at ``count`` places of a closed store's files, each in a copy of its own below ``scratch``; how many
    were found, and how many were harmless. Half of the places are in the database, the others in the derived files.

    Raises AssertionError, naming the place, where a flip changes what is read and is not found, and where reading the
    store ends in anything but an error of the package.
    """
    original = _read(store, embedder)
    outcomes: Counter[str] = Counter()
    for number, (name, place, bit) in enumerate(_places(store, count, random.Random(seed))):
        copy = scratch / str(number)
        shutil.copytree(store, copy)
        flip(copy / name, place, bit)
        outcomes[outcome(copy, embedder, original, f"{name}, byte {place}, bit {bit} (seed {seed})")] += 1
        shutil.rmtree(copy)
    return outcomes


def flip(path: Path, place: int, bit: int) -> None:
    """Turn one bit of a file around; its time stays, as when a disk does it."""
    status = path.stat()
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ (1 << bit)]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def outcome(copy: Path, embedder: Callable[[], Embedder], original: Any, place: str) -> str:
    """Whether a damaged store is found to be one."""
    try:
        read = _read(copy, embedder)
    except TriviumError:
        read = None
    except Exception as error:
        raise AssertionError(f"{place}: reading ends in {error!r}") from error
    try:
        with Engine.open(copy, embedder=embedder()) as engine:
            report = engine.check(full=True)
    except TriviumError:
        return FOUND
    except Exception as error:
        raise AssertionError(f"{place}: checking ends in {error!r}") from error
    if not report.ok:
        return FOUND
    assert read == original, f"{place}: not found, but what is read has changed"
    return HARMLESS


def _read(folder: Path, embedder: Callable[[], Embedder]) -> Any:
    """Everything that can be read from a store: pages, links, vectors, and answers to questions."""
    with EmbeddedStore.open(folder) as store:
        graph = (state_of(store), list(store.page_graphs()))
    with Engine.open(folder, embedder=embedder()) as engine:
        hits = engine.search(QUESTION, k=5)
    answers = [(hit.uri, hit.score, hit.text, hit.start, hit.end) for hit in hits]
    return repr((graph, answers))


def _places(store: Path, count: int, chance: random.Random) -> Iterator[tuple[str, int, int]]:
    files = sorted(path for path in store.rglob("*") if path.is_file() and path.stat().st_size)
    database = [path for path in files if path.name == "graph.db"]
    derived = [path for path in files if path not in database]
    for number in range(count):
        some = database if number % 2 == 0 or not derived else derived
        path = chance.choices(some, [file.stat().st_size for file in some])[0]
        yield path.relative_to(store).as_posix(), chance.randrange(path.stat().st_size), chance.randrange(8)
