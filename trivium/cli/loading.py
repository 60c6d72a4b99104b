"""Commands that fill a store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.markup import escape

from trivium.cli.options import (
    FORMATS,
    EmbedderOption,
    FormatOption,
    Json,
    NoEmbed,
    NoSentences,
    Sources,
    Store,
    Workers,
)
from trivium.cli.terminal import (
    err,
    info_json,
    load_json,
    out,
    print_json,
    print_load,
    print_problems,
    progress,
)
from trivium.engine import Engine
from trivium.parser.sources.base import Format
from trivium.parser.sources.discover import discover

PARTIAL = 3
"""Exit code of a load that left documents out."""


def check_sources(sources: Sequence[str], format: str) -> None:
    """Refuse what cannot work before anything is made."""
    if format not in FORMATS:
        raise typer.BadParameter(
            f"expected one of {', '.join(FORMATS)}, got {format!r}", param_hint="--format"
        )
    discover(sources, cast(Format, format))


def load_sources(
    engine: Engine,
    sources: Sequence[str],
    format: str,
    workers: int | None,
    no_embed: bool,
    no_sentences: bool,
    json: bool,
) -> None:
    """Load and embed with progress bars, and print what came of it. Raises typer.Exit with :data:`PARTIAL` where
    documents were left out."""
    started = time.perf_counter()
    with progress(quiet=json) as bars:
        report = engine.build(
            sources,
            format=cast(Format, format),
            workers=workers,
            embed=not no_embed,
            sentences=not no_sentences,
            progress=bars,
        )
    seconds = time.perf_counter() - started
    if json:
        print_json(load_json(report, engine.info(), seconds))
    else:
        print_load(report, engine.info(), seconds)
    if report.problems:
        raise typer.Exit(PARTIAL)


def build(
    sources: Sources,
    store: Store,
    format: FormatOption = "auto",
    embedder: EmbedderOption = None,
    no_embed: NoEmbed = False,
    no_sentences: NoSentences = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Parse sources into a graph, load it into a store (made when missing) and embed it.

    Running it again is safe: unchanged pages are left alone, an interrupted run goes on.

    Examples:

        trivium build pages/ --store my-store

        trivium build 'dump/*.html' nq-dev.jsonl.gz passages.jsonl --store my-store --no-embed
    """
    check_sources(sources, format)
    with Engine.create(store, embedder) as engine:
        if not json and not no_embed:
            err.print(f"[dim]embedder: {escape(engine.embedder.identity.name)}[/]")
        load_sources(engine, sources, format, workers, no_embed, no_sentences, json)


def add(
    sources: Sources,
    store: Store,
    format: FormatOption = "auto",
    no_embed: NoEmbed = False,
    no_sentences: NoSentences = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Add documents to an existing store; a page that is there and differs is replaced.

    Example:  trivium add Mars.html --store my-store
    """
    check_sources(sources, format)
    with Engine.open(store) as engine:
        load_sources(engine, sources, format, workers, no_embed, no_sentences, json)


def remove(
    pages: Annotated[
        list[str],
        typer.Argument(metavar="TITLE...", help="Titles (or redirects) of pages.", show_default=False),
    ],
    store: Store,
    json: Json = False,
) -> None:
    """Remove pages. One that others still cite stays as an entity without a document.

    Example:  trivium remove "Mars" "Phobos (moon)" --store my-store
    """
    with Engine.open(store) as engine:
        removed = engine.remove(pages)
        if json:
            print_json({"removed": removed, **info_json(engine.info())})
        else:
            for page in removed:
                out.print(f"removed {escape(page)}")


def embed(
    store: Store,
    embedder: EmbedderOption = None,
    no_sentences: NoSentences = False,
    json: Json = False,
) -> None:
    """Embed every text of a store that has no vector yet, and the sentences of its chunks. Interrupt it any time; it
    resumes.

    Example:  trivium embed --store my-store --embedder bge-small
    """
    started = time.perf_counter()
    with Engine.open(store, embedder) as engine, progress(quiet=json) as bars:
        count = engine.indexer.embed(lambda done, total: bars("embed", done, total))
        sentences = 0
        if not no_sentences:
            sentences = engine.indexer.embed_sentences(lambda done, total: bars("sentences", done, total))
        engine.store.refresh(lambda done, total: bars("index", done, total))
        info = engine.info()
    seconds = time.perf_counter() - started
    if json:
        print_json({"texts": count, "sentences": sentences, "seconds": round(seconds, 3), **info_json(info)})
    else:
        out.print(f"{count:,} texts and {sentences:,} sentences embedded in {seconds:.1f} s")


def enrich(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="DBpedia dump files (.nt, .ttl, .tsv; also .gz, .bz2), folders, globs, or https://HOST/sparql.",
            show_default=False,
        ),
    ],
    store: Store,
    no_embed: NoEmbed = False,
    json: Json = False,
) -> None:
    """Add what DBpedia knows of a store's entities: relations between those that one document mentions, and types.

    Running it again is safe: it adds what is missing.

    Examples:

        trivium enrich mappingbased-objects_en.ttl.bz2 instance-types_en.ttl.bz2 --store my-store

        trivium enrich https://dbpedia.org/sparql --store my-store
    """
    started = time.perf_counter()
    with Engine.open(store) as engine, progress(quiet=json) as bars:
        report = engine.indexer.enrich(sources, embed=not no_embed, progress=bars)
        info = engine.info()
    seconds = time.perf_counter() - started
    if json:
        print_json({**report.to_json(), "seconds": round(seconds, 3), **info_json(info)})
    else:
        out.print(
            f"[bold]Statements[/]: {report.read:,} read, {report.mapped:,} between entities of the store, "
            f"{report.relations:,} of them within one document  [dim]({seconds:.1f} s)[/]"
        )
        out.print(f"[bold]Added[/]: {report.added:,} relations of pages, {report.types_set:,} types")
        if report.problems:
            err.print("[bold red]could not be read:[/]")
            print_problems(report.problems, report.unlisted)
    if report.problems:
        raise typer.Exit(PARTIAL)


def export(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A new, empty or earlier export's folder.", show_default=False),
    ],
    store: Store,
    json: Json = False,
) -> None:
    """Write a store as files for  neo4j-admin database import full : the fastest way into an empty Neo4j database.

    Example:  trivium export import/ --store my-store && tools/neo4j/server import import/
    """
    started = time.perf_counter()
    with Engine.open(store) as engine, progress(quiet=json) as bars:
        report = engine.indexer.export(folder, lambda done, total: bars("export", done, total))
    seconds = time.perf_counter() - started
    if json:
        print_json({**asdict(report), "folder": str(report.folder), "seconds": round(seconds, 3)})
    else:
        nodes, relationships = sum(report.nodes.values()), sum(report.relationships.values())
        out.print(
            f"{nodes:,} nodes and {relationships:,} relationships, {report.bytes / 1e6:,.0f} MB in "
            f"{escape(str(report.folder))}  [dim]({seconds:.1f} s)[/]"
        )
        for what, command in (
            ("load it", f"tools/neo4j/server import {escape(str(report.folder))}"),
            ("start it", "tools/neo4j/server start"),
            ("make its vector indexes", "trivium embed --store bolt://HOST:PORT"),
        ):
            out.print(f"{what + ':':<24} [bold]{command}[/]", soft_wrap=True)
