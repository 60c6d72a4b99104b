"""The command that lists documents that disagree."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from trivium.answering.conflicts import conflicts as find
from trivium.cli.options import Json, StoreArgument, StoreToo, one_store, store_needed
from trivium.cli.terminal import count, out, print_json
from trivium.engine import Engine
from trivium.text.normalise import plain


def conflicts(
    store: StoreArgument = None,
    named: StoreToo = None,
    limit: Annotated[int, typer.Option(min=1, help="Number of conflicts shown at most.")] = 20,
    json: Json = False,
) -> None:
    """List what documents say differently about the same, the most certain first, and which of them is newer.

    Example:  trivium conflicts my-store
    """
    with Engine.open(one_store(store, named) or store_needed()) as engine:
        found = find(engine.store, limit)
    if json:
        print_json({"conflicts": [asdict(one) for one in found]})
        return
    for one in found:
        newer = f"in force, {one.reason}" if one.reason else "not known which is in force"
        out.print(Text(plain(f"{one.document} ({newer}): {one.text}")), soft_wrap=True)
        out.print(Text(plain(f"{one.other_document}: {one.other_text}\n"), style="dim"), soft_wrap=True)
    out.print(count(len(found), "conflict"))
