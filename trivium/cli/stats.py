"""The command that counts the contents of a store."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from trivium.chunking.spec import DEFAULT
from trivium.cli.nouns import count
from trivium.cli.options import Json, Store
from trivium.cli.terminal import out, print_json
from trivium.embedding.late import is_late
from trivium.embedding.plain import is_plain
from trivium.engine import Engine
from trivium.graph.records import StoreInfo
from trivium.serialization import info_json


def stats(store: Store, json: Json = False) -> None:
    """Count nodes and relationships of a store.

    Example:  trivium stats --store my-store --json
    """
    with Engine.open(store) as engine:
        info = engine.info()
    if json:
        print_json(info_json(info))
    else:
        out.print(f"[bold]{escape(info.location)}[/]")
        print_info(info)


def print_info(info: StoreInfo) -> None:
    """Print the counts of a store."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    for name, number in [*info.nodes.items(), *info.relationships.items(), ("aliases", info.aliases)]:
        table.add_row(name, f"{number:,}")
    out.print(table)
    if info.chunker is not None and info.chunker != DEFAULT:
        out.print(f"chunker {escape(info.chunker)}")
    if info.index:
        out.print("vector indexes: " + ", ".join(f"{name} {value}" for name, value in info.index.items()))
    if info.embedder is None:
        out.print("not embedded yet")
    else:
        chunks = ", late chunking" if is_late(info.embedder) else ""
        if is_plain(info.embedder):
            chunks = ", chunks without headings"
        waiting = f", {count(info.to_embed, 'text')} waiting" if info.to_embed else ""
        out.print(
            f"embedder {info.embedder.name} ({info.embedder.dimension} dimensions{chunks}): "
            f"{count(info.embedded, 'text')} embedded{waiting}"
        )
