"""The command that connects agents."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.options import PathSelectorOption, RetrieverOption, Store
from trivium.cli.terminal import err
from trivium.errors import MissingExtraError
from trivium.fusion.registry import FUSIONS
from trivium.llm.registry import open_chat_model


def mcp(
    store: Store,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=1,
            max=65535,
            help="Serve HTTP at http://127.0.0.1:PORT/mcp.  \\[default: stdin and stdout]",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Language model of the tool ask: local, local:PATH of a GGUF file, or openai:NAME."
            "  \\[default: none, answers quote the passages]",
            show_default=False,
        ),
    ] = None,
    selector: PathSelectorOption = None,
    retriever: RetrieverOption = None,
    fusion: Annotated[
        str | None,
        typer.Option(
            "--fusion",
            help=f"{', '.join(FUSIONS)}, or the folder of a trained one, where the agent names none."
            "  \\[default: default]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Let agents search a store: a server of the Model Context Protocol, for the client that starts it.

    Its tools are search, ask, open_section, neighbours and stats; none changes anything.

    Examples:

        trivium mcp --store my-store

        claude mcp add trivium -- trivium mcp --store /path/to/my-store

        trivium mcp --store my-store --port 8001 --model openai:gpt-4o-mini
    """
    try:
        # The SDK takes a while to load, and no other command needs it.
        from trivium.integrations.mcp.server import HOST, PATH, create_server, serve_http, serve_stdio
        from trivium.integrations.mcp.tools import Defaults
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("trivium"):
            raise
        raise MissingExtraError("the MCP server", "mcp") from error
    from trivium.engine import Engine
    from trivium.server.logs import log_as_json

    chat = None if model is None else open_chat_model(model)
    engine = Engine.open(store, selector=selector)
    try:
        engine.searcher.gives_log_odds(retriever, fusion)  # refuses unknown names before anything is served
    except BaseException:
        engine.close()
        raise
    server = create_server(engine, Defaults(retriever, fusion, chat))
    log_as_json(libraries=("mcp", "uvicorn"))
    if port is None:
        serve_stdio(server)
        return
    # On stderr, as everything that is not the protocol's.
    err.print(f"[bold]Trivium[/]  http://{HOST}:{port}{PATH}  (Ctrl-C ends it)", soft_wrap=True)
    serve_http(server, port)
