"""Reads TOML files that define measurements: their common tables, and readable errors."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from trivium.errors import ConfigurationError, InputError
from trivium.graph.open_store import is_address
from trivium.parser.sources import huggingface
from trivium.rerank.registry import make_reranker
from trivium.search.cut import Cut

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


def _made(make: Callable[[str], T], text: str) -> T:
    """Return what a text names. Raises ValueError, as pydantic requires."""
    try:
        return make(text)
    except (InputError, ConfigurationError) as error:
        raise ValueError(str(error)) from error


def _reranker(name: str) -> str:
    _made(make_reranker, name)
    return name


def _cut(rule: str) -> str:
    return str(_made(Cut.read, rule))


Name = Annotated[str, Field(min_length=1)]
Distinct = Annotated[list[T], AfterValidator(_once)]
"""A list without duplicate values or names."""
NonEmpty = Annotated[list[T], Field(min_length=1), AfterValidator(_once)]
"""The same, with at least one element."""
RerankerName = Annotated[str, AfterValidator(_reranker)]
"""The name of a reranker."""
CutRule = Annotated[str, AfterValidator(_cut)]
"""A rule for ending lists, in the syntax of :class:`~trivium.search.cut.Cut`."""


class Table(BaseModel):
    """A table of such a file. Types are strict and unknown keys rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class QuestionSet(Table):
    """Questions and the store they are asked on. ``sample`` None means all of them."""

    questions: Name
    store: Name
    sample: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    exact: bool = False

    def paths(self, folder: Path) -> dict[str, str]:
        """Resolve ``questions`` and ``store``, which are relative to the folder of the file; addresses and names of data
        sets stay.
        """
        hub = self.questions.startswith(huggingface.PREFIX)
        return {
            "questions": self.questions if hub else str(folder / self.questions),
            "store": self.store if is_address(self.store) else str(folder / self.store),
        }


def read_toml(path: Path, kind: str, expected: str, model: type[File]) -> File:
    """Read a file of some ``kind``. Raises InputError, which says what is ``expected``, naming the line of a syntax
    error, or each invalid key.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: expected a readable {kind} file, got {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: expected TOML with {expected}, got {error}") from error
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
