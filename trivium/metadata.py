"""Metadata of documents, from the documents themselves or from users, as a bounded set of plain values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime

from trivium.errors import InputError
from trivium.types import MetadataValue

MAX_KEYS = 64
"""Maximum number of keys per document. Further keys are dropped."""
MAX_KEY_CHARACTERS = 100
"""Maximum length of a key."""
MAX_TEXT_CHARACTERS = 1_000
"""Maximum length of a text value. Longer values are truncated."""
_INT64 = range(-(1 << 63), 1 << 63)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def clean(values: Mapping[str, object]) -> dict[str, MetadataValue]:
    """Keep the values that can be stored: texts, numbers and booleans; dates in ISO 8601; lists of such values, joined
    by commas. Other values and overlong keys are dropped, long texts are truncated, and surplus keys are dropped.

    >>> clean({"year": 2020, "tags": ["a", "b"], "nested": {"x": 1}, "none": None})
    {'year': 2020, 'tags': 'a, b'}
    """
    kept: dict[str, MetadataValue] = {}
    for key, value in values.items():
        name = _text(str(key)).strip()
        plain = _plain(value)
        if name and len(name) <= MAX_KEY_CHARACTERS and plain is not None and len(kept) < MAX_KEYS:
            kept.setdefault(name, plain)
    return kept


def check(values: object) -> dict[str, MetadataValue | None]:
    """Validate metadata given by a user. None as a value removes the key. Raises InputError for anything that
    :func:`clean` would drop or truncate.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"expected metadata as keys and values, got {type(values).__name__}")
    kept: dict[str, MetadataValue | None] = {**clean(values)}
    for key, value in values.items():
        name = str(key).strip()
        if value is None and name in clean({name: ""}):
            kept[name] = None
        elif not isinstance(value, str | int | float | bool) or kept.get(name) != value:
            raise InputError(
                f"expected metadata of at most {MAX_KEYS} keys of {MAX_KEY_CHARACTERS} characters, each with a number,"
                f" yes or no, or a text of at most {MAX_TEXT_CHARACTERS:,} characters, got {str(key)[:80]!r}:"
                f" {str(value)[:80]!r}"
            )
    return kept


def parse_assignments(assignments: Iterable[str]) -> dict[str, MetadataValue | None]:
    """Parse metadata of the form ``key=value``. Numbers, ``true`` and ``false`` are recognised; everything else is
    text, and quotation marks force text. ``key=`` removes the key.

    >>> parse_assignments(["year=2020", "share=.5", "draft=false", "day=2024-05-01", "code='007'"])
    {'year': 2020, 'share': 0.5, 'draft': False, 'day': '2024-05-01', 'code': '007'}
    >>> parse_assignments(["year="])
    {'year': None}
    """
    found: dict[str, MetadataValue | None] = {}
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign or not key.strip():
            raise InputError(f"expected metadata as key=value, got {assignment!r}")
        found[key.strip()] = _typed(value.strip()) if value.strip() else None
    return check(found)


def parse_object(text: str) -> dict[str, MetadataValue | None]:
    """Parse metadata from a JSON object. Raises InputError."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected metadata as a JSON object, got {text[:80]!r}") from error
    return check(values)


def _typed(value: str) -> MetadataValue:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if _NUMBER.fullmatch(value):
        return float(value) if any(sign in value for sign in ".eE") else int(value)
    return value


def _plain(value: object) -> MetadataValue | None:
    match value:
        case bool():
            return value
        case int():
            return value if value in _INT64 else None
        case float():
            return value if math.isfinite(value) else None
        case str():
            return _text(value)[:MAX_TEXT_CHARACTERS]
        case datetime() | date():
            return value.isoformat()
        case list() | tuple() | set() | frozenset():
            parts = [_plain(part) for part in value if not isinstance(part, list | tuple | set | frozenset)]
            joined = ", ".join(str(part) for part in parts if part is not None)
            return joined[:MAX_TEXT_CHARACTERS] or None
    return None


def _text(value: str) -> str:
    """Replace lone surrogates and remove control characters."""
    whole = value.encode("utf-8", "replace").decode("utf-8")
    return "".join(character for character in whole if character >= " " or character in "\n\t")
