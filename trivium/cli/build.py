"""Commands that fill a store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, cast

import typer
from rich.markup import escape

from trivium.cli.arguments import check_embedder
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
from trivium.cli.stats import print_info
from trivium.cli.terminal import err, out, print_json, progress, shown
from trivium.engine import Engine
from trivium.graph.records import StoreInfo
from trivium.index.load import IngestReport
from trivium.parser.sources.base import Format, Problem
from trivium.parser.sources.discover import discover
from trivium.serialization import info_json, load_json

PARTIAL = 3
"""Exit code of a load that left documents out."""
_PROBLEMS_SHOWN = 20


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
    check_embedder(embedder)
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
    check_embedder(embedder)
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


def print_load(report: IngestReport, info: StoreInfo, seconds: float) -> None:
    """What a load did and what it left out."""
    parts = [f"{report.added:,} added", f"{report.replaced:,} replaced", f"{report.unchanged:,} unchanged"]
    if report.skipped:
        parts.append(f"{len(report.skipped):,} older than the stored revision")
    if report.duplicates:
        parts.append(f"{len(report.duplicates):,} copies of pages already read")
    out.print(f"[bold]Pages[/]: {', '.join(parts)}  [dim]({seconds:.1f} s)[/]")
    print_info(info)
    if report.problems:
        count = len(report.problems) + report.unlisted
        noun = "document" if count == 1 else "documents"
        err.print(f"[bold red]{count:,} {noun} could not be read:[/]")
        print_problems(report.problems, report.unlisted)


def print_problems(problems: Sequence[Problem], unlisted: int = 0) -> None:
    """The first problems, and how many more there are."""
    for problem in problems[:_PROBLEMS_SHOWN]:
        err.print(f"  {shown(problem.location)}: {shown(problem.reason)}", soft_wrap=True)
    more = max(0, len(problems) - _PROBLEMS_SHOWN)
    if more or unlisted:
        listed = f"--json lists the first {len(problems):,}" if unlisted else "--json lists them"
        err.print(f"  … and {more + unlisted:,} more ({listed})")
