"""Commands for the API keys of a server."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.arguments import wrong_argument
from trivium.cli.options import Json
from trivium.cli.terminal import err, out, print_json
from trivium.server.keys import Scope, new_key

keys = typer.Typer(help="API keys of a server.", no_args_is_help=True)


@keys.callback()
def _keys() -> None:
    pass


@keys.command("new")
def keys_new(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of the key's owner, shown in the logs."),
    ],
    scope: Annotated[
        Scope, typer.Option("--scope", help="read: search and read only. write: may also change documents.")
    ] = "write",
    json: Json = False,
) -> None:
    """Create an API key. It is shown only once; the line for the file of  serve --api-key-file  contains only its hash.

    Example:  trivium keys new dashboard --scope read
    """
    with wrong_argument("NAME"):
        text, key = new_key(name, scope)
    if json:
        print_json({"name": key.name, "scope": key.scope, "key": text, "line": key.line})
        return
    err.print("[dim]The key, which is shown only now:[/]")
    out.print(text, soft_wrap=True)
    err.print("[dim]The line for the file of  trivium serve --api-key-file FILE :[/]")
    out.print(escape(key.line), soft_wrap=True)
