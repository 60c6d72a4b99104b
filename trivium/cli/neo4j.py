"""Commands for Neo4j: its browser on a store, a question's vector for its queries, and a store as files to import."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.options import Json, Store
from trivium.cli.terminal import count, err, out, print_json, progress, shown
from trivium.engine import Engine


def explore(
    store: Store,
    json: Json = False,
) -> None:
    """Print the address of Neo4j Browser for a store, and open it with a guide of twenty queries. With --json only
    print.

    Example:  trivium explore --store bolt://localhost:7687
    """
    # Imported here because the driver is slow to load and no other command on a folder needs it.
    from trivium.graph.neo4j.browser_guide import explore as find
    from trivium.graph.neo4j.browser_guide import show

    with progress(quiet=json) as bars:
        found = find(store, lambda done, total: bars("index", done, total))
    if json:
        print_json(
            {
                "browser": found.browser,
                "user": found.user,
                "guide": str(found.guide),
                "style": str(found.style),
            }
        )
        return
    for name, value in (
        ("Neo4j Browser", found.browser),
        ("log in", f"as {found.user} with the server's password (the one in NEO4J_PASSWORD)"),
        ("guide", str(found.guide)),
        ("style", f"{found.style} (drop it on Browser's window)"),
    ):
        out.print(f"[bold]{name:<15}[/]{shown(value)}", soft_wrap=True)
    if not show(found):
        err.print("[dim]there is no web browser to open here: go to the addresses above[/]")


def embed_question(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    store: Store,
    json: Json = False,
) -> None:
    """Print the vector of a question by the store's embedder, as the parameter  vector  for queries in Neo4j Browser
    and cypher-shell.

    Example:  trivium embed-question "Which moons have oceans?" --store bolt://localhost:7687
    """
    with Engine.open(store) as engine:
        vector = engine.embedder.embed_query(question).tolist()
    if json:
        print_json({"question": question, "vector": vector})
    else:
        typer.echo(f":param vector => {vector}")


def export(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A new or empty folder, or that of an earlier export."),
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
