"""Suite files: which sets of questions are judged on which stores, in TOML.

[[set]]
name = "squad"                    # names its folder and its column
questions = "squad.jsonl"         # relative to this file
store = "joint-store"             # a folder, relative to this file, or bolt://HOST:PORT
sample = 200                      # optional: that many of the questions, drawn with `seed` (default 0)
exact = true                      # optional: exact instead of approximate vector search
rerank = ["bm25"]                 # optional: every row also after these rerankers
cut = ["near:0.7"]                # optional: and all of them ended by these rules
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from trivium.errors import InputError
from trivium.evaluation.toml_file import CutRule, RerankerName, read_toml
from trivium.graph.factory import is_address

T = TypeVar("T")

_EXAMPLE = '[[set]] with name = "...", questions = "FILE.jsonl" and store = "FOLDER"'


class SuiteSet(BaseModel):
    """One set of questions and the store they are asked. ``sample`` None means all of them; ``rerank`` and ``cut`` name
    what every row is measured after, too."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    questions: Annotated[str, Field(min_length=1)]
    store: Annotated[str, Field(min_length=1)]
    sample: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    exact: bool = False
    rerank: list[RerankerName] = []
    cut: list[CutRule] = []

    @field_validator("rerank", "cut")
    @classmethod
    def _every_one_once(cls, names: list[str]) -> list[str]:
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"expected every one once, got {name!r} again")
        return names


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    set: Annotated[list[SuiteSet], Field(min_length=1)]

    @field_validator("set")
    @classmethod
    def _names_once(cls, sets: list[SuiteSet]) -> list[SuiteSet]:
        # A folder each, and some file systems do not tell capitals.
        names = [suite_set.name.casefold() for suite_set in sets]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"expected every name once, got {name!r} again")
        return sets


@dataclass(frozen=True, slots=True)
class Suite:
    """The sets of a suite file, with paths that hold from anywhere."""

    path: Path
    sets: tuple[SuiteSet, ...]


def read_suite(path: str | Path) -> Suite:
    """Read a suite file. Raises InputError naming the line of a syntax error, or the set and the key that are not as
    expected."""
    path = Path(path)
    data = read_toml(path, "suite", f"such as {_EXAMPLE}")
    try:
        sets = _File.model_validate(data).set
    except ValidationError as error:
        wrong = "\n".join(f"  {_complaint(fault['loc'], fault, data)}" for fault in error.errors())
        raise InputError(f"{path}: expected one or more {_EXAMPLE}, got\n{wrong}") from error
    return Suite(path, tuple(_anchored(suite_set, path.parent) for suite_set in sets))


def sample(questions: Sequence[T], size: int | None, seed: int) -> list[T]:
    """At most ``size`` of them, drawn without replacement, in their own order.

    >>> sample("abcdef", 3, seed=0)
    ['a', 'd', 'f']
    """
    if size is None or size >= len(questions):
        return list(questions)
    drawn = random.Random(seed).sample(range(len(questions)), size)  # noqa: S311 - not a secret
    return [questions[place] for place in sorted(drawn)]


def _anchored(suite_set: SuiteSet, folder: Path) -> SuiteSet:
    store = suite_set.store if is_address(suite_set.store) else str(folder / suite_set.store)
    return suite_set.model_copy(update={"questions": str(folder / suite_set.questions), "store": store})


def _complaint(place: tuple[int | str, ...], fault: Any, data: dict[str, Any]) -> str:
    """One fault of a suite file: where it is, what was expected, and what came."""
    words = []
    match place:
        case ("set", int(number), *rest):
            entry = data["set"][number]
            name = entry.get("name") if isinstance(entry, dict) else None
            words = [f"set {number + 1}" + (f" ({name!r})" if isinstance(name, str) else "")]
            words += [f"key {key!r}" for key in rest if isinstance(key, str)]
        case (str(key), *_):
            words = [f"key {key!r}"]
    if fault["type"] == "missing":
        return f"{', '.join(words)}: expected it, got nothing"
    if fault["type"] == "extra_forbidden":
        allowed = ", ".join(SuiteSet.model_fields if len(place) > 1 else _File.model_fields)
        return f"{', '.join(words)}: expected one of {allowed}"
    message = fault["msg"].removeprefix("Value error, ")
    shown = repr(fault["input"]) if not isinstance(fault["input"], dict | list) else ""
    return f"{', '.join(words)}: {message}" + (f", got {shown[:60]}" if shown else "")
