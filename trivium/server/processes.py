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
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from pydantic import BaseModel

from trivium.common.worker_processes import Worker, WorkerLostError
from trivium.errors import StoreError
from trivium.search.stage_timing import StageEnded, StageObserver
from trivium.server.errors import ApiError, busy
from trivium.server.logs import request_id
from trivium.server.question_kinds import Reply

FUNCTION = "trivium.server.process_main:answer_questions"
_OPEN_SECONDS = 300.0
"""Seconds a process may take to open the store before it is killed and replaced."""
_PAUSE_SECONDS = 5.0
"""Seconds before the next start after a process that ended before the store was open."""
_GRACE_SECONDS = 2.0
"""Seconds after the deadline of its question when a process is killed: usually it is only late."""
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
        self._workers = [Worker(FUNCTION, (str(store), engine_options or {})) for _ in range(count)]
        self._idle: Queue[Worker] = Queue()
        self._opening = set(self._workers)
        self._closing = threading.Event()

    def start(self) -> None:
        """Start the processes. Callers of :meth:`ask` wait until one has opened the store."""
        os.environ.setdefault("GLIBC_TUNABLES", _MALLOC)  # read when a process starts, so not for this one
        for worker in self._workers:
            self._open(worker)

    @property
    def count(self) -> int:
        """The configured number of processes."""
        return len(self._workers)

    @property
    def answering(self) -> int:
        """Number of processes that have opened the store."""
        return len(self._workers) - len(self._opening)

    def ask(
        self, kind: str, given: BaseModel, state: str | None, deadline: float, *, alone: bool = False
    ) -> Reply:
        """Return the answer of an idle process, waiting for one if needed. The store must be at ``state`` or newer. If
        ``alone``, the process uses one core.

        A process that has not answered soon after ``deadline`` (in terms of :func:`time.monotonic`) is killed and
        replaced. Raises ApiError when the question cannot be answered or takes too long, and StoreError when the
        process ended while answering.
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
            answer = worker.ask(json.dumps(asked).encode(), deadline - time.monotonic() + _GRACE_SECONDS)
        except WorkerLostError as error:
            self._open(worker)
            if time.monotonic() >= deadline:
                raise _late() from None
            _log.error("a process that answers questions has ended (exit code %s)", error.exit_code)
            raise StoreError("the process that was asked has ended") from error
        self._idle.put(worker)
        first, _, body = answer.partition(b"\n")
        head = json.loads(first)
        for ended in head["stages"]:
            self._on_stage(StageEnded(*ended))
        if "error" in head:
            raise ApiError(**head["error"])
        return Reply(body, head["headers"])

    def _next_idle(self, deadline: float) -> Worker:
        """Return a running process. Raises ApiError if none becomes idle in time."""
        while True:
            try:
                worker = self._idle.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                raise _late() from None
            if worker.is_alive:
                return worker
            self._open(worker)

    def close(self) -> None:
        """End all processes. Questions in progress are abandoned with a StoreError."""
        self._closing.set()
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.end()

    def _open(self, worker: Worker) -> None:
        """Start a process and let it open the store, in another thread."""
        self._opening.add(worker)
        threading.Thread(target=self._open_until_it_works, args=(worker,), name="open", daemon=True).start()

    def _open_until_it_works(self, worker: Worker) -> None:
        while not self._closing.is_set():
            try:
                pipe = worker.connect()
                if pipe.poll(_OPEN_SECONDS):
                    pipe.recv_bytes()
                    self._opening.discard(worker)
                    self._idle.put(worker)
                    return
            except (EOFError, OSError, WorkerLostError):
                pass
            code = worker.end(0)
            if not self._closing.wait(_PAUSE_SECONDS):
                _log.error("a process that answers questions cannot open the store (exit code %s)", code)


def _late() -> ApiError:
    return busy("no process answered in time", "timeout")
