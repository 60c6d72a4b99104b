"""Reads TOML and JSON files in which users define something, with readable errors."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from trivium.errors import InputError

T = TypeVar("T")
File = TypeVar("File", bound=BaseModel)
_SHOWN = 60
"""Maximum number of characters of an invalid value that are shown."""


def _once(values: list[T]) -> list[T]:
    names = [getattr(value, "name", value) for value in values]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"expected every one once, got {name!r} again")
    return values


Name = Annotated[str, Field(min_length=1)]
Distinct = Annotated[list[T], AfterValidator(_once)]
"""A list without duplicate values or names."""
NonEmpty = Annotated[list[T], Field(min_length=1), AfterValidator(_once)]
"""The same, with at least one element."""


class Table(BaseModel):
    """A table of such a file. Types are strict and unknown keys rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def read_definition(path: Path, kind: str, expected: str, model: type[File]) -> File:
    """Read a file of some ``kind``: TOML, or JSON if its name ends so. Raises InputError, which says what is
    ``expected``, naming the line of a syntax error, or each invalid key.
    """
    is_json = path.suffix.lower() == ".json"
    try:
        text = path.read_text("utf-8")
        data = json.loads(text) if is_json else tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path}: expected a readable {kind} file, got {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: expected {'JSON' if is_json else 'TOML'} with {expected}, got {error}"
        ) from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        wrong = "\n".join(f"  {_complaint(fault)}" for fault in error.errors(include_url=False))
        raise InputError(f"{path}: expected {expected}, got\n{wrong}") from error


def _complaint(fault: Any) -> str:
    """Describe one error of a file: where it is (lists count from 1), what was expected, and what was found."""
    place = ".".join(str(key + 1 if isinstance(key, int) else key) for key in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    told = fault["type"] == "value_error" or isinstance(fault["input"], dict | list)
    return f"{place}: {message}" + ("" if told else f", got {fault['input']!r}"[:_SHOWN])
