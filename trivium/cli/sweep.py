"""The command that compares models, prompts, temperatures, numbers of passages and contexts for answering."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.arguments import chat_model
from trivium.cli.options import Json
from trivium.cli.terminal import OUT_OF_BUDGET, err, out, print_json, progress, shown
from trivium.llm.chat_model import ChatModel


def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Sweep file (TOML).")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for answers, tables and the web page.  \\[default: FILE-sweep]",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Answer questions with every combination of models, prompts, temperatures, k and contexts in a file, with contexts
    optionally reranked and cut, and compare the results.

    Prints a table of scores, a table of differences from a baseline, and the baseline next to the best; writes them as
    CSV, JSON and a web page with a plot. The same command resumes an interrupted sweep. When a budget of money or tokens
    is used up, the sweep stops with exit code 4.

    Examples:

        trivium sweep sweep.toml

        trivium sweep sweep.toml --out results --json
    """
    # Imported here because these modules are slow to load and no other command needs them.
    from trivium.evaluation.sweep.definition import read_sweep
    from trivium.evaluation.sweep.report import PAGE, print_sweep, write_tables
    from trivium.evaluation.sweep.run import run_sweep

    wanted = read_sweep(file)
    folder = Path(f"{file.stem}-sweep") if folder is None else folder
    with progress(quiet=json) as bars:
        report = run_sweep(
            wanted,
            folder,
            open_model=_open,
            progress=lambda what, done, total: bars(escape(what), done, total),
        )
    write_tables(report, folder)
    if json:
        print_json({**report.to_json(), "page": str(folder / PAGE)})
    else:
        print_sweep(report, out)
        err.print(f"[dim]answers, tables and page: {shown(str(folder))}[/]", soft_wrap=True)
    if report.stopped is not None:
        err.print(
            f"stopped by the budget ({report.stopped}): enlarge \\[budget] in {shown(str(file))}, and the same command"
            " goes on"
        )
        raise typer.Exit(OUT_OF_BUDGET)
    if report.failures:
        names = ", ".join(report.failures)
        err.print(f"failed: {shown(names)}; what was answered is kept, and the same command goes on")
        raise typer.Exit(1)


def _open(name: str) -> ChatModel:
    model = chat_model(name, batch=True)
    if model is None:
        raise typer.BadParameter(f"expected a language model, got {name!r}", param_hint="FILE")
    return model
