"""One line of JSON for everything that is logged, with the id of the request it belongs to."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request under way, in its threads too."""

FIELDS = "fields"
"""The key of ``extra`` whose entries become fields of the line."""


class JsonFormatter(logging.Formatter):
    """Records as JSON: ``time`` (UTC), ``level``, ``logger``, ``message``, ``request_id`` where there is one, the fields
    given by :data:`FIELDS`, and ``traceback`` of an exception."""

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
    """Send what this package and the ``libraries`` that serve it log to stderr, a line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("trivium", *libraries):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
    # Its lines repeat those of the access log.
    logging.getLogger("uvicorn.access").disabled = True
