"""Loads commands on demand, so that a command line pays only for the command it uses."""

from __future__ import annotations

import copy
import inspect
import json
from collections import UserDict
from importlib import import_module
from importlib.resources import files
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from trivium.shell_completion import CommandsOfTwoWords

PANELS: dict[str, dict[str, str]] = {
    "Begin here": {
        "demo": "demo.demo",
        "build": "build.build",
        "search": "search.search",
        "ask": "ask.ask",
        "chat": "ask.chat",
        "serve": "serve.serve",
    },
    "Documents of a store": {
        "add": "build.add",
        "remove": "documents.remove",
        "list": "documents.list_documents",
        "embed": "build.embed",
        "enrich": "enrich.enrich",
        "entities": "entities.entities",
        "conflicts": "conflicts.conflicts",
    },
    "The store itself": {
        "stats": "stats.stats",
        "check": "check.check",
        "backup": "backup.backup",
        "restore": "backup.restore",
        "export": "neo4j.export",
    },
    "For other programs": {
        "mcp": "mcp.mcp",
        "mcp install": "mcp_install.mcp_install",
        "explore": "neo4j.explore",
        "embed-question": "neo4j.embed_question",
    },
    "Measure and train": {
        "evaluate": "evaluate.evaluate",
        "evaluate answers": "evaluate_answers.evaluate_answers",
        "compare": "compare_runs.compare",
        "leaderboard": "compare_runs.leaderboard",
        "sweep": "sweep.sweep",
        "train": "train.train",
        "synthesize": "synthesize.synthesize",
    },
    "Models and keys": {
        "models": "models.models",
        "keys": "keys.keys",
    },
}
"""The commands by panel of ``trivium --help``, each with its function or group in this package. A name of two words is a
command of its own beside that of the first word.
"""
_PLACES = {name: (panel, place) for panel, commands in PANELS.items() for name, place in commands.items()}


class _Commands(UserDict[str, Any]):
    """The commands by name, each imported when it is looked up. Listing names imports nothing."""

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = _load(name, *_PLACES[name])
        return self.data[name]


class CommandsByName(CommandsOfTwoWords):
    """The root group, which imports commands on demand. Listing them imports none."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands(dict.fromkeys(_PLACES))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command with its examples after the options, or None if there is no such command."""
        command = super().get_command(ctx, cmd_name)
        return None if command is None else with_examples_last(command)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their summaries from ``completion.json``."""
        listed = copy.copy(self)
        listed.commands = _summaries()
        TyperGroup.format_help(listed, ctx, formatter)


def with_examples_last(command: Any) -> Any:
    """Move the examples of a command and its subcommands below the options, next to the prompt where they are typed."""
    for child in getattr(command, "commands", {}).values():
        with_examples_last(child)
    about, found, examples = inspect.cleandoc(command.help or "").partition("\n\nExample")
    if found:
        command.help = about
        title, _, lines = examples.partition(":")
        command.epilog = "\n".join(
            [f"Example{title}:", *(f"  {line.strip()}" for line in lines.split("\n\n"))]
        )
    return command


def _load(name: str, panel: str, place: str) -> Any:
    module, _, attribute = place.partition(".")
    found = getattr(import_module(f"trivium.cli.{module}"), attribute)
    around = typer.Typer(add_completion=False)
    around.callback()(lambda: None)
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name, rich_help_panel=panel)
    else:
        around.command(name, rich_help_panel=panel)(found)
    group: Any = typer.main.get_command(around)
    return group.commands[name]


def _summaries() -> dict[str, Any]:
    """Return placeholder commands for the list in ``--help``."""
    from rich.markup import escape

    described = json.loads(files("trivium").joinpath("completion.json").read_text(encoding="utf-8"))
    return {
        name: TyperCommand(name=name, help=escape(described["commands"][name]["help"]), rich_help_panel=panel)
        for name, (panel, _) in _PLACES.items()
    }
