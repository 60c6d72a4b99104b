"""Limits repeated log records: further ones are only counted, so that the log cannot be flooded."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

FIELDS = "fields"
"""Key of ``extra`` whose entries become fields of the line."""
UNLIMITED = "unlimited"
"""Key of ``extra`` that exempts a record from the limit: ``{UNLIMITED: True}``."""

WRITTEN = 10
"""Number of records of one kind that are written per period. Further ones are counted."""
PERIOD = 60.0
"""Length of a period in seconds."""
_MAX_KINDS = 1000


@dataclass(slots=True)
class _Repeated:
    since: float
    record: logging.LogRecord
    count: int = 0


class RepetitionLimit:
    """Passes the first records of a kind in each period, and then a summary of how many more there were.

    Records are of the same kind when they come from the same line of code, with the same type of exception and the same
    HTTP ``status`` among their fields. Not thread-safe.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kinds: OrderedDict[tuple[object, ...], _Repeated] = (
            OrderedDict()
        )  # ordered by the start of their period

    def admits(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be written."""
        if getattr(record, UNLIMITED, False):
            return True
        exception = record.exc_info[0] if record.exc_info else None
        kind = (record.name, record.pathname, record.lineno, exception, _status(record))
        repeated = self._kinds.get(kind)
        if repeated is None:
            repeated = self._kinds[kind] = _Repeated(self._clock(), record)
        repeated.count += 1
        return repeated.count <= WRITTEN

    def ended(self, *, everything: bool = False) -> Iterator[logging.LogRecord]:
        """Yield summaries of the kinds whose period has ended (with ``everything``: of all) and that exceeded the
        limit.
        """
        ending = self._clock() - PERIOD
        while self._kinds:
            first = next(iter(self._kinds.values()))
            if not everything and first.since > ending and len(self._kinds) < _MAX_KINDS:
                return
            self._kinds.popitem(last=False)
            if first.count > WRITTEN:
                yield _summary(first.record, first.count - WRITTEN)


def _summary(record: logging.LogRecord, more: int) -> logging.LogRecord:
    message = f"{more} more like this within {PERIOD:g} s: {str(record.msg)[:200]}"
    summary = logging.LogRecord(
        record.name, record.levelno, record.pathname, record.lineno, message, None, None
    )
    status = _status(record)
    fields = {"repeated": more} if status is None else {"repeated": more, "status": status}
    setattr(summary, FIELDS, fields)
    return summary


def _status(record: logging.LogRecord) -> object:
    return getattr(record, FIELDS, {}).get("status")
