"""The command that runs the HTTP server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import trivium
from trivium.cli.arguments import answer_writer, chat_model, reranker_name, selector_name, wrong_argument
from trivium.cli.options import LiveOption, ModelsOption, RerankersOption, Store
from trivium.cli.terminal import err, out, shown
from trivium.errors import MissingExtraError
from trivium.graph.open_store import may_hold_something

ANSWER_SHARE = 6
"""How many times as long as any other request an answer of a language model may take."""


def serve(
    store: Store,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0 for any free port.")] = 8000,
    model: ModelsOption = None,
    rerank: RerankersOption = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            "--api-key-file",
            help="File with API keys, one per line (see  trivium keys new). Requests need a key as X-API-Key or as a"
            " bearer token. The file is reloaded when it changes.",
        ),
    ] = None,
    cors_origin: Annotated[
        list[str] | None,
        typer.Option("--cors-origin", help="Origin whose pages may use the API; may be repeated."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            help="Additional host name of this server, for example behind a proxy; may be repeated.",
        ),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            min=0,
            help="Additional processes that search; each can use one core.",
        ),
    ] = 0,
    cache: Annotated[
        int,
        typer.Option(
            "--cache",
            min=0,
            help="Megabytes for answers to repeated questions, which hold until the documents change; 0 for none.",
        ),
    ] = 64,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            help="Time limit of a request in seconds; an answer of a language model may take six times as long.",
        ),
    ] = 30.0,
    rate_limit: Annotated[
        int | None,
        typer.Option("--rate-limit", min=1, help="Requests per minute and client.  \\[default: unlimited]"),
    ] = None,
    live: LiveOption = "off",
    upload_limit: Annotated[
        int, typer.Option("--upload-limit", min=1, help="Maximum size of an upload in megabytes.")
    ] = 64,
) -> None:
    """Serve a store: a web page at /, and an HTTP API (described at /openapi.json). Ctrl-C stops it.

    A store that does not exist is made, and is filled from the page.

    With several --model, each request may choose one of them or none; the first is the default.

    Examples:

        trivium serve --store my-store

        trivium serve --store bolt://localhost:7687 --port 9000 --model openai:gpt-4o-mini

        trivium serve --store my-store --model openai:gpt-4o-mini --model local

        trivium serve --store my-store --host 0.0.0.0 --api-key-file keys.txt --rate-limit 120
    """
    usual = model[0] if model else None
    writer = answer_writer(usual)  # fails here if something is missing, before the server is loaded
    models = [chat_model(name) for name in (model or [])[1:]]
    try:
        # Imported here because the web framework is slow to load and no other command needs it.
        from trivium.server.app import create_app
        from trivium.server.logs import log_as_json
        from trivium.server.run_server import bound, run
        from trivium.server.settings import ServerSettings
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("trivium"):
            raise
        raise MissingExtraError("serving", "serve") from error
    with wrong_argument():
        settings = ServerSettings.model_validate(
            {
                "host": host,
                "port": port,
                "api_key_file": api_key_file,
                "cors_origins": cors_origin or (),
                "hosts": allow_host or (),
                "processes": processes,
                "cache_bytes": cache << 20,
                "timeout": timeout,
                "answer_timeout": ANSWER_SHARE * timeout,
                "rate_limit": rate_limit,
                "path_selector": selector_name(usual),
                "rerankers": [reranker_name(name, usual) for name in rerank or ()],
                "upload_bytes": upload_limit << 20,
                "live": live,
            }
        )
    with bound(settings):
        pass  # a port that is taken is an error before anything is made
    if not settings.on_loopback and api_key_file is None:
        err.print(
            f"[bold yellow]warning:[/] everybody who reaches {host} can read, change and delete these documents:"
            " ask for a key with --api-key-file, or listen on 127.0.0.1",
            soft_wrap=True,
        )
    if not may_hold_something(store):
        with trivium.Engine.create(store):
            err.print(
                f"{shown(str(store))} is a new, empty store: documents can be added on the page",
                soft_wrap=True,
            )
    app = create_app(store, settings, model=writer.model, models=models, writing=writer.writing)
    log_as_json()
    run(
        app,
        settings,
        lambda address: out.print(f"[bold]Trivium[/]  {address}  (Ctrl-C ends it)", soft_wrap=True),
    )
    err.print("[dim]stopped[/]")
