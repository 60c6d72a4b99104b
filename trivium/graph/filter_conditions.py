"""What a condition on what is searched is parsed to: comparisons of fields and metadata with values, and what joins them.

A condition is data: stores compare values with it, and no part of it ever becomes part of a query's text. What the fields
and the comparisons mean is in :mod:`trivium.graph.filter_matching`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import StrEnum

WORDS = ("and", "or", "not", "in", "like", "exists", "true", "false")
"""Words of the language, which name no field."""
META = "meta."
"""Before the name of a metadata key that is named like a field."""

Literal = str | int | float | bool


class Field(StrEnum):
    """What every store knows of a chunk beside metadata."""

    SOURCE = "source"
    FORMAT = "format"
    TITLE = "title"
    PATH = "path"
    DOCUMENT = "document"
    ADDED = "added"
    MODIFIED = "modified"
    PAGE = "page"
    KIND = "kind"
    SECTION = "section"


FIELDS = {**{field.value: field for field in Field}, "pages": Field.PAGE}
"""Fields by the names they may be called."""


class Operator(StrEnum):
    """Comparisons."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    IN = "in"
    LIKE = "like"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A field, or else the metadata ``key``, compared with values: one, or several for ``in``, none for ``exists``."""

    field: Field | None
    key: str
    operator: Operator
    values: tuple[Literal, ...] = ()
    types: tuple[type, ...] = attribute(init=False, repr=False)
    """Of the values: ``x = 1`` and ``x = true`` are different conditions."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(map(type, self.values)))

    def __str__(self) -> str:
        name = str(self.field) if self.field is not None else _name(self.key)
        if self.operator is Operator.EXISTS:
            return f"{name} exists"
        shown = [literal(value) for value in self.values]
        return f"{name} {self.operator} " + (
            f"({', '.join(shown)})" if self.operator is Operator.IN else shown[0]
        )


@dataclass(frozen=True, slots=True)
class Not:
    """True where ``part`` is not."""

    part: Condition

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True, slots=True)
class All:
    """True where all ``parts`` are."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({part})" for part in self.parts)


@dataclass(frozen=True, slots=True)
class Any:
    """True where any of ``parts`` is."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" for part in self.parts)


Condition = Comparison | Not | All | Any
Where = str | Condition
"""A condition as text, or parsed."""


def metadata_names(condition: Condition) -> list[str]:
    """The distinct metadata keys of a condition, in order.

    >>> from trivium.graph.filter_language import parse
    >>> metadata_names(parse("year = 1 or not (title = x and year exists and meta.page = 3)"))
    ['year', 'page']
    """
    if isinstance(condition, Comparison):
        return [condition.key] if condition.field is None else []
    parts = (condition.part,) if isinstance(condition, Not) else condition.parts
    return list(dict.fromkeys(name for part in parts for name in metadata_names(part)))


_PLAIN = re.compile(r"[^\W\d][\w.-]*")


def _name(key: str) -> str:
    plain = _PLAIN.fullmatch(key) is not None and key.lower() not in WORDS and "." not in key
    quoted = key if plain else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{META}{quoted}" if not plain or key.lower() in FIELDS else quoted


def literal(value: Literal) -> str:
    """A value as conditions write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return repr(value)


_JOINED = ((Operator.UNEQUAL,), (Operator.EQUAL, Operator.IN))


def joined(condition: All | Any) -> list[Condition]:
    """The parts of a condition; several that compare one field by ``=`` with ``or``, or by ``!=`` with ``and``, as one
    ``in``, which takes as long as one of them.

    >>> from trivium.graph.filter_language import parse
    >>> [str(part) for part in joined(parse("year = 1 or draft exists or year = 2"))]
    ['draft exists', 'year in (1, 2)']
    """
    equal = isinstance(condition, Any)
    alike: dict[tuple[Field | None, str], list[Comparison]] = {}
    found: list[Condition] = []
    for part in condition.parts:
        if isinstance(part, Comparison) and part.operator in _JOINED[equal]:
            alike.setdefault((part.field, part.key), []).append(part)
        else:
            found.append(part)
    for (field, key), same in alike.items():
        one_of = Comparison(field, key, Operator.IN, tuple(value for part in same for value in part.values))
        if len(same) == 1:
            found += same
        elif equal:
            found.append(one_of)
        else:
            found += (Comparison(field, key, Operator.EXISTS), Not(one_of))
    return found
