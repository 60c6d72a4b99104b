"""Processes that answer questions: Python computes in one thread at a time, so one process is worth one core.

Each holds the store as the server does, at the state that the server shows. A question and its answer are JSON, each
one message of a pipe; nothing is pickled.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import signal
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pydantic import BaseModel
from threadpoolctl import threadpool_limits

from trivium.errors import StoreError
from trivium.server.collection import Collection
from trivium.server.engine import ServingEngine
from trivium.server.errors import ApiError, as_api_error
from trivium.server.logs import log_as_json, request_id
from trivium.server.questions import KINDS, Reply

Observe = Callable[[str, float], None]

_END_SECONDS = 10.0
_log = logging.getLogger(__name__)


class Processes:
    """``count`` processes on one store. Thread-safe; each answers one question at a time."""

    def __init__(self, store: str | Path, count: int, observe: Observe) -> None:
        """``observe`` is told how long the stages of a search took. Call :meth:`start` before anything else."""
        self._store = str(store)
        self._count = count
        self._observe = observe
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self.ready = False
        """Whether all have opened the store."""

    def start(self) -> None:
        """Start them and wait until the store is open, whose indexes must be up to date; who asks meanwhile waits too."""
        started = [_Process(self._store) for _ in range(self._count)]
        for process in started:
            with suppress(EOFError, OSError):  # whoever asks it will see
                process.wait()
            self._idle.put(process)
        self.ready = True

    def ask(self, kind: str, given: BaseModel, state: str | None) -> Reply:
        """The answer of whichever is idle, from a state of the store that is at least ``state``; waits for one.

        Raises ApiError where the question cannot be answered, StoreError where a process ended over it."""
        asked = {"kind": kind, "given": given.model_dump(), "state": state, "request": request_id.get()}
        process = self._idle.get()
        try:
            head, body = process.ask(json.dumps(asked).encode())
        except (EOFError, OSError) as error:
            _log.error("a process that answers questions has ended (exit code %s)", process.end())
            process = _Process(self._store)
            raise StoreError("the process that was asked has ended") from error
        finally:
            self._idle.put(process)
        for stage, seconds in head["stages"]:
            self._observe(stage, seconds)
        if "error" in head:
            raise ApiError(**head["error"])
        return Reply(body, head["headers"])

    def close(self) -> None:
        """End them all. Nobody may ask any more."""
        while not self._idle.empty():
            self._idle.get().end()


class _Process:
    """One of them, from outside."""

    def __init__(self, store: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_answer_all, args=(theirs, store), daemon=True)
        self._process.start()
        theirs.close()  # or its end would not be noticed
        self._open = False

    def wait(self) -> None:
        """Until it has opened the store. Raises EOFError or OSError where it ends instead."""
        if not self._open:
            self._pipe.recv_bytes()
            self._open = True

    def ask(self, question: bytes) -> tuple[dict[str, Any], bytes]:
        """Head and body of the answer. Raises EOFError or OSError where the process ends."""
        self.wait()
        self._pipe.send_bytes(question)
        return json.loads(self._pipe.recv_bytes()), self._pipe.recv_bytes()

    def end(self) -> int | None:
        """Wait for its end, not for ever; the exit code."""
        self._pipe.close()
        self._process.join(_END_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        return self._process.exitcode


# -- inside a process -----------------------------------------------------------------------------------------


def _answer_all(pipe: Connection, store: str) -> None:
    """Answer until the pipe is closed. Ctrl-C reaches every process of a terminal: the server says when to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_as_json(logging.WARNING)
    stages: list[tuple[str, float]] = []
    engine = ServingEngine.serving(store, lambda stage, seconds: stages.append((stage, seconds)))
    collection = Collection(engine, readers=1, changed=lambda _: None)
    with threadpool_limits(limits=1):
        collection.open(follow=False)
        with suppress(EOFError, OSError):
            pipe.send_bytes(b"open")
            while True:
                question = json.loads(pipe.recv_bytes())
                stages.clear()
                head, body = _answer(collection, question)
                pipe.send_bytes(json.dumps({**head, "stages": stages}).encode())
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
        told = as_api_error(error)
        if told.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            _log.exception("a question could not be answered")
        return {"error": _told(told)}, b""
    return {"headers": dict(reply.headers)}, reply.body


def _told(error: ApiError) -> dict[str, Any]:
    return {
        "status": error.status_code,
        "code": error.code,
        "message": error.detail,
        "headers": dict(error.headers or {}),
    }
