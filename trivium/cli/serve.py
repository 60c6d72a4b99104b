"""The command that runs the HTTP server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import trivium
from trivium.cli.arguments import (
    answer_writer,
    chat_model,
    check_device_name,
    read_chat_settings,
    read_settings,
    reranker_name,
    selector_name,
    wrong_argument,
)
from trivium.cli.options import (
    ChatOption,
    DeviceOption,
    ModelsOption,
    PromptOption,
    RerankersOption,
    SelectorOption,
    SetOption,
    Store,
)
from trivium.cli.terminal import err, out, shown
from trivium.errors import MissingExtraError
from trivium.graph.factory import may_hold_something


def serve(
    store: Store,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0 for any free port.")] = 8000,
    model: ModelsOption = None,
    prompt: PromptOption = None,
    chat: ChatOption = None,
    selector: SelectorOption = None,
    assignments: SetOption = None,
    device: DeviceOption = None,
    rerank: RerankersOption = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            "--api-key-file",
            help="File with API keys, one per line (see  trivium keys new). Requests need a key as X-API-Key or as a"
            " bearer token. The file is reloaded when it changes.",
            show_default=False,
        ),
    ] = None,
    cors_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--cors-origin", help="Origin whose pages may use the API; may be repeated.", show_default=False
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            help="Additional host name of this server, for example behind a proxy; may be repeated.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Questions searched concurrently.  \\[default: one per core]"),
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
    queue: Annotated[
        int, typer.Option("--queue", min=1, help="Maximum number of waiting questions; further ones get 503.")
    ] = 256,
    timeout: Annotated[float, typer.Option("--timeout", help="Time limit of a request in seconds.")] = 30.0,
    answer_timeout: Annotated[
        float, typer.Option("--answer-timeout", help="Time limit of an answer in seconds.")
    ] = 180.0,
    rate_limit: Annotated[
        int | None,
        typer.Option("--rate-limit", min=1, help="Requests per minute and client.  \\[default: unlimited]"),
    ] = None,
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--trust-proxy",
            metavar="ADDRESS",
            help="Address or network of a proxy whose X-Forwarded-For header is trusted; may be repeated.",
            show_default=False,
        ),
    ] = None,
    audit_log: Annotated[
        Path | None,
        typer.Option(
            "--audit-log",
            help="File to which one line per change of the documents is appended.",
            show_default=False,
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option("--connections", min=1, help="Maximum number of open connections.")
    ] = 512,
    min_free: Annotated[
        int,
        typer.Option(
            "--min-free", min=0, help="Free disk space in megabytes below which no documents are added."
        ),
    ] = 256,
    shutdown_timeout: Annotated[
        float,
        typer.Option(
            "--shutdown-timeout", help="Seconds that running requests may take when the server is stopped."
        ),
    ] = 15.0,
    live: Annotated[
        str,
        typer.Option(
            "--live",
            help="Live sources: off, allow (those a request names), force (also for requests that name none).",
        ),
    ] = "off",
    upload_limit: Annotated[
        int, typer.Option("--upload-limit", min=1, help="Maximum size of an upload in megabytes.")
    ] = 64,
    job_queue: Annotated[
        int, typer.Option("--job-queue", min=1, help="Maximum number of waiting changes of documents.")
    ] = 100,
    spool_limit: Annotated[
        int,
        typer.Option(
            "--spool-limit", min=1, help="Maximum total size of the uploads of waiting changes, in megabytes."
        ),
    ] = 1024,
    # Gone; kept one release for their messages.
    connections_per_client: Annotated[
        int | None, typer.Option("--connections-per-client", hidden=True)
    ] = None,
    review: Annotated[Path | None, typer.Option("--review", hidden=True)] = None,
    review_keep: Annotated[int | None, typer.Option("--review-keep", hidden=True)] = None,
    review_threshold: Annotated[int | None, typer.Option("--review-threshold", hidden=True)] = None,
    spool: Annotated[
        Path | None,
        typer.Option(
            "--spool",
            metavar="DIR",
            help="Folder for accepted changes until they are applied.  \\[default: jobs in the store's folder]",
            show_default=False,
        ),
    ] = None,
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
    check_device_name(device)
    usual = model[0] if model else None
    writer = answer_writer(
        usual, prompt, chat
    )  # fails here if something is missing, before the server is loaded
    models = [chat_model(name, read_chat_settings(chat)) for name in (model or [])[1:]]
    try:
        # Imported here because the web framework is slow to load and no other command needs it.
        from trivium.server.app import create_app
        from trivium.server.logs import log_as_json
        from trivium.server.running import run
        from trivium.server.settings import ServerSettings
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("trivium"):
            raise
        raise MissingExtraError("serving", "serve") from error
    chosen, values = selector_name(selector, usual), read_settings(assignments)
    counts: dict[str, Any] = {"live": live} if workers is None else {"live": live, "workers": workers}
    with wrong_argument():
        settings = ServerSettings(
            host=host,
            port=port,
            api_key_file=api_key_file,
            audit_log=audit_log,
            connections=connections,
            min_free_bytes=min_free << 20,
            shutdown_timeout=shutdown_timeout,
            cors_origins=tuple(cors_origin or ()),
            hosts=tuple(allow_host or ()),
            queue=queue,
            processes=processes,
            cache_bytes=cache << 20,
            timeout=timeout,
            answer_timeout=answer_timeout,
            rate_limit=rate_limit,
            trusted_proxies=tuple(trust_proxy or ()),
            path_selector=chosen,
            retriever_settings=values,
            device=device,
            rerankers=tuple(filter(None, (reranker_name(name, usual) for name in rerank or ()))),
            upload_bytes=upload_limit << 20,
            queue_jobs=job_queue,
            spool_bytes=spool_limit << 20,
            spool=spool,
            **counts,
        )
    if not settings.on_loopback and api_key_file is None:
        _warn(
            f"everybody who reaches {host} can read, change and delete these documents: ask for a key with"
            " --api-key-file, or listen on 127.0.0.1"
        )
    if connections_per_client is not None:
        _warn("--connections-per-client is ignored: a reverse proxy limits what one address may have open")
    if any(given is not None for given in (review, review_keep, review_threshold)):
        _warn("--review is ignored: questions are reviewed by  trivium synthesize review RUN")
    if not may_hold_something(store):
        with trivium.Engine.create(store, device=device):
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


def _warn(message: str) -> None:
    err.print(f"[bold yellow]warning:[/] {message}", soft_wrap=True)
