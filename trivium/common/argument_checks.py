"""Checks of arguments of the public functions, with errors that name the argument, what was expected and what came."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from trivium.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")


def check_texts(name: str, given: object, example: str) -> None:
    """Raise InputError unless ``given`` is a list, or another collection, of texts.

    >>> check_texts("retrievers", 5, "['lexical']")
    Traceback (most recent call last):
    trivium.errors.InputError: expected a list of retrievers, such as ['lexical'], got int
    """
    got = f"the text {given!r:.80}" if isinstance(given, str) else type(given).__name__
    if isinstance(given, Collection) and not isinstance(given, str | bytes | Mapping):
        wrong = [type(text).__name__ for text in given if not isinstance(text, str)]
        if not wrong:
            return
        got = f"{got} with {wrong[0]}"
    raise InputError(f"expected a list of {name}, such as {example}, got {got}")


def check_count(name: str, given: object, most: int | None = None) -> None:
    """Raise InputError unless ``given`` is an integer from 1 to ``most``.

    >>> check_count("workers", -1)
    Traceback (most recent call last):
    trivium.errors.InputError: workers must be 1 or more, got -1
    """
    if not isinstance(given, int) or isinstance(given, bool):
        raise InputError(f"expected {name} as a whole number, got {type(given).__name__}")
    if given < 1 or (most is not None and given > most):
        limit = "" if most is None else f" and at most {most:,}"
        raise InputError(f"{name} must be 1 or more{limit}, got {given:,}")


_KINDS: dict[str, tuple[Any, str]] = {
    "bool": (bool, "True or False"),
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "str": (str, "text"),
    "bytes": (bytes, "bytes"),
    "Path": (Path, "a path"),
    "Mapping": (Mapping, "a mapping"),
    "SettingValues": (Mapping, "a mapping"),
    "Sequence": (Sequence, "a list"),
    "Collection": (Collection, "a list"),
    **dict.fromkeys(
        ("Progress", "StageProgress", "StageObserver", "PageCheck", "Told", "Warned"),
        (Callable, "a function"),
    ),
}
"""The type that the words of annotations mean, and its name. An object of any class of its own may be what another word
means.
"""
_PLAIN = (bool, int, float, str, bytes, list, tuple, dict, set, object, type(None))
_CHECKED_LATER = frozenset(
    ("Any", "Where", "Intent", "Format", "ChatModel", "Reranker", "GraphStore", "history")
)


def check_type(name: str, given: object, kinds: type | tuple[type, ...], expected: str) -> None:
    """Raise InputError unless ``given`` is of one of the types.

    >>> check_type("embed", "no", bool, "True or False")
    Traceback (most recent call last):
    trivium.errors.InputError: expected embed as True or False, got str
    """
    if not isinstance(given, kinds):
        raise InputError(f"expected {name} as {expected}, got {type(given).__name__}")


def check_fields(given: Any, but: Collection[str] = ()) -> None:
    """Raise InputError for a field of a dataclass that is not of the type it is annotated with, other than the fields
    ``but``.
    """
    for one in fields(given):
        if one.name not in but:
            _check(one.name, getattr(given, one.name), one.type)


def check_known(method: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise InputError for an option that a method does not have.

    >>> check_known("search", ["explian"], ["explain"])
    Traceback (most recent call last):
    trivium.errors.InputError: search has no option 'explian' (did you mean explain?): there are explain
    """
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise InputError(f"{method} has no option {name!r}{meant}: there are {', '.join(known)}")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function against its annotations. Raises InputError for one of another type."""
    names = tuple(inspect.signature(function).parameters)
    annotations = function.__annotations__

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        for name, value in (*zip(names, args, strict=False), *options.items()):
            _check(name, value, annotations.get(name, "Any"))
        return function(*args, **options)

    return call


def _check(name: str, value: object, annotation: object) -> None:
    whole = str(getattr(annotation, "__forward_arg__", annotation))
    words = (whole.partition("[")[0] + whole.rpartition("]")[2] if "[" in whole else whole).split(" | ")
    if not _CHECKED_LATER.isdisjoint((name, *words)) or (value is None and "None" in words):
        return
    kinds = tuple(_KINDS[word][0] for word in words if word in _KINDS)
    a_text = isinstance(value, str | bytes) and not {str, bytes}.intersection(kinds)
    fits = isinstance(value, kinds) and not (a_text or (isinstance(value, bool) and bool not in kinds))
    integer = float in kinds and isinstance(value, int)
    other = any(word not in _KINDS and word != "None" for word in words) and type(value) not in _PLAIN
    if not (fits or integer or other):
        expected = dict.fromkeys(
            _KINDS[word][1] if word in _KINDS else f"an object {word}" for word in words if word != "None"
        )
        raise InputError(f"expected {name} as {' or '.join(expected)}, got {type(value).__name__}")


def shown(given: object) -> str:
    """Return a text in quotation marks, shortened, and of anything else the name of its type.

    >>> shown("Mars"), shown(object())
    ("'Mars'", 'object')
    """
    return f"{given!r:.100}" if isinstance(given, str) else type(given).__name__
