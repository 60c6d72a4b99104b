"""Completion of commands, options and their values for the shell.

The shell starts the program at every press of the tab key. To import all that the commands do would take a second of
it, so what there is to complete stands in ``completion.json``, which ``tools/completion.py`` writes; a test fails where
it is out of date. ``trivium --help`` lists the commands from there, too. What only this machine knows (installed
packages, titles of a store) is looked up.
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

from trivium.errors import TriviumError
from trivium.plugins import list_plugins

TITLES = "titles"
"""In place of a group of entry points: the titles of the documents of the store."""
MAX_TITLES = 200
"""More are of no use to anybody who looks at them."""

_MAX_HELP = 100

_Complete = Callable[[typer.Context, str], list[str]]


def short(text: str) -> str:
    """What fits beside a completion."""
    return textwrap.shorten(text, _MAX_HELP, placeholder=" …")


def complete() -> None:
    """Tell the shell how the line that it describes in its variables may go on, and end the process."""
    described = json.loads(files("trivium").joinpath("completion.json").read_text(encoding="utf-8"))
    app = _group(described, named=os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")))
    os.environ["COLUMNS"] = (
        "1000"  # else the help is broken into lines, each of which a shell takes for a completion
    )
    app(prog_name="trivium")


def _group(described: Mapping[str, Any], named: str = "") -> typer.Typer:
    """The commands as Typer knows them; only those that ``named`` mentions have their options."""
    app = typer.Typer(add_completion="options" in described)
    app.callback()(_function(described.get("options", {})))
    for name, command in described["commands"].items():
        if "commands" in command:
            app.add_typer(_group(command, named), name=name, help=short(command["help"]))
        else:
            options = command["options"] if name in named else {}
            app.command(name, help=short(command["help"]))(_function(options))
    return app


def _function(options: Mapping[str, Mapping[str, Any]]) -> Callable[..., None]:
    """A function that does nothing, with the parameters of a command."""

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
        # The titles of a store need the value of this one.
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
    """Titles that begin like what has been typed."""
    from trivium.graph.factory import open_store
    from trivium.graph.schema import unescape
    from trivium.settings import load_settings

    with suppress(TriviumError):
        opened = open_store(store or load_settings().store or "")
        try:
            titles = (unescape(page.uri) for page in opened.pages())
            return [title for title in titles if title.startswith(incomplete)][:MAX_TITLES]
        finally:
            opened.close()
    return []
