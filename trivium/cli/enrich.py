"""The command that adds facts: from DBpedia, or those that a language model reads in the passages."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options import MODEL_NAMES, Json, NoEmbed, Store
from trivium.cli.print_load import print_problems
from trivium.cli.terminal import OUT_OF_BUDGET, PARTIAL, count, err, out, print_json, progress
from trivium.engine import Engine
from trivium.entities.relation_prompt import read_relation_schema
from trivium.graph.dbpedia import EnrichReport
from trivium.index.model_relations import ModelRelationsReport
from trivium.llm.registry import open_chat_model
from trivium.serialization import info_json


def enrich(
    store: Store,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...",
            help="DBpedia dump files (.nt, .ttl, .tsv; also .gz, .bz2), folders, globs, or https://HOST/sparql.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help=f"Read every passage with a language model: {MODEL_NAMES}.",
        ),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema",
            metavar="FILE",
            help="TOML or JSON file with lists of types, entities and relations: the model states no others.",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            min=1,
            help="Stop asking the model after so many tokens.",
        ),
    ] = None,
    no_embed: NoEmbed = False,
    json: Json = False,
) -> None:
    """Add facts to a store: types and relations from DBpedia, of entities that one document mentions; or, with --model,
    relations that a language model reads in the passages, each with the sentence that says it.

    Running it again is safe: only missing facts are added, and no passage is read twice. When the budget is used up, it
    stops with exit code 4, and the same command goes on.

    Examples:

        trivium enrich mappingbased-objects_en.ttl.bz2 instance-types_en.ttl.bz2 --store my-store

        trivium enrich https://dbpedia.org/sparql --store my-store

        trivium enrich --model openai:gpt-4o-mini --schema schema.toml --budget 1000000 --store my-store
    """
    if (model is None) == (not sources):
        raise typer.BadParameter(
            "expected sources of DBpedia, or a language model with --model", param_hint="SOURCE"
        )
    if model is None and (schema is not None or budget is not None):
        raise typer.BadParameter("expected it only with --model", param_hint="--schema, --budget")
    reader = None if model is None else open_chat_model(model)
    types = None if schema is None else read_relation_schema(schema)
    started = time.perf_counter()
    report: EnrichReport | ModelRelationsReport
    with Engine.open(store) as engine, progress(quiet=json) as bars:
        if reader is None:
            report = engine.indexer.enrich(sources or (), embed=not no_embed, progress=bars)
        else:
            report = engine.indexer.enrich_with_model(
                reader, types, budget=budget, embed=not no_embed, progress=bars
            )
        info = engine.info()
    seconds = time.perf_counter() - started
    if json:
        print_json({**asdict(report), "seconds": round(seconds, 3), **info_json(info)})
    else:
        _print_found(report, seconds)
        out.print(
            f"[bold]Added[/]: {count(report.added, 'relation')} of pages, {count(report.types_set, 'type')}"
        )
    if isinstance(report, ModelRelationsReport):
        if report.stopped:
            err.print(f"stopped by the budget of {budget:,} tokens: the same command goes on")
            raise typer.Exit(OUT_OF_BUDGET)
    elif report.problems:
        if not json:
            err.print("[bold red]could not be read:[/]")
            print_problems(report.problems, report.unlisted)
        raise typer.Exit(PARTIAL)


def _print_found(report: EnrichReport | ModelRelationsReport, seconds: float) -> None:
    if isinstance(report, EnrichReport):
        out.print(
            f"[bold]Statements[/]: {report.read:,} read, {report.mapped:,} between entities of the store, "
            f"{report.relations:,} of them within one document  [dim]({seconds:.1f} s)[/]"
        )
        return
    out.print(
        f"[bold]Passages[/]: {report.passages:,} read, {report.asked:,} of them now with {report.usage.total:,} tokens,"
        f" {report.unreadable:,} without a usable reply  [dim]({seconds:.1f} s)[/]"
    )
    out.print(f"[bold]Relations[/]: {report.stated:,} stated, {report.kept:,} kept")
    for reason, number in sorted(report.dropped.items()):
        out.print(f"  dropped, {reason}: {number:,}")
