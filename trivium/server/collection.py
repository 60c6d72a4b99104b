"""The documents a server answers from: read by many threads at once, changed by one at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import Protocol, Self, TypeVar, runtime_checkable

from trivium.common.threads import Thread
from trivium.engine import LATER, Engine
from trivium.errors import StoreChangedError, StoreError, TriviumError
from trivium.graph.records import StoreInfo

T = TypeVar("T")

_SPARE_READERS = 2
_ATTEMPTS = 4
_RETRY_SECONDS = 1.0
"""The wait before the store is tried again that could not be opened; it doubles up to the longest wait below."""
_CHECK_SECONDS = 2.0
"""How soon a change by another process is noticed."""
_MAX_CHECK_SECONDS = 60.0
"""The longest wait between two tries."""
_WARMING = "which moon of a planet has an atmosphere"
"""A question that loads the embedder's weights and compiles what is compiled at first use."""

_log = logging.getLogger(__name__)


@runtime_checkable
class Freezable(Protocol):
    """A store that can be held at one state."""

    @property
    def state(self) -> str: ...

    def frozen(self, readers: int) -> Self: ...


class _View:
    """An engine on one state of the store, and how many are reading in it."""

    def __init__(self, engine: Engine, state: str | None) -> None:
        self.engine = engine
        self.state = state
        self.readers = 0
        self.retired = False

    @cached_property
    def info(self) -> StoreInfo:
        """What it holds: counted when somebody asks, which takes time in a large store."""
        return self.engine.info()


class Collection:
    """An engine that writes, and a view of its store that all readers use meanwhile.

    A store that can be frozen (a folder) is read at the state that was complete last: a change shows when all of it is
    there, indexes included, and nobody waits for it. Any other store (a server's) is read as it is, and a question during
    which a passage was removed is asked again.
    """

    def __init__(self, engine: Engine, readers: int, changed: Callable[[StoreInfo], None]) -> None:
        """``readers``: how many threads read at once. ``changed`` is called with what the store holds
        whenever that changed. Call :meth:`open` before anything else."""
        self._writer = engine
        self._connections = readers + _SPARE_READERS
        self._changed = changed
        self._lock = threading.Lock()
        self._changing = threading.Lock()
        self._closing = threading.Event()
        self._view: _View | None = None
        self._problem: str | None = None
        self._problem_since = 0.0
        self._reads: dict[object, float] = {}  # and when they began
        self._watch = Thread(target=self._follow, name="follow", daemon=True)

    def open(self, *, follow: bool = True) -> None:
        """Bring the indexes up to date, load what a search needs, and begin to serve. With ``follow`` changes
        by other processes are shown as they come, without it when :meth:`sync_to` is called. Raises StoreError and
        what loading the embedder raises."""
        for name in LATER:  # else within a request
            import_module(name)
        with self._changing:
            self._adopt()
        if follow:
            self._watch.start()

    def open_when_possible(self) -> bool:
        """:meth:`open`, tried again less and less often while it fails; what went wrong is logged and in
        :attr:`problem`. False where :meth:`stop` was called before it succeeded."""
        wait = _RETRY_SECONDS
        while not self._closing.is_set():
            try:
                self.open()
                return True
            except Exception as error:
                self._fail("the store cannot be served yet", wait, error)
            self._closing.wait(wait)
            wait = min(2 * wait, _MAX_CHECK_SECONDS)
        return False

    def sync_to(self, state: str | None) -> None:
        """Show the last committed state unless ``state`` is shown; None stands for a store that is read as it is."""
        with self._changing:
            if state != self.state:
                self._adopt()

    @property
    def ready(self) -> bool:
        """Whether there is something to read from."""
        return self._view is not None

    @property
    def problem(self) -> str | None:
        """Why the store, or its last change, cannot be shown; None where it is."""
        return self._problem

    @property
    def problem_seconds(self) -> float:
        """For how long :attr:`problem` has been there; 0 where there is none."""
        return 0.0 if self._problem is None else time.monotonic() - self._problem_since

    @property
    def died(self) -> bool:
        """Whether nobody follows the store any more, though it is not being closed."""
        return self._watch.ended and not self._closing.is_set()

    def reads_longer_than(self, seconds: float) -> int:
        """How many calls of :meth:`read` have been under way for longer than that."""
        began = time.monotonic() - seconds
        with self._lock:
            return sum(1 for start in self._reads.values() if start < began)

    @property
    def state(self) -> str | None:
        """The state of the store that is shown; None where it is read as it is, and before there is one."""
        view = self._view
        return None if view is None else view.state

    @property
    def embedded(self) -> bool:
        """Whether the view holds anything that can be searched."""
        if not self.ready:
            return False
        with self.reading() as engine:  # else it may be closed meanwhile
            return engine.store.embedder is not None

    @property
    def current(self) -> bool:
        """Whether the view shows the last committed state; not while documents are being added."""
        view, store = self._view, self._writer.store
        return view is not None and (not isinstance(store, Freezable) or view.state == store.state)

    @property
    def info(self) -> StoreInfo:
        """What the view holds. Raises StoreError before there is one."""
        with self._holding() as view:
            return view.info

    @contextmanager
    def reading(self) -> Iterator[Engine]:
        """The engine to ask; its store stays as it is until the block ends. Raises StoreError before there is one."""
        with self._holding() as view:
            yield view.engine

    @contextmanager
    def _holding(self) -> Iterator[_View]:
        """The view, which is not closed until the block ends. Raises StoreError before there is one."""
        with self._lock:
            view = self._view
            if view is None:
                raise StoreError("the store is not open yet")
            view.readers += 1
        try:
            yield view
        finally:
            with self._lock:
                view.readers -= 1
                unused = view.retired and view.readers == 0
            if unused:
                view.engine.store.close()

    def read(self, work: Callable[[Engine], T]) -> T:
        """What ``work`` returns; it is called again where the store changed meanwhile."""
        token = object()
        with self._lock:
            self._reads[token] = time.monotonic()
        try:
            for _ in range(_ATTEMPTS - 1):
                try:
                    with self.reading() as engine:
                        return work(engine)
                except StoreChangedError:
                    continue
            with self.reading() as engine:
                return work(engine)
        finally:
            with self._lock:
                del self._reads[token]

    def change(self, work: Callable[[Engine], T]) -> T:
        """Do ``work`` with the engine that writes, one at a time; what it committed shows afterwards, also where it
        failed half-way."""
        with self._changing:
            try:
                return work(self._writer)
            finally:
                self._adopt()

    def stop(self) -> None:
        """Try no more to open the store or to show its changes."""
        self._closing.set()

    def close(self) -> None:
        """Close the engine, and the view once its last reader is done."""
        self.stop()
        if self._watch.is_alive():
            self._watch.join()
        with self._lock:
            view, self._view = self._view, None
        if view is not None and view.engine is not self._writer:
            self._retire(view)
        self._writer.close()

    # -- following the store ----------------------------------------------------------------------------------

    def _adopt(self) -> None:
        """Serve the state now committed, and close the one before once its last reader is done."""
        store = self._writer.store
        store.refresh()
        if isinstance(store, Freezable):
            frozen = store.frozen(self._connections)
            engine, state = self._writer.on(frozen), frozen.state
        else:
            engine, state = self._writer, None
        try:
            if engine.store.embedder is not None and self._view is None:
                engine.search(_WARMING, k=1, explain=True)
                _warm_images(engine)
        except BaseException:
            if engine is not self._writer:
                engine.store.close()
            raise
        view = _View(engine, state)
        with self._lock:
            before, self._view = self._view, view
        self._problem = None
        if before is not None and before.engine is not self._writer:
            self._retire(before)
        self._changed(view.info)

    def _retire(self, view: _View) -> None:
        with self._lock:
            view.retired = True
            unused = view.readers == 0
        if unused:
            view.engine.store.close()

    def _follow(self) -> None:
        """Show what other processes write. What cannot be shown (an index that is damaged, a full disk) is logged and
        tried again, less and less often; the state before it stays in service."""
        wait = _CHECK_SECONDS
        while not self._closing.wait(wait):
            if not self._changing.acquire(blocking=False):
                continue  # this server is changing the store, and shows that itself
            try:
                if not self.current:
                    self._adopt()
                wait = _CHECK_SECONDS
            except Exception as error:
                wait = min(2 * wait, _MAX_CHECK_SECONDS)
                self._fail("a change of the store cannot be shown yet", wait, error)
            finally:
                self._changing.release()

    def _fail(self, what: str, wait: float, error: Exception) -> None:
        kind = type(error).__name__
        if self._problem is None:
            self._problem_since = time.monotonic()
        self._problem = f"{what} ({kind}); the log says more"  # anybody may ask, so that it names no files
        unexpected = not isinstance(error, TriviumError)
        _log.warning("%s, trying again in %g s: %s: %s", what, wait, kind, error, exc_info=unexpected)


def _warm_images(engine: Engine) -> None:
    """Load what questions are compared with pictures by, so that nobody waits for it within a question. Without it all
    but the retriever ``image`` works."""
    if engine.store.image_embedder is None:
        return
    try:
        engine.search(_WARMING, 1, ["image"])
    except TriviumError as error:
        _log.warning("the retriever image cannot be asked: %s", error)
