"""The command that adds facts from DBpedia."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from trivium.cli.options import Json, NoEmbed, Store
from trivium.cli.print_load import print_problems
from trivium.cli.terminal import PARTIAL, count, err, out, print_json, progress
from trivium.engine import Engine
from trivium.serialization import info_json


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
    """Add facts from DBpedia to a store: types of entities, and relations between entities that one document mentions.

    Running it again is safe: only missing facts are added.

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
        out.print(
            f"[bold]Added[/]: {count(report.added, 'relation')} of pages, {count(report.types_set, 'type')}"
        )
        if report.problems:
            err.print("[bold red]could not be read:[/]")
            print_problems(report.problems, report.unlisted)
    if report.problems:
        raise typer.Exit(PARTIAL)
