"""The main function of a process that answers questions (:mod:`trivium.server.processes`)."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from threadpoolctl import threadpool_limits

from trivium.common.second_core import alone
from trivium.common.stopping import Stop, StoppedError
from trivium.engine import Engine
from trivium.search.stages import StageEnded
from trivium.server.collection import Collection
from trivium.server.errors import ApiError, as_api_error
from trivium.server.logs import log_as_json, request_id, write_log
from trivium.server.questions import KINDS

_log = logging.getLogger(__name__)


def answer_all(pipe: Connection, store: str, engine_options: dict[str, Any]) -> None:
    """Open the store, report that, and answer questions until the pipe is closed."""
    log_as_json(logging.WARNING)
    try:
        _open_and_answer(pipe, store, engine_options)
    except Exception:  # otherwise it would come on stderr unformatted
        _log.exception("a process that answers questions has failed")
        write_log()
        sys.exit(1)


def _open_and_answer(pipe: Connection, store: str, engine_options: dict[str, Any]) -> None:
    stages: list[StageEnded] = []
    engine = Engine.open(store, on_stage=stages.append, **engine_options)
    collection = Collection(engine, readers=1)
    with threadpool_limits(limits=1):
        collection.open(follow=False)
        with suppress(EOFError, OSError):
            pipe.send_bytes(b"open")
            inbox = _Inbox(pipe)
            while (question := inbox.next()) is not None:
                stages.clear()
                with inbox.stoppable(question["number"]), alone(question["alone"]):
                    head, body = _answer(collection, question)
                head["stages"] = [(ended.stage, ended.seconds, ended.retriever) for ended in stages]
                inbox.reply(head, body)
    collection.close()


class _Inbox:
    """Messages of the pipe, read also while a question is being answered, because its caller may give up."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._questions: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._number, self._stop = 0, Stop()
        self._stopped = 0  # the last question that was to be stopped, perhaps before it was begun
        threading.Thread(target=self._read, name="inbox", daemon=True).start()

    def next(self) -> dict[str, Any] | None:
        """Return the next question; None after the last."""
        return self._questions.get()

    @contextmanager
    def stoppable(self, number: int) -> Iterator[None]:
        """Make the work on the question with this number stoppable."""
        with self._lock:
            self._number, self._stop = number, Stop()
            if self._stopped == number:
                self._stop.ask()
        with self._stop.in_force():
            yield

    def reply(self, head: dict[str, Any], body: bytes = b"") -> None:
        """Answer the current question."""
        self._pipe.send_bytes(json.dumps(head).encode() + b"\n" + body)

    def _read(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                message = json.loads(self._pipe.recv_bytes())
                if "stop" in message:
                    self._stop_if_current(message["stop"])
                else:
                    self._questions.put(message)
        self._questions.put(None)

    def _stop_if_current(self, number: int) -> None:
        with self._lock:
            self._stopped = number
            if number == self._number:
                self._stop.ask()


def _answer(collection: Collection, question: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    request_id.set(question["request"])
    kind = KINDS[question["kind"]]
    try:
        collection.sync_to(question["state"])
        given = kind.given.model_validate(question["given"])
        reply = collection.read(lambda engine: kind.work(engine, given))
    except Exception as error:
        answer = as_api_error(error)
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR and not isinstance(error, StoppedError):
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
