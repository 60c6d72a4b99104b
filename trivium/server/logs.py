"""Logs one line of JSON per record, with the id of the request it belongs to.

Long texts are truncated, and lines are written by a separate thread, so that a blocked log never blocks the server.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener
from queue import Full, Queue
from types import TracebackType
from typing import TextIO

FIELDS = "fields"
"""Key of ``extra`` whose entries become fields of the line."""
MAX_TEXT = 4096
"""Maximum length of a message or field, in characters."""
MAX_TRACEBACK = 16_384
"""Maximum length of a traceback, in characters. Its end is kept because it contains the cause."""
_MAX_WAITING = 10_000
"""Maximum number of lines waiting to be written. Further ones are dropped."""
_FLUSH_SECONDS = 1.0
"""Seconds to wait at exit for pending lines."""

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Id of the current request, also in its threads."""

_log = logging.getLogger(__name__)


class JsonFormatter(logging.Formatter):
    """Formats records as JSON: ``time`` (UTC), ``level``, ``logger``, ``message``, ``request_id`` if there is one, the
    fields given by :data:`FIELDS`, and the ``traceback`` of an exception.
    """

    def format(self, record: logging.LogRecord) -> str:
        try:
            message = record.getMessage()
        except Exception:  # the arguments do not match the template
            message = f"{record.msg!r} with {record.args!r}"
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _cut(message),
        }
        identifier = request_id.get()
        if identifier is not None:
            line["request_id"] = identifier
        fields = getattr(record, FIELDS, {})
        line |= {name: _cut(value) if isinstance(value, str) else value for name, value in fields.items()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)[-MAX_TRACEBACK:]
        return json.dumps(line, ensure_ascii=True, default=str)


class LogWriter(QueueHandler):
    """Writes records as JSON to a stream, in a separate thread.

    Logging never blocks: if the stream is stuck (a pipe that is not read), broken or on a full disk, lines are dropped.
    """

    def __init__(self, stream: TextIO) -> None:
        self._lines: Queue[logging.LogRecord] = Queue(_MAX_WAITING)
        super().__init__(self._lines)
        # Here and not in the thread that writes, because the request's id is known in the request's own threads.
        self.setFormatter(JsonFormatter())
        QueueListener(self._lines, logging.StreamHandler(stream)).start()

    def enqueue(self, record: logging.LogRecord) -> None:
        with suppress(Full):
            self._lines.put_nowait(record)

    def flush(self) -> None:
        """Wait until all lines are written, at most one second."""
        lines = self._lines
        with lines.all_tasks_done:
            lines.all_tasks_done.wait_for(lambda: not lines.unfinished_tasks, _FLUSH_SECONDS)

    def close(self) -> None:
        self.flush()
        super().close()


def log_as_json(level: int = logging.INFO, libraries: Sequence[str] = ("uvicorn",)) -> None:
    """Log to stderr, one line per record: records of this package and of ``libraries`` from ``level`` on, and warnings
    and errors of everything else, including Python's warnings and uncaught exceptions.
    """
    root = logging.getLogger()
    root.handlers = [LogWriter(sys.stderr)]
    root.setLevel(logging.WARNING)
    for name in ("trivium", *libraries):
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.setLevel(level)
        logger.propagate = True
    # These lines repeat the access log.
    logging.getLogger("uvicorn.access").disabled = True
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a line that cannot be written would be reported on the same stream
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread


def write_log() -> None:
    """Wait briefly until pending log lines are written, at the end of a process."""
    for handler in logging.getLogger().handlers:
        handler.flush()


def _uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    _log.critical("uncaught exception", exc_info=(kind, error, traceback))


def _uncaught_in_thread(raised: threading.ExceptHookArgs) -> None:
    if raised.exc_value is None or issubclass(raised.exc_type, SystemExit):
        return
    name = "?" if raised.thread is None else raised.thread.name
    _log.critical(
        "the thread %s ended by an exception",
        name,
        exc_info=(raised.exc_type, raised.exc_value, raised.exc_traceback),
    )


def _cut(text: str) -> str:
    """Truncate a text to the maximum length.

    >>> _cut("short"), len(_cut("x" * 10_000)) <= MAX_TEXT
    ('short', True)
    """
    if len(text) <= MAX_TEXT:
        return text
    note = f"... ({len(text)} characters)"
    return text[: MAX_TEXT - len(note)] + note
