"""What can be done to a store, what comes of it when nobody interferes, and how a disturbed one is compared with that."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from torture import worlds
from torture.sandbox import count_events, work_in_child
from torture.worlds import PAGES, State
from trivium.engine import Engine
from trivium.graph.sqlite.load_index import build_snapshot
from trivium.graph.sqlite.open_database import open_database

_HALF = PAGES // 2
_EMPTY: State = {"pages": {}, "waiting": []}


@dataclass(frozen=True, slots=True)
class Operation:
    """Something done to a store: ``start`` is the one it begins with (None: there is none)."""

    name: str
    start: str | None
    work: Callable[[Path], None]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The result of an operation that is not interrupted."""

    goal: State
    events: int
    seconds: float


class World:
    """Sources and stores that cases start from, made once."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.records = worlds.write_records(scratch / "records.jsonl", range(PAGES))
        self.first = worlds.write_records(scratch / "first.jsonl", range(_HALF))
        self.second = worlds.write_records(scratch / "second.jsonl", range(_HALF, PAGES))
        self.edited = worlds.write_records(scratch / "edited.jsonl", range(PAGES), edition=2)
        self.html = worlds.write_pages(scratch / "html", range(PAGES))
        whole, half, bare, unindexed = (self.store(name) for name in ("whole", "half", "bare", "unindexed"))
        work_in_child(lambda: worlds.build(whole, [self.records]))
        work_in_child(lambda: worlds.build(half, [self.first]))
        work_in_child(lambda: worlds.build(bare, [self.records], embed=False))
        shutil.copytree(whole, unindexed)
        shutil.rmtree(unindexed / "index")
        self.states: dict[str | None, State] = {None: _EMPTY}
        self.operations = {
            operation.name: operation
            for operation in (
                Operation("create", None, lambda store: worlds.create(store).close(), 2.0),
                Operation("build", None, lambda store: worlds.build(store, [self.records]), 1.5),
                Operation("workers", None, lambda store: worlds.build(store, [self.html], 2), 2.0),
                Operation("add", "half", lambda store: worlds.build(store, [self.second])),
                Operation("replace", "whole", lambda store: worlds.build(store, [self.edited])),
                Operation("remove", "whole", _remove),
                Operation("embed", "bare", _embed),
                Operation("index", "unindexed", _refresh),
                Operation("merge", "whole", _merge),
            )
        }
        self._undisturbed: dict[str, Undisturbed] = {}

    def store(self, name: str) -> Path:
        return self.scratch / f"store-{name}"

    def start(self, operation: Operation) -> State:
        """Return the state that an operation starts from."""
        name = operation.start
        if name not in self.states:
            self.states[name] = work_in_child(lambda: worlds.state(self.store(name or "")))
        return self.states[name]

    def undisturbed(self, operation: Operation) -> Undisturbed:
        """Return the result of the operation when it is not interrupted."""
        if operation.name not in self._undisturbed:
            store = self.fresh(operation, "undisturbed")
            began = time.monotonic()
            events = work_in_child(lambda: count_events(lambda: operation.work(store)))
            seconds = time.monotonic() - began
            goal = work_in_child(lambda: worlds.state(store))
            self._undisturbed[operation.name] = Undisturbed(goal, events, seconds)
        return self._undisturbed[operation.name]

    def fresh(self, operation: Operation, name: str) -> Path:
        """Copy the store that the operation starts from."""
        store = self.store(name)
        shutil.rmtree(store, ignore_errors=True)
        if operation.start is not None:
            shutil.copytree(self.store(operation.start), store)
        return store


def _remove(store: Path) -> None:
    with Engine.open(store) as engine:
        there = set(engine.pages())
        engine.remove([name for name in map(worlds.title, range(0, PAGES, 3)) if name in there])


def _embed(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.indexer.embed()
        engine.indexer.embed_sentences()
        engine.store.refresh()


def _refresh(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.store.refresh()


def _merge(store: Path) -> None:
    """Remove a page, then make index files of the new state, as the separate process does."""
    with Engine.open(store) as engine:
        there = set(engine.pages())
        engine.remove([name for name in [worlds.title(0)] if name in there])
    with closing(open_database(store, read_only=False)) as database:
        build_snapshot(database)


def check(store: Path, operation: Operation, start: State, goal: State) -> None:
    """Raises AssertionError unless the store holds whole pages, a prefix of those that were to come, and the same
    operation ends as an undisturbed one does."""

    def check_and_finish() -> State:
        if (store / "graph.db").exists():
            _check_committed(worlds.state(store), start, goal)
        else:
            assert operation.start is None, "the database is gone"
        operation.work(store)
        return worlds.state(store)

    finished = work_in_child(check_and_finish)
    assert not (wrong := worlds.difference(finished, goal)), f"not as undisturbed: {wrong}"
    odd = [path.name for path in store.iterdir() if path.name.startswith(".") or path.name.endswith(".part")]
    assert not odd, f"left behind: {odd}"
    index = store / "index"
    left = [path.name for path in index.iterdir() if path.is_dir()] if index.exists() else []
    # Of a process killed between the two, the one before is still there; the next change clears it away.
    assert len(left) <= 2, f"indexes left behind: {left}"


def _check_committed(now: State, start: State, goal: State) -> None:
    before, after = start["pages"], goal["pages"]
    for uri, digest in now["pages"].items():
        if uri in now["waiting"]:  # for its links: it is not as it will be
            continue
        assert digest in (before.get(uri), after.get(uri)), f"{uri} is neither as before nor as it will be"
    lost = sorted((before.keys() & after.keys()) - now["pages"].keys())
    assert not lost, f"lost: {lost[:5]}"
    coming = sorted(after.keys() - before.keys())  # they come in the order of their names
    came = [uri in now["pages"] for uri in coming]
    assert came == sorted(came, reverse=True), "what is there is no prefix of what was to come"
