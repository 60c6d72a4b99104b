"""Logs one line of JSON per record, with the id of the request it belongs to.

Repeated records are counted instead of written (:mod:`trivium.server.log_limits`), long texts are truncated, and lines
are written by a separate thread, so that a blocked log never blocks the server.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from queue import Full, Queue
from types import TracebackType
from typing import TextIO

from trivium.server.log_limits import FIELDS, RepetitionLimit

MAX_TEXT = 4096
"""Maximum length of a message or field, in characters."""
MAX_TRACEBACK = 16_384
"""Maximum length of a traceback, in characters. Its end is kept because it contains the cause."""
_MAX_ENTRIES = 20
_MAX_WAITING = 10_000
"""Maximum number of lines waiting to be written. Further ones are dropped and counted."""
_FLUSH_SECONDS = 1.0
"""Seconds to wait at exit for pending lines."""

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Id of the current request, also in its threads."""

_log = logging.getLogger(__name__)


class JsonFormatter(logging.Formatter):
    """Formats records as JSON: ``time`` (UTC), ``level``, ``logger``, ``message``, ``request_id`` if there is one, the
    fields given by :data:`~trivium.server.log_limits.FIELDS`, and the ``traceback`` of an exception.
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
        fields = getattr(record, FIELDS, {})
        identifier = request_id.get()
        if identifier is not None and "repeated" not in fields:  # a summary belongs to many requests
            line["request_id"] = identifier
        line |= {name: _bounded(value) for name, value in fields.items()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)[-MAX_TRACEBACK:]
        return json.dumps(line, ensure_ascii=True)


class LogWriter(logging.Handler):
    """Writes records as JSON to a stream, in a separate thread.

    Logging never blocks: if the stream is stuck (a pipe that is not read), broken or on a full disk, lines are dropped
    when too many are waiting, and counted in the next line that can be written.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self._stream = stream
        self._limit = RepetitionLimit()
        self._lines: Queue[str] = Queue(_MAX_WAITING)
        self._dropped = 0
        threading.Thread(target=self._write_all, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        for summary in self._limit.ended():
            self._put(summary)
        if self._limit.admits(record):
            self._put(record)

    def flush(self) -> None:
        """Write the pending summaries, and wait until all lines are written, at most one second."""
        for summary in self._limit.ended(everything=True):
            self._put(summary)
        lines = self._lines
        with lines.all_tasks_done:
            lines.all_tasks_done.wait_for(lambda: not lines.unfinished_tasks, _FLUSH_SECONDS)

    def close(self) -> None:
        self.flush()
        super().close()

    def _put(self, record: logging.LogRecord) -> None:
        try:
            self._lines.put_nowait(self.format(record))
        except Full:
            self._dropped += 1
        except Exception:  # for example a field that cannot be formatted: logging must not raise
            self._dropped += 1

    def _write_all(self) -> None:
        while True:
            line = self._lines.get()
            try:
                self._write(line)
            finally:
                self._lines.task_done()

    def _write(self, line: str) -> None:
        dropped = self._dropped
        try:
            if dropped:
                self._stream.write(self._told(dropped) + "\n")
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream is closed
            self._dropped += 1
        else:
            self._dropped -= dropped

    def _told(self, dropped: int) -> str:
        message = f"{dropped} lines of the log could not be written"
        return self.format(logging.LogRecord(__name__, logging.ERROR, __file__, 0, message, None, None))


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
    sys.excepthook = _uncaught
    sys.unraisablehook = _unraisable
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


def _unraisable(raised: sys.UnraisableHookArgs) -> None:
    error = raised.exc_value
    _log.error(
        "%s: %.200r",
        raised.err_msg or "exception ignored in",
        raised.object,
        exc_info=None if error is None else (type(error), error, raised.exc_traceback),
    )


def _bounded(value: object) -> object:
    if isinstance(value, dict):
        return {_cut(str(name)): _bounded(entry) for name, entry in list(value.items())[:_MAX_ENTRIES]}
    if value is None or isinstance(value, int | float):
        return value
    return _cut(value if isinstance(value, str) else str(value))


def _cut(text: str) -> str:
    """Truncate a text to the maximum length.

    >>> _cut("short"), len(_cut("x" * 10_000)) <= MAX_TEXT
    ('short', True)
    """
    if len(text) <= MAX_TEXT:
        return text
    note = f"... ({len(text)} characters)"
    return text[: MAX_TEXT - len(note)] + note
