"""The store that a server answers from: many threads read it at once, one at a time changes it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Protocol, Self, TypeVar, runtime_checkable

from trivium.engine import LATER, Engine
from trivium.errors import FusionError, StoreChangedError, StoreError, TriviumError
from trivium.fusion.fusion_names import DEFAULT
from trivium.graph.records import StoreInfo

T = TypeVar("T")

_SPARE_READERS = 2
_ATTEMPTS = 4
_RETRY_SECONDS = 1.0
"""Delay before retrying to open the store. It doubles up to the maximum below."""
_CHECK_SECONDS = 2.0
"""Interval at which changes by other processes are detected."""
_MAX_CHECK_SECONDS = 60.0
"""Maximum delay between two attempts."""
_WARMING = "which moon of a planet has an atmosphere"
"""A question that loads the weights of the embedder."""

_log = logging.getLogger(__name__)


@runtime_checkable
class Freezable(Protocol):
    """A store of which a fixed state can be opened."""

    @property
    def state(self) -> str: ...

    def frozen(self, readers: int) -> Self: ...


class _View:
    """An engine on one state of the store, and its number of readers."""

    def __init__(self, engine: Engine, state: str | None, embedded: bool) -> None:
        self.engine = engine
        self.state = state
        self.embedded = embedded
        self.readers = 0
        self.retired = False


class Collection:
    """An engine that writes, and a view of its store that all readers use meanwhile.

    A store that can be frozen (a folder) is read at its last complete state: a change becomes visible once it is
    complete, including indexes, and readers never wait. Any other store (a database server) is read live, and a
    question is repeated if a passage was removed while it was being answered.
    """

    def __init__(self, engine: Engine, readers: int) -> None:
        """``readers`` is the number of threads that read at once. Call :meth:`open` before anything else."""
        self._writer = engine
        self._connections = readers + _SPARE_READERS
        self._lock = threading.Lock()
        self._changing = threading.Lock()
        self._closing = threading.Event()
        self._view: _View | None = None
        self._problem: str | None = None
        self._watch = threading.Thread(target=self._follow, name="follow", daemon=True)

    def open(self, *, follow: bool = True) -> None:
        """Update the indexes, load everything a search needs, and start serving. With ``follow``, changes by other
        processes become visible automatically, otherwise when :meth:`sync_to` is called. Raises StoreError and the
        errors of loading the embedder.
        """
        for name in LATER:  # otherwise they would be imported during a request
            import_module(name)
        with self._changing:
            self._adopt()
        if follow:
            self._watch.start()

    def open_when_possible(self) -> bool:
        """Call :meth:`open`, retrying with growing delays while it fails. Failures are logged and available as
        :attr:`problem`. Returns False when :meth:`stop` was called first.
        """
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
        """Show the last committed state unless ``state`` is already shown. None stands for a store that is read live."""
        with self._changing:
            if state != self.state:
                self._adopt()

    @property
    def ready(self) -> bool:
        """Whether there is a state to read from."""
        return self._view is not None

    @property
    def problem(self) -> str | None:
        """Why the store, or its last change, cannot be shown; None if there is no problem."""
        return self._problem

    @property
    def state(self) -> str | None:
        """The state of the store that is shown; None for a store that is read live, and before the first state."""
        view = self._view
        return None if view is None else view.state

    @property
    def embedded(self) -> bool:
        """Whether the view contains anything searchable."""
        view = self._view
        if view is None:
            return False
        if view.state is not None:  # it does not change, and every search asks
            return view.embedded
        with self.reading() as engine:  # otherwise it could be closed meanwhile
            return engine.store.embedder is not None

    @property
    def current(self) -> bool:
        """Whether the view shows the last committed state. False while documents are being added."""
        view, store = self._view, self._writer.store
        return view is not None and (not isinstance(store, Freezable) or view.state == store.state)

    @property
    def info(self) -> StoreInfo:
        """The contents of the view. Raises StoreError before :meth:`open` has succeeded."""
        with self.reading() as engine:
            return engine.info()

    @property
    def default_fusion(self) -> str | None:
        """The name of the fusion that searches use unless they name one; None if it cannot be used. Raises StoreError
        before :meth:`open` has succeeded.
        """
        with self.reading() as engine, suppress(FusionError):
            return engine.searcher.fusions.get(DEFAULT).name
        return None

    @contextmanager
    def reading(self) -> Iterator[Engine]:
        """Yield the engine to ask. Its store does not change until the block ends. Raises StoreError before
        :meth:`open` has succeeded.
        """
        with self._lock:
            view = self._view
            if view is None:
                raise StoreError("the store is not open yet")
            view.readers += 1
        try:
            yield view.engine
        finally:
            with self._lock:
                view.readers -= 1
                unused = view.retired and view.readers == 0
            if unused:
                view.engine.store.close()

    def read(self, work: Callable[[Engine], T]) -> T:
        """Return the result of ``work``, which is repeated when the store changed meanwhile."""
        for _ in range(_ATTEMPTS - 1):
            with suppress(StoreChangedError), self.reading() as engine:
                return work(engine)
        with self.reading() as engine:
            return work(engine)

    def change(self, work: Callable[[Engine], T]) -> T:
        """Run ``work`` with the writing engine, one at a time. Its committed changes are shown afterwards, even if it
        failed halfway.
        """
        with self._changing:
            try:
                return work(self._writer)
            finally:
                self._adopt()

    def stop(self) -> None:
        """Stop trying to open the store or to show its changes."""
        self._closing.set()

    def close(self) -> None:
        """Close the engine, and the view once its last reader has finished."""
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
        """Serve the committed state, and close the previous view once its last reader has finished."""
        store = self._writer.store
        store.refresh()
        if isinstance(store, Freezable):
            frozen = store.frozen(self._connections)
            engine, state = self._writer.on(frozen), frozen.state
        else:
            engine, state = self._writer, None
        try:
            embedded = engine.store.embedder is not None
            if embedded and self._view is None:
                engine.search(_WARMING, k=1, explain=True)
                _warm_images(engine)
        except BaseException:
            if engine is not self._writer:
                engine.store.close()
            raise
        view = _View(engine, state, embedded)
        with self._lock:
            before, self._view = self._view, view
        self._problem = None
        if before is not None and before.engine is not self._writer:
            self._retire(before)

    def _retire(self, view: _View) -> None:
        with self._lock:
            view.retired = True
            unused = view.readers == 0
        if unused:
            view.engine.store.close()

    def _follow(self) -> None:
        """Show changes made by other processes. If a state cannot be shown (a damaged index, a full disk), the failure
        is logged and retried with growing delays; the previous state stays in service.
        """
        wait = _CHECK_SECONDS
        while not self._closing.wait(wait):
            if not self._changing.acquire(blocking=False):
                continue  # this server is changing the store, and shows that change itself
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
        self._problem = f"{what} ({kind}); the log says more"  # public, so it contains no file names
        unexpected = not isinstance(error, TriviumError)
        _log.warning("%s, trying again in %g s: %s: %s", what, wait, kind, error, exc_info=unexpected)


def _warm_images(engine: Engine) -> None:
    """Load the image embedder so that no question has to wait for it. If that fails, everything except the retriever
    ``image`` still works.
    """
    if engine.store.image_embedder is None:
        return
    try:
        engine.search(_WARMING, 1, ["image"])
    except TriviumError as error:
        _log.warning("the retriever image cannot be asked: %s", error)
