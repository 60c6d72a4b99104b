"""The command that searches a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.arguments import open_engine, wrong_argument
from trivium.cli.hits import print_hints, print_hits, print_sources
from trivium.cli.options import (
    Exact,
    FusionOption,
    Json,
    LiveOption,
    RetrieverOption,
    SelectorOption,
    SetOption,
    Store,
    WhereOption,
)
from trivium.cli.terminal import print_json
from trivium.errors import InputError
from trivium.search.pictures import MAX_PICTURE_BYTES, check_picture, views_for
from trivium.serialization import hit_json
from trivium.types import SourceOutcome


def search(
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="What to look for.", show_default=False)
    ] = None,
    *,
    store: Store,
    image: Annotated[
        Path | None,
        typer.Option(
            "--image",
            metavar="FILE",
            help="A picture to look for, for the retriever image, which is the only one asked where none is named.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many chunks.")] = 10,
    retriever: RetrieverOption = None,
    fusion: FusionOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each retriever contributed.")] = False,
    exact: Exact = False,
    selector: SelectorOption = None,
    assignments: SetOption = None,
    where: WhereOption = None,
    live: LiveOption = None,
    json: Json = False,
) -> None:
    """Search a store. Without options all eight retrievers (views of relevance) are asked and their scores fused.

    Examples:

        trivium search "Who found the moons of Mars?" --store my-store --explain

        trivium search "net sales" --store my-store --where "year >= 2020 and source = '*/reports/*'"

        trivium search --image photo.jpg --store my-store

        trivium search "a bar chart of sales" --store my-store --retriever vector image

        trivium search "new moons of Saturn" --store my-store --live web arxiv

        trivium search "largest volcano" --store my-store --retriever walk --set walk.damping=0.4 --k 5 --json
    """
    if question is None and image is None:
        raise typer.BadParameter("expected a question, or --image FILE", param_hint="QUESTION")
    picture = None if image is None else _read(image)
    question, views = question or "", views_for(picture, retriever)
    outcomes: list[SourceOutcome] = []
    with open_engine(store, selector, assignments) as engine, wrong_argument():
        hits = engine.search(
            question,
            k,
            views,
            fusion,
            explain=explain,
            exact=exact,
            where=where,
            image=picture,
            sources=live or (),
            on_sources=outcomes.extend,
        )
        if where is not None and not hits:
            print_hints(engine.hints(where))
    if json:
        sources = {"sources": [asdict(outcome) for outcome in outcomes]} if live else {}
        print_json({"question": question, "hits": [hit_json(hit) for hit in hits], **sources})
    else:
        print_hits(question, hits, explain)
        print_sources(outcomes)


def _read(image: Path) -> bytes:
    """The content of a picture file, which may be no larger than a search takes."""
    with wrong_argument("--image"):
        try:
            with image.open("rb") as file:
                content = file.read(MAX_PICTURE_BYTES + 1)
        except OSError as error:
            raise InputError(f"expected a picture file, {image} cannot be read: {error.strerror}") from error
        check_picture(content)
        return content
