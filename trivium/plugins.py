"""What installed packages add to Trivium, found through their entry points.

A package that brings, say, an embedder declares it in its ``pyproject.toml``::

    [project.entry-points."trivium.embedders"]
    acme = "acme_embeddings:open_acme"

Each kind of part has a group of its own (``trivium.embedders``, ``trivium.chat_models``, ...), and the module that makes
parts of that kind says what the declared function is called with. Built-in names win over declared ones.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from trivium.errors import ConfigurationError, TriviumError


def list_plugins(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, in alphabetical order, without importing them. Raises
    ConfigurationError when two packages declare the same name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        other = found.setdefault(entry.name, entry)
        if other != entry:
            raise ConfigurationError(
                f"the entry point {entry.name!r} of {group} is declared twice, by {_package(other)} and"
                f" {_package(entry)}: uninstall one of them"
            )
    return found


def load_plugin(group: str, name: str) -> Any | None:
    """Return the object that an entry point refers to, or None if no installed package declares it. Raises
    ConfigurationError when it cannot be imported or is not callable.
    """
    entry = list_plugins(group).get(name)
    if entry is None:
        return None
    try:
        factory = entry.load()
    except Exception as error:  # importing a third-party package may raise anything
        raise ConfigurationError(
            f"{_described(entry)} cannot be loaded from {entry.value}: {type(error).__name__}: {error}"
        ) from error
    if not callable(factory):
        raise ConfigurationError(
            f"{_described(entry)}: expected a function or a class at {entry.value},"
            f" got {type(factory).__name__}"
        )
    return factory


def create_plugin(group: str, name: str, *arguments: object) -> Any | None:
    """Call the factory of an entry point with the arguments and return the result, or None if no installed package
    declares it. Trivium's own errors are passed through; others become a ConfigurationError that names the package.
    """
    factory = load_plugin(group, name)
    if factory is None:
        return None
    try:
        return factory(*arguments)
    except TriviumError:
        raise
    except Exception as error:  # as above
        entry = list_plugins(group)[name]
        raise ConfigurationError(f"{_described(entry)} failed: {type(error).__name__}: {error}") from error


def _described(entry: EntryPoint) -> str:
    return f"the entry point {entry.name!r} of {entry.group} ({_package(entry)})"


def _package(entry: EntryPoint) -> str:
    return "an unnamed package" if entry.dist is None else f"the package {entry.dist.name}"
