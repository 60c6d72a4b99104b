"""Watches folders and keeps a store up to date: loads new and changed files and removes deleted ones."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from trivium.errors import InputError, MissingExtraError, NothingReadError, StoreBusyError, TriviumError
from trivium.graph.model import PageGraph
from trivium.index.indexer import Indexer
from trivium.index.page_names import pages_of_sources
from trivium.index.pruning import is_of
from trivium.index.report import IngestReport
from trivium.index.requests import BuildRequest
from trivium.parser.sources.discover import FoundFile, expand

_TICK_SECONDS = 1.0
_DEBOUNCE_MILLISECONDS = 400
_STEP_MILLISECONDS = 100
_MAX_TRIES = 5
"""How often an unreadable file is retried, since it may still be being written."""
_SETTLE_SECONDS = 0.2
_MAX_SETTLE_SECONDS = 10.0

State = tuple[int, int]
"""Modification time in nanoseconds, and size."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The result of one update: the ``report`` of a load (None if there was none), the titles removed, and the error
    if the update failed.
    """

    report: IngestReport | None = None
    removed: tuple[str, ...] = ()
    error: TriviumError | None = None


def check_watch() -> None:
    """Raise MissingExtraError if the package for watching folders is missing."""
    try:
        import watchfiles  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("watching a folder", "watch") from error


def changes(folders: Sequence[str], stop: threading.Event, ignored: str | None = None) -> Iterator[None]:
    """Yield whenever something has changed below the folders, and about once a second, until ``stop`` is set. Changes
    below ``ignored`` are ignored.
    """
    from watchfiles import Change, watch

    below = None if ignored is None else os.path.join(os.path.realpath(ignored), "")  # noqa: PTH118

    def counts(_: Change, path: str) -> bool:
        return below is None or not os.path.realpath(path).startswith(below)

    for _ in watch(
        *folders,
        watch_filter=counts,
        debounce=_DEBOUNCE_MILLISECONDS,
        step=_STEP_MILLISECONDS,
        stop_event=stop,
        rust_timeout=int(1000 * _TICK_SECONDS),
        yield_on_timeout=True,
    ):
        yield


@dataclass(slots=True)
class Follower:
    """Keeps a store in sync with source files. Create it before the first load, so that no change is missed."""

    indexer: Indexer
    request: BuildRequest
    _states: dict[str, State] = field(default_factory=dict)
    _again: dict[str, int] = field(default_factory=dict)  # path -> number of failed reads

    def __post_init__(self) -> None:
        for source in self.request.paths:
            if not Path(source).exists():
                raise InputError(f"only files and folders can be watched, got {source!r}")
        self._states = self._look()

    @property
    def folders(self) -> list[str]:
        """The folders to watch."""
        return [
            source if Path(source).is_dir() else str(Path(source).parent) for source in self.request.paths
        ]

    def follow(self) -> Followed | None:
        """Load and remove what has changed; None if nothing has. Problems with files or a busy store do not raise:
        the update is retried next time.
        """
        states = self._look()
        changed = [path for path, state in states.items() if self._states.get(path) != state]
        gone = [path for path in self._states if path not in states]
        again = [path for path in self._again if path in states and path not in changed]
        if not (changed or gone or again):
            return None
        for path in changed:
            states[path] = _settled(path)
            self._again.pop(path, None)
        try:
            followed = self._apply([*changed, *again], gone)
        except StoreBusyError as error:
            return Followed(error=error)  # keep the old states, so that all changes are retried
        except TriviumError as error:
            followed = Followed(error=error)
        self._states = states
        quiet = not changed and not gone and not followed.removed
        read = followed.report.read if followed.report is not None else 0
        return None if quiet and not read and followed.error is None else followed

    def _apply(self, files: Sequence[str], gone: Sequence[str]) -> Followed:
        store = self.indexer.store
        loaded: set[str] = set()
        report: IngestReport | None = None
        stale: list[str] = []
        if files:

            def check(page: PageGraph) -> None:
                loaded.add(page.uri)

            request = replace(self.request, only=frozenset(files), check=check)
            try:
                report = self.indexer.build(request)
            except NothingReadError as error:
                report = error.report
                assert isinstance(report, IngestReport)
            broken = [path for path in files if any(is_of(p.location, path) for p in report.problems)]
            for path in broken:
                self._again[path] = self._again.get(path, 0) + 1
            for path in [
                *(set(files) - set(broken)),
                *(p for p, n in self._again.items() if n >= _MAX_TRIES),
            ]:
                self._again.pop(path, None)
            # A document whose title has changed, or a record that is no longer in its file.
            whole = [path for path in files if path not in broken]
            stale = [uri for uri in pages_of_sources(store, whole) if uri not in loaded]
        removed = self.indexer.remove_pages([*pages_of_sources(store, gone), *stale])
        retitled = [] if report is None else report.retitled
        return Followed(report, (*retitled, *removed))

    def _look(self) -> dict[str, State]:
        states: dict[str, State] = {}
        for source in self.request.paths:
            with suppress(InputError):  # an empty or removed folder
                for found in expand(source):
                    if isinstance(found, FoundFile) and (state := _state(found.path)) is not None:
                        states[found.path] = state
        return states


def _state(path: str) -> State | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _settled(path: str, sleep: Callable[[float], None] = time.sleep) -> State:
    """Wait until a file stops changing and return its state."""
    before = _state(path)
    deadline = time.monotonic() + _MAX_SETTLE_SECONDS
    while time.monotonic() < deadline:
        sleep(_SETTLE_SECONDS)
        now = _state(path)
        if now == before:
            break
        before = now
    return before or (0, 0)
