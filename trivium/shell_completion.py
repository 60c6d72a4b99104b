"""Shell completion of commands, options and their values.

The shell starts the program at every press of the tab key, and importing all commands would take a second. The
completions are therefore read from ``completion.json``, which ``tools/completion.py`` writes; a test fails when it is
outdated. ``trivium --help`` lists the commands from there, too. Only values that depend on this machine (installed
packages, titles of a store) are looked up.
"""

from __future__ import annotations

import inspect
import json
import os
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from trivium.errors import TriviumError
from trivium.plugins import list_plugins

TITLES = "titles"
"""Used instead of an entry point group to complete the titles of the documents in the store."""
MAX_TITLES = 200
"""Maximum number of completions; more are not readable."""

_MAX_HELP = 100

_Complete = Callable[[typer.Context, str], list[str]]


class CommandsOfTwoWords(TyperGroup):
    """A group some of whose commands have names of two words (``evaluate answers``), beside one of the first word."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first two words, if there is one, else that of the first."""
        if " ".join(args[:2]) in self.commands:
            args = [" ".join(args[:2]), *args[2:]]
        return super().resolve_command(ctx, args)


def short(text: str) -> str:
    """Shorten a help text to fit beside a completion."""
    return textwrap.shorten(text, _MAX_HELP, placeholder=" …")


def complete() -> None:
    """Print the completions of the command line that the shell passes in environment variables, and exit."""
    described = json.loads(files("trivium").joinpath("completion.json").read_text(encoding="utf-8"))
    app = _group(described, named=os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")))
    os.environ["COLUMNS"] = (
        "1000"  # otherwise the help would be wrapped, and the shell would take each line for a completion
    )
    app(prog_name="trivium")


def _group(described: Mapping[str, Any], named: str = "") -> typer.Typer:
    """Build the commands for Typer. Only those mentioned in ``named`` get their options."""
    app = typer.Typer(cls=CommandsOfTwoWords, add_completion="options" in described)
    app.callback()(_function(described.get("options", {})))
    for name, command in described["commands"].items():
        if "commands" in command:
            app.add_typer(_group(command, named), name=name, help=short(command["help"]))
        else:
            options = command["options"] if name in named else {}
            app.command(name, help=short(command["help"]))(_function(options))
    return app


def _function(options: Mapping[str, Mapping[str, Any]]) -> Callable[..., None]:
    """Return a function that does nothing, with the parameters of a command."""

    def command(**_values: object) -> None:
        pass

    parameters = []
    for number, (names, option) in enumerate(options.items()):
        completion = _completion(option)
        name, *others = names.split(" ")
        kind: Any = bool if option.get("flag") else list[str] | None if option.get("several") else str | None
        declared = (
            typer.Option(name, *others, help=option["help"], autocompletion=completion)
            if name.startswith("-")
            else typer.Argument(metavar=name, help=option["help"], autocompletion=completion)
        )
        # Completing titles needs the value of this option.
        own = "store" if name == "--store" else f"value_{number}"
        default = False if option.get("flag") else None
        annotation = Annotated[kind, declared]
        parameters.append(
            inspect.Parameter(own, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _completion(option: Mapping[str, Any]) -> _Complete | None:
    values: list[str] = option.get("values", "").split()
    group: str | None = option.get("looked_up")
    if not values and group is None:
        return None

    def known(context: typer.Context, incomplete: str) -> list[str]:
        if group == TITLES:
            return _titles(context.params.get("store"), incomplete)
        with suppress(TriviumError):
            return [*values, *(list_plugins(group) if group else ())]
        return values

    return known


def _titles(store: str | None, incomplete: str) -> list[str]:
    """Return the titles that begin with the typed text."""
    from trivium.graph.open_store import open_store
    from trivium.graph.schema import page_uri, unescape
    from trivium.settings.settings import load_settings

    with suppress(TriviumError):
        opened = open_store(store or load_settings().store or "")
        try:
            begun = page_uri(incomplete)  # in the order of uris, titles that begin with it follow one another
            uris = [*opened.find_pages([begun]), *(p.uri for p in opened.pages(begun, MAX_TITLES))]
            titles = [unescape(uri) for uri in uris]
            return [title for title in titles if title.startswith(incomplete)][:MAX_TITLES]
        finally:
            opened.close()
    return []
