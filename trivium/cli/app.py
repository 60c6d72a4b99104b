"""The root command, and its exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, cast

import typer

import trivium
from trivium.cli.command_table import CommandsByName
from trivium.cli.repeated_options import spread
from trivium.cli.terminal import (
    NothingCommittedError,
    err,
    out,
    print_anything,
    shown,
)
from trivium.cli.withdrawn_options import without_withdrawn
from trivium.errors import TriviumError

USAGE = 2
INTERRUPTED = 130

app = typer.Typer(
    name="trivium",
    cls=CommandsByName,
    help="Search your own documents and answer questions from them, with citations and reasons: no key, no server.",
    epilog="trivium COMMAND --help  says more, with examples.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


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
    """Run the command. The process ends with one of the exit codes documented in :mod:`trivium.cli`."""
    print_anything()
    given = without_withdrawn(sys.argv[1:] if arguments is None else arguments)
    command = typer.main.get_command(app)
    try:
        # Not standalone, so that errors are printed below. Typer turns an interrupt into code 130.
        code = command.main(args=spread(given), prog_name="trivium", standalone_mode=False)
        if code == INTERRUPTED:
            err.print("interrupted: what was committed stays; run the same command again to go on")
    except NothingCommittedError:
        err.print(
            "interrupted: nothing was committed yet, and there is no store; the same command begins anew"
        )
        code = INTERRUPTED
    except typer.TyperException as error:
        from typer.rich_utils import rich_format_error

        from trivium.cli.usage_hints import add_hint, with_store

        if (meant := with_store(error, given)) is not None:
            return main(meant)
        add_hint(error, given)
        rich_format_error(cast(Any, error))
        code = USAGE
    except TriviumError as error:
        err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
        code = 1
    except BrokenPipeError:
        # The reader of our output has closed the pipe: the flush at exit must not write to it either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
        code = 1
    sys.exit(code if isinstance(code, int) else 0)
