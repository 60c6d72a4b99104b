"""Values as fields of the files that neo4j-admin reads.

Not by :mod:`csv`: to the importer a bare empty field is no value and ``""`` is the empty string, a difference that
module cannot write before Python 3.12. Quotes are doubled; nothing else is special within them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import orjson

from trivium.errors import StoreError
from trivium.graph.records import Vectors

SEPARATOR = "\x1f"
"""Between the elements of a list. Titles have no control characters."""


class Kind(StrEnum):
    """Types of columns, as headers name them."""

    TEXT = "string"
    TEXTS = "string[]"
    NUMBER = "long"
    FLAG = "boolean"
    VECTOR = "float[]"


def text(value: str) -> str:
    """A string, whatever is in it.

    >>> text('the "red" planet')
    '"the ""red"" planet"'
    """
    return '"' + value.replace('"', '""') + '"'


def texts(values: Sequence[str]) -> str:
    """A list of strings; none for an empty one, as the importer makes no list of it.

    Raises StoreError for the two lists it would read as another one.
    """
    joined = SEPARATOR.join(values)
    if joined.count(SEPARATOR) != max(len(values) - 1, 0):
        wrong = next(value for value in values if SEPARATOR in value)
        raise StoreError(
            f"expected titles and relation types without the control character U+001F, got {wrong[:80]!r}: it"
            " separates them in bulk files; load this store page by page instead"
        )
    if values and not joined:
        raise StoreError(
            "expected titles and relation types that are not empty, got an empty one that stands alone: bulk files"
            " cannot say it; load this store page by page instead"
        )
    return text(joined) if joined else ""


def vector(values: Vectors) -> str:
    """A vector (d,); none for one of NaN. Each number has as few digits as bring it back in single precision: by
    orjson eight times as fast as by the format language."""
    if np.isnan(values[0]):
        return ""
    numbers = orjson.dumps(np.ascontiguousarray(values, np.float32), option=orjson.OPT_SERIALIZE_NUMPY)
    return numbers[1:-1].decode().replace(",", SEPARATOR)


def _flag(value: bool) -> str:
    return "true" if value else "false"


ENCODERS: dict[Kind, Callable[[Any], str]] = {
    Kind.TEXT: text,
    Kind.TEXTS: texts,
    Kind.NUMBER: str,
    Kind.FLAG: _flag,
    Kind.VECTOR: vector,
}
