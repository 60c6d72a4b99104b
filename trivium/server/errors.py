"""Error responses. Every error is one JSON object, ``{"error": {"code", "message"}}``, below :data:`OPENAI` with
``type`` and ``param`` beside them, as clients of OpenAI's API expect.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from trivium.common.stopping import StoppedError
from trivium.errors import (
    AudioTooLongError,
    ChatModelError,
    EmbeddingError,
    FusionError,
    InputError,
    MissingExtraError,
    NotEmbeddedError,
    SpeechError,
    StoreBusyError,
    StoreChangedError,
    StoreError,
    TriviumError,
)
from trivium.server.job_table import NoJobsError, QueueFullError
from trivium.server.live_switch import LiveOffError
from trivium.server.request_fields import OptionError, describe_faults
from trivium.server.thread_pool import PoolFullError

OPENAI = "/v1/"
"""Paths of the routes that speak OpenAI's API begin with this."""
RETRY_SECONDS = 1
CLIENT_GONE = 499
"""Status logged for a request whose client closed the connection. It is never sent."""

_log = logging.getLogger(__name__)

_CODES = {
    HTTPStatus.BAD_REQUEST: "bad_request",
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
    HTTPStatus.UNPROCESSABLE_ENTITY: "invalid",
    HTTPStatus.TOO_MANY_REQUESTS: "too_many_requests",
    HTTPStatus.INSUFFICIENT_STORAGE: "no_space",
}


class ApiError(HTTPException):
    """An error response. (FastAPI replaces any other exception that is raised while it reads a body.)"""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.code = code

    def response(self, path: str) -> JSONResponse:
        """Convert the error to a response to a request for this path."""
        body = openai_body(self) if path.startswith(OPENAI) else error_body(self.code, self.detail)
        return JSONResponse(body, self.status_code, self.headers)


def error_body(code: str, message: str) -> dict[str, dict[str, str]]:
    """Return the JSON of an error."""
    # Lone surrogates, which JSON escapes can represent, cannot be encoded.
    return {"error": {"code": code, "message": message.encode("utf-8", "replace").decode("utf-8")}}


def openai_body(error: ApiError) -> dict[str, dict[str, str | None]]:
    """Return the JSON of an error in the form of OpenAI's API."""
    ours = error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
    kind = "server_error" if ours else "invalid_request_error"
    return {"error": {**error_body(error.code, error.detail)["error"], "type": kind, "param": None}}


def unsupported(kind: str, expected: str) -> ApiError:
    """Return a 415 error for a request with content of another ``kind``."""
    return ApiError(
        415, "unsupported_media_type", f"expected {expected}, got {kind[:100] or 'no content type'}"
    )


def busy(message: str, code: str = "busy", *, close: bool = False) -> ApiError:
    """Return a 503 error that asks the client to retry. ``close`` the connection if the request has not been read."""
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return ApiError(503, code, message, {**headers, "Connection": "close"} if close else headers)


def empty() -> ApiError:
    """Return the error for a store without vectors."""
    return ApiError(
        409,
        "empty",
        "nothing is embedded in the store yet: add documents first",
    )


def disk_full() -> ApiError:
    """Return the error for a full disk."""
    return ApiError(507, "disk_full", "the server's disk is full: nothing was changed")


def not_found(what: str) -> ApiError:
    """Return a 404 error."""
    return ApiError(404, "not_found", what)


def as_api_error(error: BaseException) -> ApiError:
    """Convert any exception. Messages of store errors contain paths, so they are only logged."""
    match error:
        case ApiError():
            return error
        case HTTPException():
            code = _CODES.get(HTTPStatus(error.status_code), "error")
            return ApiError(error.status_code, code, str(error.detail), error.headers)
        case RequestValidationError():
            return _invalid(error)
        case ClientDisconnect():
            return ApiError(CLIENT_GONE, "gone", "the client closed the connection")
        case PoolFullError():
            return busy("more questions are waiting than can be answered soon")
        case StoppedError():
            return busy("the server is being stopped", "stopping")
        case QueueFullError():
            return busy("more changes are waiting than can be made soon")
        case NoJobsError():
            return ApiError(503, "read_only", "documents cannot be changed here; the server's log says why")
        case sqlite3.OperationalError() if getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
            return disk_full()
        case sqlite3.Error():
            return busy("the jobs cannot be read or written at the moment", "store")
        case OptionError():
            return ApiError(422, "invalid", str(error))
        case LiveOffError():
            return ApiError(403, "live_off", str(error))
        case AudioTooLongError():
            return ApiError(413, "too_large", str(error))
        case InputError() | FusionError():
            return ApiError(400, "bad_request", str(error))
        case StoreBusyError():
            return busy("another process is writing to the store: try again when it has finished")
        case StoreChangedError():
            return busy("the documents changed while they were searched: ask again")
        case NotEmbeddedError():
            return empty()
        case StoreError():
            return busy("the store cannot be read at the moment", "store")
        case EmbeddingError():
            return busy("the question could not be embedded", "embedding")
        case ChatModelError():
            return ApiError(502, "model", "the language model did not answer")
        case SpeechError():
            return busy("the recogniser or the voice failed", "speech")
        case MissingExtraError():
            return ApiError(501, "not_installed", str(error))
        case _:
            return ApiError(500, "internal", "internal error; the server's log has the details")


def _invalid(error: RequestValidationError) -> ApiError:
    faults = error.errors()
    message = describe_faults([(fault["loc"], fault["msg"]) for fault in faults])
    if any(fault["type"] == "json_invalid" for fault in faults):
        return ApiError(400, "malformed", f"the body is not JSON: {message}")
    if any(isinstance(fault["input"], bytes) for fault in faults):
        message = "expected JSON with the header content-type: application/json, got another content type"
    return ApiError(422, "invalid", message)


def install(app: FastAPI) -> None:
    """Register exception handlers that use this format for all errors."""

    async def answer(request: Request, error: Exception) -> JSONResponse:
        described = as_api_error(error)
        if described.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR and isinstance(
            error, TriviumError | sqlite3.Error
        ):
            _log.error("%s: %s", type(error).__name__, error)
        return described.response(request.url.path)

    for kind in (
        HTTPException,
        RequestValidationError,
        ClientDisconnect,
        PoolFullError,
        StoppedError,
        QueueFullError,
        NoJobsError,
        sqlite3.Error,
        TriviumError,
    ):
        app.add_exception_handler(kind, answer)
