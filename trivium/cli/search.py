"""The command that searches a store."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.arguments import open_engine, wrong_argument
from trivium.cli.hits import print_hits
from trivium.cli.options import (
    Exact,
    FusionOption,
    Json,
    RetrieverOption,
    SelectorOption,
    SetOption,
    Store,
    WhereOption,
)
from trivium.cli.terminal import print_json
from trivium.serialization import hit_json


def search(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What to look for.", show_default=False)
    ],
    store: Store,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many chunks.")] = 10,
    retriever: RetrieverOption = None,
    fusion: FusionOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each retriever contributed.")] = False,
    exact: Exact = False,
    selector: SelectorOption = None,
    assignments: SetOption = None,
    where: WhereOption = None,
    json: Json = False,
) -> None:
    """Search a store. Without options all eight retrievers (views of relevance) are asked and their scores fused.

    Examples:

        trivium search "Who found the moons of Mars?" --store my-store --explain

        trivium search "net sales" --store my-store --where "year >= 2020 and source = '*/reports/*'"

        trivium search "largest volcano" --store my-store --retriever walk --set walk.damping=0.4 --k 5 --json
    """
    with open_engine(store, selector, assignments) as engine, wrong_argument():
        hits = engine.search(question, k, retriever, fusion, explain=explain, exact=exact, where=where)
    if json:
        print_json({"question": question, "hits": [hit_json(hit) for hit in hits]})
    else:
        print_hits(question, hits, explain)
