"""The command that lists the entities of a collection, and what it says of one."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from trivium.cli.options import Json, StoreToo, one_store, store_needed
from trivium.cli.print_hits import told_place
from trivium.cli.terminal import count, one_line, out, print_json, print_line
from trivium.engine import Engine
from trivium.graph.schema import unescape
from trivium.search.entities import EntityCard, EntityCount, Saying, count_entities, describe_entity


def entities(
    first: Annotated[
        str | None,
        typer.Argument(metavar="STORE", help="Folder or address of the store."),
    ] = None,
    second: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of an entity, for what is said of it."),
    ] = None,
    named: StoreToo = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Only those of this kind, such as person.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=0, help="Maximum number of entities, or of passages; 0 for all.")
    ] = 20,
    json: Json = False,
) -> None:
    """List the entities of a collection with their kind and how many passages and documents mention them, the most first;
    with NAME, what is said of one.

    Examples:

        trivium entities my-store --kind person

        trivium entities my-store 'Ada Lovelace'
    """
    store, name = (one_store(first, None), second) if named is None else (one_store(None, named), first)
    if named is not None and second is not None:
        one_store(first, named)  # raises: the store is named twice
    with Engine.open(store or store_needed()) as engine:
        if name is not None:
            card = describe_entity(engine.store, name, limit or sys.maxsize)
            print_card(card, json=json)
            return
        shown, kinds = count_entities(engine.store, None if kind is None else [kind], limit or sys.maxsize)
    found = kinds.total() if kind is None else kinds[kind]
    if json:
        print_json({"entities": [asdict(one) for one in shown], "count": found})
        return
    for one in shown:
        _print_entity(one)
    more = found - len(shown)
    hint = f", {more:,} not shown (--limit 0 shows all)" if more else ""
    out.print(count(found, "entity", "entities") + hint, style="dim")


def _print_entity(one: EntityCount) -> None:
    kind = f" ({one_line(one.kind)})" if one.kind else ""
    numbers = f"{count(one.passages, 'passage')} of {count(one.documents, 'document')}"
    out.print(Text.assemble((one_line(one.name), "bold"), f"{kind}: {numbers}"), soft_wrap=True)


def print_card(card: EntityCard, *, json: bool) -> None:
    """Print what is said of an entity, and its relations."""
    if json:
        print_json(asdict(card))
        return
    _print_entity(card.entity)
    if others := [form for form in card.forms if form != card.entity.name]:
        out.print(Text(f"also: {', '.join(map(one_line, others))}"), soft_wrap=True)
    if card.others:
        out.print(Text(f"may be: {', '.join(map(one_line, card.others))}"), soft_wrap=True)
    for saying in card.sayings:
        out.print()
        _print_saying(saying)
    if card.relations:
        out.print()
    for edge in card.relations:
        ends = (unescape(edge.source), edge.type, unescape(edge.target))
        out.print(Text(" — ".join(map(one_line, ends))), soft_wrap=True)
        if edge.said is not None:
            _print_saying(edge.said)
    more = card.entity.passages - len(card.sayings)
    if more:
        out.print(f"\n{count(more, 'more passage')} (--limit 0 shows all)", style="dim")


def _print_saying(saying: Saying) -> None:
    print_line((told_place(saying.section, saying.pages), "dim"), whole=True)
    out.print(Text(one_line(saying.sentence)), soft_wrap=True)
