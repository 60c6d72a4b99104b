"""Commands for stores that are kept in several folders."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from trivium.cli.nouns import count
from trivium.cli.options import Json, StoreToo, one_store, store_and
from trivium.cli.terminal import out, print_json, progress, shown
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.sharded.manifest import read_manifest
from trivium.graph.shards import create_shards, split_store

shards = typer.Typer(help="Several folder stores that are searched as one.", no_args_is_help=True)


@shards.command("create")
def shards_create(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Folder that is to stand for the stores.", show_default=False),
    ],
    stores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STORE...", help="Folders of the stores. They stay where they are.", show_default=False
        ),
    ] = None,
    new: Annotated[
        int,
        typer.Option(
            "--new", metavar="N", min=0, help="Also make N empty stores in FOLDER, for  trivium build ."
        ),
    ] = 0,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="FOLDER stands for other stores already: let it stand for these."),
    ] = False,
    json: Json = False,
) -> None:
    """Search several stores as one: FOLDER is then a store for every command, for the server and for Python.

    The stores need the same embedder, and each document must be in one of them only. A document that is replaced stays
    in its store, a new one goes to the store with the fewest.

    Examples:

        trivium shards create both manuals-store wiki-store

        trivium shards create large-store --new 4
    """
    _print(folder, create_shards(folder, stores or (), new=new, replace=replace), None, json=json)


@shards.command("split")
def shards_split(
    into: Annotated[
        int, typer.Option("--into", metavar="N", min=1, help="Number of shards.", show_default=False)
    ],
    store: Annotated[
        str | None, typer.Argument(metavar="STORE", help="The store to copy.", show_default=False)
    ] = None,
    folder: Annotated[
        str | None,
        typer.Argument(metavar="FOLDER", help="A new or empty folder for the shards.", show_default=False),
    ] = None,
    named: StoreToo = None,
    json: Json = False,
) -> None:
    """Copy a store into several smaller ones that are searched as one. Nothing is embedded anew.

    STORE may stand for several stores itself: they are balanced anew, and links are resolved across all of them. With
    --into 1 they become one store, FOLDER/shard-1.

    Examples:

        trivium shards split my-store my-shards --into 4

        trivium shards split my-shards merged --into 1
    """
    store, folder = store_and(store, folder, named, "FOLDER")
    started = time.perf_counter()
    with progress(quiet=json) as bars:
        paths = split_store(store, Path(folder), into, lambda done, total: bars("split", done, total))
    _print(Path(folder), paths, time.perf_counter() - started, json=json)


@shards.command("list")
def shards_list(
    folder: Annotated[
        str | None,
        typer.Argument(metavar="FOLDER", help="Folder that stands for several stores.", show_default=False),
    ] = None,
    named: StoreToo = None,
    json: Json = False,
) -> None:
    """List the stores that a folder stands for, with their numbers of documents.

    Example:  trivium shards list my-shards
    """
    found = one_store(folder, named)
    if found is None:
        raise typer.BadParameter("expected a folder that stands for several stores", param_hint="FOLDER")
    _print(Path(found), read_manifest(found).paths, None, json=json)


def _print(folder: Path, paths: Sequence[Path], seconds: float | None, *, json: bool) -> None:
    found = [(path, _count_pages(path)) for path in paths]
    if json:
        report: dict[str, Any] = {
            "folder": str(folder),
            "shards": [{"store": str(path), "pages": pages} for path, pages in found],
        }
        print_json(report if seconds is None else {**report, "seconds": round(seconds, 3)})
        return
    took = "" if seconds is None else f"  [dim]({seconds:.1f} s)[/]"
    out.print(f"[bold]{escape(str(folder))}[/] stands for {count(len(found), 'store')}{took}", soft_wrap=True)
    for path, pages in found:
        out.print(
            f"  {shown(str(path))}: {'not there' if pages is None else count(pages, 'document')}",
            soft_wrap=True,
        )


def _count_pages(path: Path) -> int | None:
    if not EmbeddedStore.exists(path):
        return None
    with EmbeddedStore.open(path) as store:
        return store.count_pages()
