"""Processes that answer questions: Python computes in one thread at a time, so one process is worth one core.

Each holds the store as the server does, at the state that the server shows. A question and its answer are JSON, each
one message of a pipe; nothing is pickled.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from pydantic import BaseModel

from trivium.common import stopping
from trivium.common.threads import Thread
from trivium.errors import StoreError
from trivium.search.stages import StageEnded, StageObserver
from trivium.server.errors import ApiError, busy
from trivium.server.logs import request_id
from trivium.server.questions import Reply
from trivium.server.search_process import answer_all

_TAKEN_SECONDS = 0.5
"""How long a process may take to take up a question; then another one is asked."""
_END_SECONDS = 3.0
"""How long processes that are told to end may take; then they are killed."""
_OPEN_SECONDS = 300.0
"""How long a process may take to open the store; then it is killed and replaced."""
_CHECK_SECONDS = 0.25
"""How soon a process that ended or is stuck is noticed."""
_MAX_PAUSE_SECONDS = 60.0
"""The longest pause before the next start where processes end again and again before the store is open."""

_log = logging.getLogger(__name__)


class Processes:
    """``count`` processes on one store. Thread-safe; each answers one question at a time. A process that ends is
    replaced, and so is one that takes too long over a question. One that does not even take a question up is given no
    other, and the question goes to another process."""

    def __init__(
        self,
        store: str | Path,
        count: int,
        on_stage: StageObserver,
        engine_options: Mapping[str, Any] | None = None,
    ) -> None:
        """``on_stage`` is told of the stages of their searches; ``engine_options`` are further arguments of their engines
        (the selector by name, settings). Call :meth:`start` before anything else."""
        self._on_stage = on_stage
        self._workers = [_Worker(str(store), dict(engine_options or {})) for _ in range(count)]
        self._idle: Queue[_Worker] = Queue()
        self._absent: Queue[_Worker] = Queue()
        """Those that cannot be asked now: they are opening the store, or have not been heard of."""
        self._closing = threading.Event()
        self._checking = Thread(target=self._check, name="processes", daemon=True)

    def start(self) -> None:
        """Start them and wait until each has opened the store, whose indexes must be up to date, or has failed to; who
        asks meanwhile waits too."""
        for worker in self._workers:
            worker.start()
        for worker in self._workers:
            with suppress(EOFError, OSError):  # TimeoutError is an OSError; the checks find out
                worker.wait_open(time.monotonic() + _OPEN_SECONDS)
            (self._idle if worker.ready else self._absent).put(worker)
        self._checking.start()

    @property
    def count(self) -> int:
        """How many there are to be."""
        return len(self._workers)

    @property
    def answering(self) -> int:
        """How many can be asked, or are being asked."""
        return sum(worker.ready for worker in self._workers)

    @property
    def ready(self) -> bool:
        """Whether one of them, at least, is running and has opened the store."""
        return self.answering > 0

    @property
    def died(self) -> bool:
        """Whether nobody replaces processes any more, though they are not being closed."""
        return self._checking.ended and not self._closing.is_set()

    def ask(self, kind: str, given: BaseModel, state: str | None, deadline: float) -> Reply:
        """The answer of whichever is idle, from a state of the store that is at least ``state``; waits for one.

        A process that has not answered by the ``deadline`` (of :func:`time.monotonic`) is killed and replaced. Raises
        ApiError where the question cannot be answered or takes too long, StoreError where a process ended over it."""
        asked = {"kind": kind, "given": given.model_dump(), "state": state, "request": request_id.get()}
        try:
            head, body = self._ask_one(asked, deadline)
        except (Empty, TimeoutError):
            raise busy("no process answered in time", "timeout") from None
        except (EOFError, OSError) as error:
            raise StoreError("the process that was asked has ended") from error
        for ended in head["stages"]:
            self._on_stage(StageEnded(**ended))
        if "error" in head:
            raise ApiError(**head["error"])
        return Reply(body, head["headers"])

    def _ask_one(self, asked: dict[str, Any], deadline: float) -> tuple[dict[str, Any], bytes]:
        while True:
            worker = self._next_idle(deadline)
            came_back = self._idle
            try:
                return worker.ask(asked, deadline)
            except _NotTakenError:
                came_back = self._absent
            except (EOFError, OSError):
                came_back = self._absent
                raise
            finally:
                came_back.put(worker)

    def _next_idle(self, deadline: float) -> _Worker:
        """Raises Empty where none is idle in time, EOFError where none can open the store."""
        while True:
            left = deadline - time.monotonic()
            try:
                return self._idle.get(timeout=min(max(0.0, left), _CHECK_SECONDS))
            except Empty:
                if left <= _CHECK_SECONDS:
                    raise
                if all(worker.failing for worker in self._workers):
                    raise EOFError from None

    def close(self) -> None:
        """End them all. Questions under way are given up: their askers get a StoreError."""
        self._closing.set()
        if self._checking.is_alive():
            self._checking.join()
        deadline = time.monotonic() + _END_SECONDS
        for worker in self._workers:
            worker.hang_up()
        for worker in self._workers:
            worker.end(deadline)

    def _check(self) -> None:
        """Kill what is stuck, and replace what ended, also between questions."""
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
                    except Exception:  # such as no descriptor, or no memory, for another process
                        _log.exception("a process that answers questions could not be replaced yet")
                    (self._idle if worker.ready else self._absent).put(worker)


class _NotTakenError(Exception):
    """The process does not take up the question."""


class _Worker:
    """A process, and after its end the one in its place. One thread at a time may use it; any may look whether it is
    :attr:`ready`, end it, or kill it when it is overdue."""

    def __init__(self, store: str, engine_options: dict[str, Any]) -> None:
        self._arguments = (store, engine_options)
        self._lock = threading.Lock()  # guards the process: a late kill must not hit its successor
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._opened = False
        self._started = 0.0
        self._failures = 0  # processes in a row that ended before the store was open
        self._deadline: float | None = None
        self._question = 0
        self._silent = False  # it has not taken up the last question yet
        self._closed = False

    @property
    def ready(self) -> bool:
        """Whether the process is running, has opened the store, and took up what it was asked last. Never waits."""
        process = self._process
        return self._opened and not self._silent and process is not None and process.is_alive()

    @property
    def failing(self) -> bool:
        """Whether a process has ended before it had opened the store, and none has opened it since."""
        return self._failures > 0

    def start(self) -> None:
        """Start a process, unless the server is being closed."""
        with self._lock:
            if self._closed:
                return
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._opened, self._deadline, self._started = False, None, time.monotonic()
            self._silent = False
            self._process = context.Process(target=answer_all, args=(theirs, *self._arguments), daemon=True)
            self._process.start()
            theirs.close()  # else the end of the process would not close the pipe

    def wait_open(self, deadline: float) -> None:
        """Until it has opened the store. Raises TimeoutError, EOFError or OSError where it ends instead."""
        if self._opened:
            return
        pipe = self._connection()
        if not pipe.poll(max(0.0, deadline - time.monotonic())):
            raise TimeoutError
        pipe.recv_bytes()
        self._opened, self._failures = True, 0

    def ask(self, asked: dict[str, Any], deadline: float) -> tuple[dict[str, Any], bytes]:
        """Head and body of the answer. Raises _NotTakenError where the process does not begin, TimeoutError where the
        answer is not there in time, EOFError or OSError where the process ends; it is replaced then."""
        self.check()
        if not self._opened:
            raise _NotTakenError
        pipe = self._connection()
        self._question += 1
        with self._lock:
            self._deadline = deadline
        try:
            pipe.send_bytes(json.dumps({**asked, "number": self._question}).encode())
            self._wait_taken(pipe, deadline)
            with stopping.calling(lambda: self._stop(pipe)):
                return json.loads(pipe.recv_bytes()), pipe.recv_bytes()
        except (EOFError, OSError):
            self._replace()
            if time.monotonic() >= deadline:
                raise TimeoutError from None
            raise
        finally:
            if not self._silent:
                with self._lock:
                    self._deadline = None

    def _stop(self, pipe: Connection) -> None:
        """Tell the process that nobody waits for the answer it is working on. It answers all the same, soon."""
        with suppress(OSError):
            pipe.send_bytes(json.dumps({"stop": self._question}).encode())

    def _wait_taken(self, pipe: Connection, deadline: float) -> None:
        """Until the process says that it has begun; answers to questions that were given up are thrown away."""
        until = min(deadline, time.monotonic() + _TAKEN_SECONDS)
        while True:
            if not pipe.poll(max(0.0, until - time.monotonic())):
                self._silent = True
                raise _NotTakenError
            said = json.loads(pipe.recv_bytes())
            if said.get("taken") == self._question:
                return
            if "taken" not in said:
                pipe.recv_bytes()

    def check(self) -> None:
        """Look whether it has opened the store, or is heard of again; replace it where it has ended or takes too long for
        that."""
        with suppress(EOFError, OSError):
            self.wait_open(time.monotonic())
            self._listen()
        with self._lock:
            process = self._process
            if process is None:
                return
            if not self._opened and time.monotonic() - self._started > _OPEN_SECONDS:
                process.kill()
                process.join()
            ended = not process.is_alive()
        if ended:
            self._replace()

    def _listen(self) -> None:
        """Look whether it is heard of again. What it says is read with the next question."""
        if self._silent and self._connection().poll(0):
            with self._lock:
                self._silent, self._deadline = False, None

    def kill_if_overdue(self) -> None:
        """End a process that is not done with its question by the deadline: its asker then gets a TimeoutError."""
        with self._lock:
            if self._deadline is None or time.monotonic() < self._deadline or self._process is None:
                return
            self._process.kill()

    def hang_up(self) -> None:
        """Tell the process to end: by the end of its pipe, or where it is at work, at once. None takes its place."""
        with self._lock:
            self._closed = True
            if self._process is None:
                return
            if self._deadline is not None or not self._opened:
                self._process.kill()
            elif self._pipe is not None:
                self._pipe.close()

    def end(self, deadline: float) -> None:
        """Wait until the process has ended; it is killed at the ``deadline``."""
        if self._process is None:
            return
        self._process.join(max(0.0, deadline - time.monotonic()))
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _replace(self) -> None:
        """Start another process in the place of one that has ended, or has closed its pipe; not at once where one after
        the other ended before the store was open."""
        with self._lock:
            process = self._process
            if self._closed or process is None:
                return
            process.kill()
            process.join()
            if not self._opened and time.monotonic() < self._started + pause(self._failures):
                return
            if not self._opened:
                self._failures += 1
            _log.error(
                "a process that answers questions has ended (exit code %s): it is replaced", process.exitcode
            )
            if self._pipe is not None:
                self._pipe.close()
        self.start()

    def _connection(self) -> Connection:
        if self._pipe is None:
            raise EOFError
        return self._pipe


def pause(failures: int) -> float:
    """Seconds from one start to the next, after so many processes in a row that ended before the store was open.

    >>> [pause(failures) for failures in (0, 1, 2, 5, 6, 100)]
    [0.0, 2.0, 4.0, 32.0, 60.0, 60.0]
    """
    return min(2.0 ** min(failures, 10), _MAX_PAUSE_SECONDS) if failures else 0.0
