"""What a wrong command line probably meant: a store that stands among the arguments is taken as that of ``--store``, and
the parser's error says the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

_SHOWN = 60
_STORE = ("--store", "-s")


def with_store(error: Any, given: Sequence[str]) -> list[str] | None:
    """Return the command line with ``--store`` before the one store among its arguments; None if it lacks anything else,
    or if that store may be the value of another option.
    """
    if getattr(error, "param_hint", None) != _STORE[0] or _names_store(given):
        return None
    places = [
        place
        for place, (before, word) in enumerate(pairwise(given), 1)
        if not before.startswith("-") and _is_store(word)
    ]
    if len(places) != 1:
        return None
    return [*given[: places[0]], _STORE[0], *given[places[0] :]]


def add_hint(error: Any, given: Sequence[str]) -> None:
    """Add to the message of a usage error what was probably meant. ``given`` are the words of the command line."""
    context = getattr(error, "ctx", None)
    if context is None:
        return
    message = str(getattr(error, "message", ""))
    if context.parent is None and message.startswith("No such option"):
        error.message = (
            f"{message}: the options of a command follow it, as in  trivium COMMAND {error.option_name}"
        )
    elif any(option in _options(context) for option in _STORE) and not _names_store(given):
        if message.startswith("Got unexpected extra argument"):
            error.message = f"{message}{_did_you_mean(given[1:])}"
        elif getattr(error, "param_hint", None) == _STORE[0]:
            error.message = f"{message}{_read_otherwise(context, given[1:])}"


def _options(context: Any) -> set[str]:
    return {name for parameter in context.command.params for name in parameter.opts}


def _names_store(given: Sequence[str]) -> bool:
    return any(word.partition("=")[0] in _STORE for word in given)


def _did_you_mean(words: Sequence[str]) -> str:
    store = next(filter(_is_store, words), None)
    return "" if store is None else f": did you mean --store {store}?"


def _read_otherwise(context: Any, words: Sequence[str]) -> str:
    """Say as what a word was read that may have been meant as the store."""
    found = list(_arguments(context))
    unread = _did_you_mean(words)
    if unread or not found:
        return unread
    name, value = found[0]
    text = value if len(value) <= _SHOWN else f"{value[: _SHOWN - 1]}…"
    return f"; got only {name}, {text!r}"


def _arguments(context: Any) -> Iterator[tuple[str, str]]:
    """Yield the positional arguments that were given, with their names in the help."""
    for parameter in context.command.params:
        values = context.params.get(parameter.name)
        if parameter.param_type_name == "argument" and values is not None:
            for value in values if isinstance(values, list | tuple) else [values]:
                yield str(parameter.metavar).removesuffix("..."), str(value)


def _is_store(word: str) -> bool:
    from trivium.graph.neo4j.address import SCHEMES
    from trivium.graph.open_store import exists  # loads stores; most wrong lines name none

    try:
        return not word.startswith("-") and (word.partition("://")[0] in SCHEMES or exists(word))
    except (OSError, ValueError):  # too long for a path, or with a null character
        return False
