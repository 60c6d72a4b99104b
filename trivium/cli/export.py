"""The command that exports a store as files for a Neo4j database."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.options import Json, Store
from trivium.cli.terminal import count, out, print_json, progress
from trivium.engine import Engine


def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="A new or empty folder, or that of an earlier export.", show_default=False
        ),
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
            f"{count(nodes, 'node')} and {count(relationships, 'relationship')}, {report.bytes / 1e6:,.0f} MB in "
            f"{escape(str(report.folder))}  [dim]({seconds:.1f} s)[/]"
        )
        for what, command in (
            ("load it", f"tools/neo4j/server import {escape(str(report.folder))}"),
            ("start it", "tools/neo4j/server start"),
            ("make its vector indexes", "trivium embed --store bolt://HOST:PORT"),
        ):
            out.print(f"{what + ':':<24} [bold]{command}[/]", soft_wrap=True)
