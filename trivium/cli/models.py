"""Commands about embedding models."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.options import Json
from trivium.cli.terminal import out, print_json
from trivium.embedding.models import available, install

models = typer.Typer(help="Embedding models on this machine.", no_args_is_help=True)


@models.command("list")
def models_list(json: Json = False) -> None:
    """List the models Trivium knows and which are installed.

    Example:  trivium models list
    """
    listed = available()
    if json:
        print_json({"models": [asdict(model) for model in listed]})
        return
    for model in listed:
        state = "[green]installed[/]" if model.installed else "not installed"
        out.print(
            f"[bold]{model.name:<12}[/]{state:<24} {model.size / 1e6:5.0f} MB  {escape(model.description)}"
        )


@models.command("install")
def models_install(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Model to install, as in  trivium models list.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Fetch a model's files and check them against their pinned checksums.

    Example:  trivium models install bge-small
    """
    names = [model.name for model in available()]
    if name not in names:
        raise typer.BadParameter(f"expected one of {', '.join(names)}, got {name!r}", param_hint="NAME")
    folder = install(name)
    if json:
        print_json({"name": name, "folder": str(folder)})
    else:
        out.print(f"{escape(name)} is installed in {escape(str(folder))}")
