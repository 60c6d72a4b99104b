"""Logs one line of JSON per record, with the id of the request it belongs to."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime

FIELDS = "fields"
"""Key of ``extra`` whose entries become fields of the line."""

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Id of the current request, also in its threads."""


class JsonFormatter(logging.Formatter):
    """Formats records as JSON: ``time`` (UTC), ``level``, ``logger``, ``message``, ``request_id`` if there is one, the
    fields given by :data:`FIELDS`, and the ``traceback`` of an exception.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        identifier = request_id.get()
        if identifier is not None:
            line["request_id"] = identifier
        line |= getattr(record, FIELDS, {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


def log_as_json(level: int = logging.INFO, libraries: Sequence[str] = ("uvicorn",)) -> None:
    """Log to stderr, one line per record: records of this package and of ``libraries`` from ``level`` on, and warnings
    and errors of everything else, including Python's warnings.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
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
