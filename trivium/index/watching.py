"""Follows folders: what is changed, new and deleted in them is loaded and removed, as it happens."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trivium.errors import InputError, MissingExtraError, NothingReadError, StoreBusyError, TriviumError
from trivium.graph.model import PageGraph
from trivium.index.indexer import BuildOptions, Indexer
from trivium.index.page_names import pages_of_sources
from trivium.index.report import IngestReport
from trivium.parser.sources.discover import FoundFile, expand

_TICK_SECONDS = 1.0
_DEBOUNCE_MILLISECONDS = 400
_STEP_MILLISECONDS = 100
_MAX_TRIES = 5
"""How often a file is read that cannot be: it may still be on its way."""
_SETTLE_SECONDS = 0.2
_MAX_SETTLE_SECONDS = 10.0

State = tuple[int, int]
"""When a file was changed (nanoseconds), and its size."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What was done at one moment: the ``report`` of a load (None where nothing was), the titles that are gone, and what
    went wrong altogether."""

    report: IngestReport | None = None
    removed: tuple[str, ...] = ()
    error: TriviumError | None = None


def check_watch() -> None:
    """Raise MissingExtraError where the package is missing that watches folders."""
    try:
        import watchfiles  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("watching a folder", "watch") from error


def changes(folders: Sequence[str], stop: threading.Event, ignored: str | None = None) -> Iterator[None]:
    """Yields when something has changed below the folders, and about once a second; ends when ``stop`` is set. What lies
    below ``ignored`` does not count."""
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
    """Keeps a store as the files of sources are. Make it before they are loaded for the first time, so that nothing that
    changes meanwhile is missed."""

    indexer: Indexer
    sources: Sequence[str]
    options: BuildOptions
    _states: dict[str, State] = field(default_factory=dict)
    _again: dict[str, int] = field(default_factory=dict)  # path -> how often it was read in vain

    def __post_init__(self) -> None:
        for source in self.sources:
            if not Path(source).exists():
                raise InputError(f"only files and folders can be watched, got {source!r}")
        self._states = self._look()

    @property
    def folders(self) -> list[str]:
        """Where changes may come."""
        return [source if Path(source).is_dir() else str(Path(source).parent) for source in self.sources]

    def follow(self) -> Followed | None:
        """Look what has changed, and load and remove it; None where nothing has. Raises nothing of a file's or of a busy
        store: that is tried again the next time."""
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
            return Followed(error=error)  # the states are as before: all of it comes again
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

            options: BuildOptions = {**self.options, "only": frozenset(files), "check": check}
            try:
                report = self.indexer.build(self.sources, **options)
            except NothingReadError as error:
                report = error.report
                assert isinstance(report, IngestReport)
            broken = [path for path in files if any(_is_of(p.location, path) for p in report.problems)]
            for path in broken:
                self._again[path] = self._again.get(path, 0) + 1
            for path in [
                *(set(files) - set(broken)),
                *(p for p, n in self._again.items() if n >= _MAX_TRIES),
            ]:
                self._again.pop(path, None)
            # A document that calls itself otherwise now, or a record that is no longer in its file.
            whole = [path for path in files if path not in broken]
            stale = [uri for uri in pages_of_sources(store, whole) if uri not in loaded]
        removed = self.indexer.remove_pages([*pages_of_sources(store, gone), *stale])
        retitled = [] if report is None else report.retitled
        return Followed(report, (*retitled, *removed))

    def _look(self) -> dict[str, State]:
        states: dict[str, State] = {}
        for source in self.sources:
            with suppress(InputError):  # an empty folder, or one that is gone
                for found in expand(source):
                    if isinstance(found, FoundFile) and (state := _state(found.path)) is not None:
                        states[found.path] = state
        return states


def _is_of(location: str, path: str) -> bool:
    return location == path or location.startswith((f"{path},", f"{path} "))


def _state(path: str) -> State | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _settled(path: str, sleep: Callable[[float], None] = time.sleep) -> State:
    """The state of a file when it does not grow any more."""
    before = _state(path)
    deadline = time.monotonic() + _MAX_SETTLE_SECONDS
    while time.monotonic() < deadline:
        sleep(_SETTLE_SECONDS)
        now = _state(path)
        if now == before:
            break
        before = now
    return before or (0, 0)
