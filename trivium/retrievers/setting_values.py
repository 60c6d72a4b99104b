"""Retriever settings by dotted name, such as ``walk.damping``, as users write them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from trivium.errors import ConfigurationError

SettingValues = Mapping[str, Any]
"""Values by dotted name. Text is parsed where another type is expected."""

S = TypeVar("S")

CONSTANT = {"constant": True}
"""Metadata of a field that is no setting: only Python and trained fusions give it another value."""


def parse_assignments(assignments: Collection[str]) -> dict[str, str]:
    """Parse ``KEY=VALUE`` texts of a command line. Raises ConfigurationError.

    >>> parse_assignments(["walk.damping=0.4"])
    {'walk.damping': '0.4'}
    """
    values = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise ConfigurationError(
                f"expected a setting as KEY=VALUE, such as walk.damping=0.4, got {assignment!r}"
            )
        values[key.strip()] = value.strip()
    return values


def flatten(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested tables, as in ``trivium.toml``, to dotted names.

    >>> flatten({"walk": {"damping": 0.4}})
    {'walk.damping': 0.4}
    """
    values: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, Mapping):
            values.update(flatten(value, f"{prefix}{key}."))
        else:
            values[f"{prefix}{key}"] = value
    return values


def with_values(settings: S, values: SettingValues, *, constants: bool = False) -> S:
    """Return a settings dataclass with some values replaced, also of ``constants`` if that is said. Raises
    ConfigurationError for an unknown name or a value of the wrong type or range.
    """
    for key, value in values.items():
        if (
            not constants
            and key in known_names(settings, constants=True)
            and key not in known_names(settings)
        ):
            raise ConfigurationError(f"unknown setting {key!r}: it is a constant")
        settings = _replaced(settings, key, key.split("."), value)
    return settings


def known_names(settings: object, prefix: str = "", *, constants: bool = False) -> list[str]:
    """Return the dotted names of all settings, with ``constants`` also of those."""
    names: list[str] = []
    for field in dataclasses.fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        if dataclasses.is_dataclass(value):
            names += known_names(value, f"{prefix}{field.name}.", constants=constants)
        elif constants or not field.metadata.get("constant"):
            names.append(f"{prefix}{field.name}")
    return names


def _replaced(settings: S, key: str, path: list[str], value: Any, root: object = None) -> S:
    root = settings if root is None else root
    field, *rest = path
    hints = get_type_hints(type(settings)) if dataclasses.is_dataclass(settings) else {}
    if field not in hints or bool(rest) != dataclasses.is_dataclass(getattr(settings, field, None)):
        close = get_close_matches(key, known_names(root), n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known_names(root))}"
        raise ConfigurationError(f"unknown setting {key!r}: {hint}")
    inner = getattr(settings, field)
    new = _replaced(inner, key, rest, value, root) if rest else _typed(key, value, hints[field])
    try:
        return dataclasses.replace(settings, **{field: new})  # type: ignore[type-var]
    except ConfigurationError as error:
        raise ConfigurationError(f"{key}: {error}") from error


def _typed(key: str, value: Any, kind: Any) -> Any:
    if isinstance(value, str) and kind is not str and str not in get_args(kind):
        if value.lower() in ("none", "null"):
            value = None
        else:
            with suppress(ValueError):  # if this fails, validation below reports the expected type
                value = json.loads(value)
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        said = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise ConfigurationError(f"{key}: {said}, got {value!r}") from None
