"""Processes that answer questions: Python computes in one thread at a time, so one process is worth one core.

Each holds the store as the server does, at the state that the server shows. A question and its answer are JSON, each
one message of a pipe; nothing is pickled.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from pydantic import BaseModel
from threadpoolctl import threadpool_limits

from trivium.engine import Engine
from trivium.errors import StoreError
from trivium.search.stages import StageEnded, StageObserver
from trivium.server.collection import Collection
from trivium.server.errors import ApiError, as_api_error, busy
from trivium.server.logs import log_as_json, request_id
from trivium.server.questions import KINDS, Reply

_END_SECONDS = 10.0
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
    replaced, and so is one that takes too long over a question."""

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
        self._closing = threading.Event()
        self._checking = threading.Thread(target=self._check, name="processes", daemon=True)

    def start(self) -> None:
        """Start them and wait until each has opened the store, whose indexes must be up to date, or has failed to; who
        asks meanwhile waits too."""
        for worker in self._workers:
            worker.start()
        for worker in self._workers:
            with suppress(EOFError, OSError):  # TimeoutError is an OSError; the next question finds out
                worker.wait_open(time.monotonic() + _OPEN_SECONDS)
            self._idle.put(worker)
        self._checking.start()

    @property
    def ready(self) -> bool:
        """Whether one of them, at least, is running and has opened the store."""
        return any(worker.ready for worker in self._workers)

    def ask(self, kind: str, given: BaseModel, state: str | None, deadline: float) -> Reply:
        """The answer of whichever is idle, from a state of the store that is at least ``state``; waits for one.

        A process that has not answered by the ``deadline`` (of :func:`time.monotonic`) is killed and replaced. Raises
        ApiError where the question cannot be answered or takes too long, StoreError where a process ended over it."""
        asked = {"kind": kind, "given": given.model_dump(), "state": state, "request": request_id.get()}
        try:
            worker = self._idle.get(timeout=max(0.0, deadline - time.monotonic()))
            try:
                head, body = worker.ask(json.dumps(asked).encode(), deadline)
            finally:
                self._idle.put(worker)
        except (Empty, TimeoutError):
            raise busy("no process answered in time", "timeout") from None
        except (EOFError, OSError) as error:
            raise StoreError("the process that was asked has ended") from error
        for ended in head["stages"]:
            self._on_stage(StageEnded(**ended))
        if "error" in head:
            raise ApiError(**head["error"])
        return Reply(body, head["headers"])

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
            for _ in self._workers:
                try:
                    worker = self._idle.get_nowait()
                except Empty:
                    break
                try:
                    worker.check()
                finally:
                    self._idle.put(worker)


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
        self._closed = False

    @property
    def ready(self) -> bool:
        """Whether the process is running and has opened the store. Never waits."""
        process = self._process
        return self._opened and process is not None and process.is_alive()

    def start(self) -> None:
        """Start a process, unless the server is being closed."""
        with self._lock:
            if self._closed:
                return
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._opened, self._deadline, self._started = False, None, time.monotonic()
            self._process = context.Process(target=_answer_all, args=(theirs, *self._arguments), daemon=True)
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

    def ask(self, question: bytes, deadline: float) -> tuple[dict[str, Any], bytes]:
        """Head and body of the answer. Raises TimeoutError where it is not there in time, EOFError or OSError where the
        process ends; it is replaced then."""
        self.check()
        self.wait_open(deadline)
        pipe = self._connection()
        with self._lock:
            self._deadline = deadline
        try:
            pipe.send_bytes(question)
            return json.loads(pipe.recv_bytes()), pipe.recv_bytes()
        except (EOFError, OSError):
            self._replace()
            if time.monotonic() >= deadline:
                raise TimeoutError from None
            raise
        finally:
            with self._lock:
                self._deadline = None

    def check(self) -> None:
        """Look whether it has opened the store; replace it where it has ended or takes too long for that."""
        with suppress(EOFError, OSError):
            self.wait_open(time.monotonic())
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


# -- inside a process -----------------------------------------------------------------------------------------


def _answer_all(pipe: Connection, store: str, engine_options: dict[str, Any]) -> None:
    """Answer until the pipe is closed. Ctrl-C reaches every process of a terminal: the server says when to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_as_json(logging.WARNING)
    stages: list[StageEnded] = []
    engine = Engine.open(store, on_stage=stages.append, **engine_options)
    collection = Collection(engine, readers=1, changed=lambda _: None)
    with threadpool_limits(limits=1):
        collection.open(follow=False)
        with suppress(EOFError, OSError):
            pipe.send_bytes(b"open")
            while True:
                question = json.loads(pipe.recv_bytes())
                stages.clear()
                head, body = _answer(collection, question)
                pipe.send_bytes(json.dumps({**head, "stages": [asdict(ended) for ended in stages]}).encode())
                pipe.send_bytes(body)
    collection.close()


def _answer(collection: Collection, question: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    request_id.set(question["request"])
    kind = KINDS[question["kind"]]
    try:
        collection.sync_to(question["state"])
        given = kind.given.model_validate(question["given"])
        reply = collection.read(lambda engine: kind.work(engine, given))
    except Exception as error:
        answer = as_api_error(error)
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            _log.exception("a question could not be answered")
        return {"error": _error_fields(answer)}, b""
    return {"headers": dict(reply.headers)}, reply.body


def _error_fields(error: ApiError) -> dict[str, Any]:
    return {
        "status": error.status_code,
        "code": error.code,
        "message": error.detail,
        "headers": dict(error.headers or {}),
    }
