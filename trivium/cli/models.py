"""Commands for embedding models."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.options import Json
from trivium.cli.terminal import err, out, print_json, shown
from trivium.embedding.model_files import available, install, present, verify
from trivium.errors import FusionError

models = typer.Typer(help="Embedding models on this machine.", no_args_is_help=True)


@models.command("list")
def models_list(json: Json = False) -> None:
    """List the known models and whether they are installed.

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
        typer.Argument(metavar="NAME", help="Model to install, as in  trivium models list."),
    ],
) -> None:
    """Download a model's files and verify their pinned checksums.

    Example:  trivium models install bge-small
    """
    names = [model.name for model in available()]
    if name not in names:
        raise typer.BadParameter(f"expected one of {', '.join(names)}, got {name!r}", param_hint="NAME")
    folder = install(name)
    out.print(f"{escape(name)} is installed in {escape(str(folder))}")


@models.command("verify")
def models_verify(json: Json = False) -> None:
    """Verify the pinned checksums of all files of the installed models and bundled fusions. Exits with 1 if one differs.

    Example:  trivium models verify
    """
    from trivium.fusion.registry import shipped_for

    found = {model.name: verify(model.name) for model in available() if present(model.name)}
    found |= {
        f"fusion of {embedder}{', with names' * names}": _verify_fusion(embedder, names)
        for embedder, names in shipped_for()
    }
    if json:
        print_json({"models": [{"name": each, "problems": problems} for each, problems in found.items()]})
    else:
        for each, problems in found.items():
            out.print(f"[bold]{escape(each):<34}[/]{'[red]damaged[/]' if problems else '[green]intact[/]'}")
            for problem in problems:
                err.print(shown(problem), soft_wrap=True)
    if any(found.values()):
        raise typer.Exit(1)


def _verify_fusion(embedder: str, names: bool) -> list[str]:
    from trivium.fusion.registry import shipped

    try:
        shipped(embedder, names)
    except FusionError as error:
        return [str(error)]
    return []
