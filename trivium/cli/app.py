"""The command's root, and how it ends."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, cast

import typer
from typer.rich_utils import rich_format_error

import trivium
from trivium.cli.ask import ask, chat
from trivium.cli.backup import backup, restore
from trivium.cli.build import NothingCommittedError, add, build, embed
from trivium.cli.check import check
from trivium.cli.compare import compare
from trivium.cli.demo import demo
from trivium.cli.documents import list_documents, remove
from trivium.cli.enrich import enrich
from trivium.cli.evaluate import evaluate
from trivium.cli.explore import explore
from trivium.cli.export import export
from trivium.cli.keys import keys
from trivium.cli.leaderboard import leaderboard
from trivium.cli.mcp import mcp
from trivium.cli.models import models
from trivium.cli.options import spread
from trivium.cli.questions import questions
from trivium.cli.search import search
from trivium.cli.serve import serve
from trivium.cli.stats import stats
from trivium.cli.sweep import sweep
from trivium.cli.synthesize import synthesize
from trivium.cli.terminal import err, out, print_anything, shown
from trivium.cli.train import train
from trivium.errors import TriviumError

USAGE = 2
INTERRUPTED = 130

app = typer.Typer(
    name="trivium",
    help="Turn encyclopedic documents into a knowledge graph and retrieve from it by fusing eight retrievers.",
    epilog="trivium COMMAND --help  says more, with examples.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Begin here": (demo, build, search, ask, chat, serve),
    "Documents of a store": (add, remove, list_documents, embed, enrich),
    "The store itself": (stats, check, backup, restore, export),
    "For other programs": (mcp, explore),
    "Measure and train": (evaluate, questions, compare, leaderboard, sweep, train),
}
"""The commands under the titles of ``trivium --help``."""
for panel, commands in PANELS.items():
    for command in commands:
        name = "list" if command is list_documents else None
        app.command(name, rich_help_panel=panel)(command)
app.add_typer(synthesize, name="synthesize", rich_help_panel="Measure and train")
app.add_typer(models, name="models", rich_help_panel="Models and keys")
app.add_typer(keys, name="keys", rich_help_panel="Models and keys")


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


def with_examples_last(command: Any) -> Any:
    """A command and those below it whose examples are printed below the options, next to the prompt where they are
    typed."""
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the process ends with one of the exit codes above."""
    print_anything()
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = with_examples_last(typer.main.get_command(app))
    try:
        # Not standalone, so that errors are shown below. Typer turns an interrupt into code 130.
        code = command.main(args=spread(given), prog_name="trivium", standalone_mode=False)
        if code == INTERRUPTED:
            err.print("interrupted: what was committed stays; run the same command again to go on")
    except NothingCommittedError:
        err.print(
            "interrupted: nothing was committed yet, and there is no store; the same command begins anew"
        )
        code = INTERRUPTED
    except typer.TyperException as error:
        rich_format_error(cast(Any, error))
        code = USAGE
    except TriviumError as error:
        err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
        code = 1
    except BrokenPipeError:
        # The reader of our output has closed it: nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
        code = 1
    sys.exit(code if isinstance(code, int) else 0)
