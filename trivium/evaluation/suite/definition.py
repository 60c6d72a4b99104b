"""Suite files: which sets of questions are judged on which stores, in TOML.

[[set]]
name = "squad"                    # names its folder and its column
questions = "squad.jsonl"         # relative to this file
store = "joint-store"             # a folder, relative to this file, or bolt://HOST:PORT
sample = 200                      # optional: that many of the questions, drawn with `seed` (default 0)
exact = true                      # optional: exact instead of approximate vector search
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, field_validator

from trivium.common.definition_file import Table, read_definition
from trivium.evaluation.toml_file import QuestionSet

T = TypeVar("T")

_EXAMPLE = 'one or more [[set]] with name = "...", questions = "FILE.jsonl" and store = "FOLDER"'


class SuiteSet(QuestionSet):
    """One set of questions and its store."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class _File(Table):
    set: Annotated[list[SuiteSet], Field(min_length=1)]

    @field_validator("set")
    @classmethod
    def _names_once(cls, sets: list[SuiteSet]) -> list[SuiteSet]:
        # Each set has a folder, and some file systems ignore case.
        names = [suite_set.name.casefold() for suite_set in sets]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"expected every name once, got {name!r} again")
        return sets


@dataclass(frozen=True, slots=True)
class Suite:
    """The sets of a suite file, with resolved paths."""

    path: Path
    sets: tuple[SuiteSet, ...]


def read_suite(path: str | Path) -> Suite:
    """Read a suite file. Raises InputError naming the line of a syntax error, or the set and the invalid key."""
    path = Path(path)
    sets = read_definition(path, "suite", _EXAMPLE, _File).set
    return Suite(path, tuple(one.model_copy(update=one.paths(path.parent)) for one in sets))


def sample(questions: Sequence[T], size: int | None, seed: int) -> list[T]:
    """Draw at most ``size`` items without replacement, keeping their order.

    >>> sample("abcdef", 3, seed=0)
    ['a', 'd', 'f']
    """
    if size is None or size >= len(questions):
        return list(questions)
    drawn = random.Random(seed).sample(range(len(questions)), size)  # noqa: S311 - not a secret
    return [questions[place] for place in sorted(drawn)]
