"""The main function of a process that answers questions (:mod:`trivium.server.processes`)."""

from __future__ import annotations

import json
import logging
import sys
from http import HTTPStatus
from multiprocessing.connection import Connection
from typing import Any

from threadpoolctl import threadpool_limits

from trivium.common.idle_cores import alone
from trivium.common.worker_processes import answer_all
from trivium.engine import Engine
from trivium.search.stage_timing import StageEnded
from trivium.server.collection import Collection
from trivium.server.errors import ApiError, as_api_error
from trivium.server.logs import log_as_json, request_id
from trivium.server.question_kinds import KINDS

_log = logging.getLogger(__name__)


def answer_questions(pipe: Connection, store: str, engine_options: dict[str, Any]) -> None:
    """Open the store, report that, and answer questions until the pipe is closed."""
    log_as_json(logging.WARNING)
    try:
        _open_and_answer(pipe, store, engine_options)
    except Exception:  # otherwise it would come on stderr unformatted
        _log.exception("a process that answers questions has failed")
        sys.exit(1)


def _open_and_answer(pipe: Connection, store: str, engine_options: dict[str, Any]) -> None:
    stages: list[StageEnded] = []
    engine = Engine.open(store, on_stage=stages.append, **engine_options)
    collection = Collection(engine, readers=1)

    def answer(request: bytes) -> bytes:
        question = json.loads(request)
        stages.clear()
        with alone(question["alone"]):
            head, body = _answer(collection, question)
        head["stages"] = [(ended.stage, ended.seconds, ended.retriever) for ended in stages]
        return json.dumps(head).encode() + b"\n" + body

    with threadpool_limits(limits=1):
        collection.open(follow=False)
        pipe.send_bytes(b"open")
        answer_all(pipe, answer)
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
