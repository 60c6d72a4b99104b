"""Checks of arguments of the public functions, with errors that name the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from trivium.errors import InputError


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
