"""The commands ``backup`` and ``restore``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options import Json, StoreToo, one_store, store_and
from trivium.cli.terminal import out, print_json, progress, shown
from trivium.graph.backup import BackupReport, back_up
from trivium.graph.backup import restore as restore_backup


def backup(
    store: Annotated[str | None, typer.Argument(metavar="STORE", help="Folder of the store.")] = None,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="File to write. An existing file is replaced once the new one is complete.",
        ),
    ] = None,
    named: StoreToo = None,
    json: Json = False,
) -> None:
    """Write the committed state of a store to one file, even while other programs write to the store.

    Indexes are left out: the first search rebuilds them. A store in Neo4j is backed up by the server's own
    neo4j-admin database dump.

    Example:  trivium backup my-store my-store.trivium
    """
    store, file = store_and(store, file, named, "FILE")
    started = time.perf_counter()
    with progress(quiet=json) as bars:
        report = back_up(store, Path(file), lambda done, total: bars("backup", done, total))
    _print(report, f"{shown(store)} is in {shown(file)}", started, json=json)


def restore(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="File written by  trivium backup ."),
    ],
    store: Annotated[
        str | None,
        typer.Argument(metavar="STORE", help="A new or empty folder for the store."),
    ] = None,
    named: StoreToo = None,
    json: Json = False,
) -> None:
    """Restore a store from a backup to a new or empty folder. A failed restore leaves no store.

    Example:  trivium restore my-store.trivium my-store-again
    """
    store = one_store(store, named)
    if store is None:
        raise typer.BadParameter("expected a new or empty folder for the store", param_hint="STORE")
    started = time.perf_counter()
    with progress(quiet=json) as bars:
        report = restore_backup(file, store, lambda done, total: bars("restore", done, total))
    _print(report, f"{shown(str(file))} is the store {shown(store)}", started, json=json)


def _print(report: BackupReport, text: str, started: float, *, json: bool) -> None:
    seconds = time.perf_counter() - started
    if json:
        print_json(
            {
                "file": str(report.file),
                "state": report.state,
                "database_bytes": report.database_bytes,
                "file_bytes": report.file_bytes,
                "seconds": round(seconds, 3),
            }
        )
    else:
        out.print(f"{text}  [dim]({report.file_bytes / 1e6:,.1f} MB, {seconds:.1f} s)[/]", soft_wrap=True)
