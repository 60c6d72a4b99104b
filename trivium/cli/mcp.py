"""The command that serves language models and agents over the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.arguments import answer_writer, open_engine, wrong_argument
from trivium.cli.options import LiveOption, ModelOption, Store
from trivium.cli.terminal import err
from trivium.errors import MissingExtraError


def mcp(
    store: Store,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=1,
            max=65535,
            help="Serve HTTP at http://127.0.0.1:PORT/mcp.  \\[default: stdin and stdout]",
        ),
    ] = None,
    model: ModelOption = None,
    live: LiveOption = "off",
) -> None:
    """Run a Model Context Protocol server through which agents search a store.

    Its tools are search, ask, open_section, neighbours and stats; all are read-only.

    Examples:

        trivium mcp --store my-store

        claude mcp add trivium -- trivium mcp --store /path/to/my-store

        trivium mcp --store my-store --port 8001 --model openai:gpt-4o-mini
    """
    writer = answer_writer(model)  # fails here if something is missing, before the server is loaded
    try:
        # Imported here because the SDK is slow to load and no other command needs it.
        from trivium.integrations.mcp.server import HOST, PATH, create_server, serve_http, serve_stdio
        from trivium.integrations.mcp.tools import Defaults
        from trivium.server.live_switch import as_mode
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("trivium"):
            raise
        raise MissingExtraError("the MCP server", "mcp") from error
    from trivium.server.logs import log_as_json

    with wrong_argument("--live"):
        mode = as_mode(live)
    engine = open_engine(store, model=model)
    server = create_server(engine, Defaults(model=writer.model, writing=writer.writing, live=mode))
    log_as_json(libraries=("mcp", "uvicorn"))
    if port is None:
        serve_stdio(server)
        return
    # On stderr, because stdout carries only the protocol.
    err.print(f"[bold]Trivium[/]  http://{HOST}:{port}{PATH}  (Ctrl-C ends it)", soft_wrap=True)
    serve_http(server, port)
