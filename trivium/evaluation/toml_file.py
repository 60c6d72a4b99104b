"""TOML files that say what to measure."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

from trivium.errors import ConfigurationError, InputError
from trivium.rerank.registry import make_reranker
from trivium.search.cut import Cut

T = TypeVar("T")


def _made(make: Callable[[str], T], text: str) -> T:
    """What a text names. Raises ValueError, as pydantic wants it."""
    try:
        return make(text)
    except (InputError, ConfigurationError) as error:
        raise ValueError(str(error)) from error


def _reranker(name: str) -> str:
    _made(make_reranker, name)
    return name


def _cut(rule: str) -> str:
    return str(_made(Cut.read, rule))


RerankerName = Annotated[str, AfterValidator(_reranker)]
"""A name of which a reranker can be made."""
CutRule = Annotated[str, AfterValidator(_cut)]
"""A rule where lists end, as :class:`~trivium.search.cut.Cut` writes it."""


def read_toml(path: Path, kind: str, expected: str) -> dict[str, Any]:
    """What a file holds. Raises InputError, which says ``kind`` and ``expected``, and the line of a syntax error."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: expected a readable {kind} file, got {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: expected TOML {expected}, got {error}") from error
