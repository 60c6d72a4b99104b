"""The command's root, and how it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, cast

import typer
from typer.rich_utils import rich_format_error

import trivium
from trivium.cli import (
    answering,
    asking,
    connecting,
    exploring,
    loading,
    measuring,
    models,
    serving,
    synthesizing,
    training,
)
from trivium.cli.options import spread
from trivium.cli.terminal import err, out, shown
from trivium.errors import TriviumError

USAGE = 2
INTERRUPTED = 130

app = typer.Typer(
    name="trivium",
    help="Turn encyclopedic documents into a knowledge graph and retrieve from it by fusing many views.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for command in (
    loading.build,
    loading.add,
    loading.remove,
    loading.embed,
    loading.enrich,
    loading.export,
    asking.search,
    answering.ask,
    asking.evaluate,
    measuring.compare,
    training.train,
    asking.stats,
    asking.demo,
    serving.serve,
    connecting.mcp,
    exploring.explore,
):
    app.command()(command)
app.add_typer(synthesizing.synthesize, name="synthesize")
app.add_typer(models.models, name="models")


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"trivium {trivium.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the process ends with one of the exit codes above."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = typer.main.get_command(app)
    try:
        # Not standalone, so that the error is ours to show. Typer turns an interrupt into code 130.
        code = command.main(args=spread(given), prog_name="trivium", standalone_mode=False)
        if code == INTERRUPTED:
            err.print("interrupted: what was committed stays; run the same command again to go on")
    except typer.TyperException as error:
        rich_format_error(cast(Any, error))
        code = USAGE
    except TriviumError as error:
        err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
        code = 1
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
        code = 1
    sys.exit(code if isinstance(code, int) else 0)
