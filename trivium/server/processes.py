"""Processes that answer questions. Python code runs in one thread at a time, so each process can use one more core.

Each process opens the store at the state that the server shows. A question and its answer are JSON, each one message of
a pipe; nothing is pickled.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from pydantic import BaseModel

from trivium.common import stopping
from trivium.common.threads import Thread
from trivium.common.workers import Worker
from trivium.errors import StoreError
from trivium.search.stages import StageEnded, StageObserver
from trivium.server.errors import ApiError, busy
from trivium.server.logs import request_id
from trivium.server.questions import Reply

FUNCTION = "trivium.server.search_process:answer_all"
_END_SECONDS = 3.0
"""Seconds processes may take to end when asked to, before they are killed."""
_OPEN_SECONDS = 300.0
"""Seconds a process may take to open the store before it is killed and replaced."""
_CHECK_SECONDS = 0.25
"""Interval at which ended or stuck processes are detected, in seconds."""
_MAX_PAUSE_SECONDS = 60.0
"""Maximum delay before the next start when processes repeatedly end before the store is open."""
_MALLOC = "glibc.malloc.hugetlb=1"
"""Lets the C library ask for pages of 2 MB for the model and the indexes, which are read from end to end for every
question: fewer addresses have to be looked up. Other C libraries ignore it.
"""

_log = logging.getLogger(__name__)


class Processes:
    """``count`` processes on one store. Thread-safe; each process answers one question at a time. A process that ends,
    or takes too long for a question, is replaced.
    """

    def __init__(
        self,
        store: str | Path,
        count: int,
        on_stage: StageObserver,
        engine_options: Mapping[str, Any] | None = None,
    ) -> None:
        """``on_stage`` is notified of the stages of their searches. ``engine_options`` are further arguments of their
        engines (the selector by name, settings). Call :meth:`start` before anything else.
        """
        self._on_stage = on_stage
        self._workers = [_Worker(str(store), dict(engine_options or {})) for _ in range(count)]
        self._idle: Queue[_Worker] = Queue()
        self._absent: Queue[_Worker] = Queue()
        """Processes that are opening the store or have ended."""
        self._closing = threading.Event()
        self._checking = Thread(target=self._check, name="processes", daemon=True)

    def start(self) -> None:
        """Start the processes and wait until each has opened the store, whose indexes must be up to date, or has
        failed. Callers of :meth:`ask` wait meanwhile.
        """
        os.environ.setdefault("GLIBC_TUNABLES", _MALLOC)  # read when a process starts, so not for this one
        for worker in self._workers:
            worker.start()
        for worker in self._workers:
            worker.wait_open(_OPEN_SECONDS)
            self._put(worker)
        self._checking.start()

    @property
    def count(self) -> int:
        """The configured number of processes."""
        return len(self._workers)

    @property
    def answering(self) -> int:
        """Number of processes that are ready or answering."""
        return sum(worker.ready for worker in self._workers)

    @property
    def ready(self) -> bool:
        """Whether at least one process is running and has opened the store."""
        return self.answering > 0

    @property
    def died(self) -> bool:
        """Whether the thread that replaces processes has died although they are not being closed."""
        return self._checking.ended and not self._closing.is_set()

    def ask(
        self, kind: str, given: BaseModel, state: str | None, deadline: float, *, alone: bool = False
    ) -> Reply:
        """Return the answer of an idle process, waiting for one if needed. The store must be at ``state`` or newer. If
        ``alone``, the process uses one core.

        A process that has not answered by ``deadline`` (in terms of :func:`time.monotonic`) is killed and replaced.
        Raises ApiError when the question cannot be answered or takes too long, and StoreError when the process ended
        while answering.
        """
        asked = {
            "kind": kind,
            "given": given.model_dump(exclude_defaults=True),
            "state": state,
            "request": request_id.get(),
            "alone": alone,
        }
        worker = self._next_idle(deadline)
        try:
            head, body = worker.ask(asked, deadline)
        except (EOFError, OSError) as error:
            if time.monotonic() >= deadline:
                raise _late() from None
            raise StoreError("the process that was asked has ended") from error
        finally:
            self._put(worker)
        for ended in head["stages"]:
            self._on_stage(StageEnded(*ended))
        if "error" in head:
            raise ApiError(**head["error"])
        return Reply(body, head["headers"])

    def _next_idle(self, deadline: float) -> _Worker:
        """Raise ApiError if no process becomes idle in time, and StoreError if none can open the store."""
        while True:
            left = deadline - time.monotonic()
            try:
                worker = self._idle.get(timeout=min(max(0.0, left), _CHECK_SECONDS))
            except Empty:
                if left <= _CHECK_SECONDS:
                    raise _late() from None
                if all(worker.failing for worker in self._workers):
                    raise StoreError("no process can open the store") from None
            else:
                if worker.ready:
                    return worker
                self._absent.put(worker)

    def close(self) -> None:
        """End all processes. Questions in progress are abandoned with a StoreError."""
        self._closing.set()
        if self._checking.is_alive():
            self._checking.join()
        deadline = time.monotonic() + _END_SECONDS
        for worker in self._workers:
            worker.hang_up()
        for worker in self._workers:
            worker.end(deadline)

    def _put(self, worker: _Worker) -> None:
        (self._idle if worker.ready else self._absent).put(worker)

    def _check(self) -> None:
        """Kill stuck processes and replace ended ones, also between questions."""
        while not self._closing.wait(_CHECK_SECONDS):
            for worker in self._workers:
                worker.kill_if_overdue()
            for among in (self._idle, self._absent):
                for _ in range(among.qsize()):
                    try:
                        worker = among.get_nowait()
                    except Empty:
                        break
                    try:
                        worker.check()
                    except Exception:  # for example no file descriptor or memory for another process
                        _log.exception("a process that answers questions could not be replaced yet")
                    self._put(worker)


def _late() -> ApiError:
    return busy("no process answered in time", "timeout")


class _Worker:
    """A process, and its successors after it has ended. Only one thread at a time may use it, but any may check whether
    it is :attr:`ready`, end it, or kill it when it is overdue.
    """

    def __init__(self, store: str, engine_options: dict[str, Any]) -> None:
        self._arguments = (store, engine_options)
        self._lock = threading.Lock()  # guards the process, so that a late kill cannot hit its successor
        self._sending = threading.Lock()  # a stop comes from another thread
        self._process: Worker | None = None
        self._pipe: Connection | None = None
        self._opened = False
        self._lost = False  # its pipe is closed: it ends, but the system may not know that yet
        self._failures = 0  # number of consecutive processes that ended before the store was open
        self._started = 0.0
        self._deadline: float | None = None  # of the question, or of opening the store
        self._question = 0
        self._closed = False

    @property
    def ready(self) -> bool:
        """Whether the process is running and has opened the store. Never blocks."""
        process = self._process
        return self._opened and not self._lost and process is not None and process.is_alive

    @property
    def failing(self) -> bool:
        """Whether a process ended before it opened the store, and none has opened it since."""
        return self._failures > 0

    def start(self) -> None:
        """Start a process unless the server is being closed."""
        with self._lock:
            if self._closed:
                return
            self._opened, self._lost, self._started = False, False, time.monotonic()
            self._deadline = self._started + _OPEN_SECONDS
            self._process = Worker(FUNCTION, self._arguments)
            self._pipe = self._process.connect()

    def wait_open(self, seconds: float) -> None:
        """Wait until the process has opened the store or has ended, but no longer than that."""
        with suppress(EOFError, OSError):
            if not self._opened and self._pipe is not None and self._pipe.poll(seconds):
                self._pipe.recv_bytes()
                with self._lock:
                    self._opened, self._failures, self._deadline = True, 0, None

    def ask(self, asked: dict[str, Any], deadline: float) -> tuple[dict[str, Any], bytes]:
        """Return head and body of the answer. Raises EOFError or OSError when the process ends, also because it was
        killed at the deadline.
        """
        pipe = self._pipe
        assert pipe is not None
        self._question += 1
        with self._lock:
            self._deadline = deadline
        try:
            self._send(pipe, {**asked, "number": self._question})
            with stopping.calling(lambda: self._stop(pipe)):
                head, _, body = pipe.recv_bytes().partition(b"\n")
            return json.loads(head), body
        except (EOFError, OSError):
            self._lost = True
            self._kill()  # where only its pipe is closed
            raise
        finally:
            with self._lock:
                self._deadline = None

    def _stop(self, pipe: Connection) -> None:
        """Tell the process that its current answer is no longer needed. It still answers, but soon."""
        with suppress(OSError):
            self._send(pipe, {"stop": self._question})

    def _send(self, pipe: Connection, message: dict[str, Any]) -> None:
        with self._sending:
            pipe.send_bytes(json.dumps(message).encode())

    def check(self) -> None:
        """Check whether the process has opened the store, and replace it if it has ended: after a delay if processes
        repeatedly ended before the store was open.
        """
        self.wait_open(0)
        with self._lock:
            process = self._process
            if self._closed or process is None or process.is_alive:
                return
            if not self._opened:
                if time.monotonic() < self._started + pause(self._failures):
                    return
                self._failures += 1
            _log.error(
                "a process that answers questions has ended (exit code %s): it is replaced", process.end(0)
            )
        self.start()

    def kill_if_overdue(self) -> None:
        """Kill a process that has exceeded the deadline of its question, or of opening the store."""
        with self._lock:
            if self._deadline is not None and time.monotonic() >= self._deadline:
                self._kill_process()

    def hang_up(self) -> None:
        """End the process for good: by closing its pipe, or by killing it if it is working."""
        with self._lock:
            self._closed = True
            if self._deadline is None and self._pipe is not None:
                self._pipe.close()
                return
        self._kill()

    def end(self, deadline: float) -> None:
        """Wait until the process has ended, and kill it at ``deadline``."""
        if self._process is not None:
            self._process.end(max(0.0, deadline - time.monotonic()))

    def _kill(self) -> None:
        with self._lock:
            self._kill_process()

    def _kill_process(self) -> None:
        if self._process is not None:
            self._process.kill()


def pause(failures: int) -> float:
    """Return the seconds between two starts after that many consecutive processes that ended before the store was open.

    >>> [pause(failures) for failures in (0, 1, 2, 5, 6, 100)]
    [0.0, 2.0, 4.0, 32.0, 60.0, 60.0]
    """
    return min(2.0 ** min(failures, 10), _MAX_PAUSE_SECONDS) if failures else 0.0
