"""What a wrong command line probably meant, added to the parser's error: above all where a store was named in a place
that is not its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_SHOWN = 60
_KINDS = (
    ("Input should be a valid integer", "expected a whole number"),
    ("Input should be a valid number", "expected a number"),
)
_BOUNDS = (
    ("Input should be greater than or equal to ", "expected at least "),
    ("Input should be less than or equal to ", "expected at most "),
    ("Input should be greater than ", "expected more than "),
    ("Input should be less than ", "expected less than "),
)
"""How the parser's messages begin, and what is said instead."""
_STORE = ("--store", "-s")


def add_hint(error: Any, given: Sequence[str]) -> None:
    """Add to the message of a usage error what was probably meant. ``given`` are the words of the command line."""
    context = getattr(error, "ctx", None)
    if context is None:
        return
    message = error.message = _in_plain_words(error, given)
    if context.parent is None and message.startswith("No such option"):
        error.message = (
            f"{message}: the options of a command follow it, as in  trivium COMMAND {error.option_name}"
        )
    elif any(option in _options(context) for option in _STORE) and not _names_store(given):
        if message.startswith("Got unexpected extra argument"):
            error.message = f"{message}{_did_you_mean(given[1:])}"
        elif getattr(error, "param_hint", None) == _STORE[0]:
            error.message = f"{message}{_read_otherwise(context, given[1:])}"


def _in_plain_words(error: Any, given: Sequence[str]) -> str:
    """Return the message of an error; where the parser rejected a number, in plain words and with what was given."""
    message = str(getattr(error, "message", ""))
    said = next(
        (f"{words}{message[len(start) :]}" for start, words in _BOUNDS if message.startswith(start)), None
    )
    if said is None:
        said = next((words for start, words in _KINDS if message.startswith(start)), None)
    if said is None:
        return message
    value = _given_value(getattr(getattr(error, "param", None), "opts", ()), given)
    return said if value is None else f"{said}, got {value[:_SHOWN]!r}"


def _given_value(options: Sequence[str], given: Sequence[str]) -> str | None:
    """Return the last value of an option."""
    for place in range(len(given) - 1, -1, -1):
        name, equals, value = given[place].partition("=")
        if name in options:
            return value if equals else next(iter(given[place + 1 : place + 2]), None)
    return None


def _options(context: Any) -> set[str]:
    return {name for parameter in context.command.params for name in parameter.opts}


def _names_store(given: Sequence[str]) -> bool:
    return any(word.partition("=")[0] in _STORE for word in given)


def _did_you_mean(words: Sequence[str]) -> str:
    store = next(filter(_is_store, words), None)
    return "" if store is None else f": did you mean --store {store}?"


def _read_otherwise(context: Any, words: Sequence[str]) -> str:
    """Say as what the words were read that may have been meant as the store."""
    found = list(_arguments(context))
    for name, value in found:
        if _is_store(value):
            return f"; {value} is a store, and was read as {name}: did you mean --store {value}?"
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
    from trivium.graph.factory import exists, is_address  # loads stores; most wrong lines name none

    try:
        return not word.startswith("-") and (is_address(word) or exists(word))
    except (OSError, ValueError):  # too long for a path, or with a null character
        return False
