"""Parses dates in file formats."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?")


def pdf_date(text: str) -> str | None:
    """Convert a PDF date to ISO 8601 in UTC; None if it is invalid.

    >>> pdf_date("D:20240102030405+01'00'"), pdf_date("D:2024"), pdf_date("yesterday"), pdf_date("D:20249999")
    ('2024-01-02T02:04:05Z', '2024-01-01T00:00:00Z', None, None)
    """
    match = _DATE.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    sign = -1 if match[8] == "-" else 1
    ahead = timedelta(hours=int(match[9] or 0), minutes=int(match[10] or 0)) if match[8] else timedelta()
    try:
        zone = timezone(sign * ahead)
        when = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone)
        return when.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None
