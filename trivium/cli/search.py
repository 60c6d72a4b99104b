"""The command that searches a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from trivium.cli.arguments import open_engine, reranker_name, wrong_argument
from trivium.cli.options import Json, SetOption, Store
from trivium.cli.options_from_requests import takes
from trivium.cli.print_hits import (
    print_details,
    print_hints,
    print_hits,
    print_legend,
    print_question,
    print_reasons,
    print_sources,
    print_warnings,
)
from trivium.cli.terminal import cuts, err, out, print_json
from trivium.errors import InputError
from trivium.search.requests import SearchRequest
from trivium.serialization import hit_json
from trivium.types import Hit, SourceOutcome


@takes(SearchRequest, "k", "retrievers", "fusion", "rerank", "cut", "exact", "where", "sources")
def search(
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="The question.")] = None,
    *,
    store: Store,
    given: Mapping[str, Any],
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            metavar="",
            help="Print one line per passage, with the reasons for its rank.",
        ),
    ] = False,
    rank: Annotated[
        list[int] | None,
        typer.Option(
            "--rank",
            min=1,
            metavar="N",
            help="Print only the passage with this rank, in full, with what each retriever added; may be repeated.",
        ),
    ] = None,
    image: Annotated[
        Path | None,
        typer.Option(
            "--image",
            metavar="FILE",
            help="A picture to search for with the retriever image, which is the only one asked by default.",
        ),
    ] = None,
    assignments: SetOption = None,
    json: Json = False,
) -> None:
    """Search a store. By default all eight retrievers (views of relevance) are asked and their scores are fused.

    Examples:

        trivium search "Who discovered the two moons of Mars?" --store my-store

        trivium search "Who discovered the two moons of Mars?" -s my-store --explain

        trivium search "Who discovered the two moons of Mars?" -s my-store --rank 1

        trivium search "net sales" --store my-store --where "year >= 2020"

        trivium search "new moons of Saturn" --store my-store --live arxiv

        trivium search "moons of Mars" --store my-store --rerank bm25 --cut near

        trivium search --image photo.jpg --store my-store

        trivium search volcano --store my-store --retriever walk lexical --json
    """
    if question is None and image is None:
        raise typer.BadParameter("expected a question, or --image FILE", param_hint="QUESTION")
    from trivium.search.about_question import search_and_judge
    from trivium.search.picture_queries import views_for
    from trivium.search.searched_text import searched_text

    picture = None if image is None else _read(image)
    outcomes: list[SourceOutcome] = []
    warnings: list[str] = []
    with wrong_argument():
        request = SearchRequest(
            question or "",
            **{
                **given,
                "k": max(given["k"], *rank) if rank else given["k"],
                "retrievers": views_for(picture, given["retrievers"]),
                "rerank": reranker_name(given["rerank"]),
            },
            explain=explain or bool(rank),
            image=picture,
            on_sources=outcomes.extend,
            on_warnings=warnings.extend,
        )
    with open_engine(store, assignments=assignments) as engine, wrong_argument():
        hits, nearest = search_and_judge(engine.searcher, request)
        if request.where is not None and not hits:
            print_hints(engine.hints(request.where))
    warnings += nearest
    chosen = _of_ranks(hits, rank) if rank else hits
    if json:
        sources = {"sources": [asdict(outcome) for outcome in outcomes]} if request.sources else {}
        told = {"warnings": warnings} if request.rerank is not None or warnings else {}
        print_json(
            {"question": request.question, "hits": [hit_json(hit) for hit in chosen], **sources, **told}
        )
        return
    print_warnings(warnings, store)
    if explain and (searched := searched_text(request.question)) != request.question:
        err.print(f"[dim]searched for: {escape(searched)}[/]")
    if rank:
        print_question(request.question, hits)
        for hit in chosen:
            out.print()
            print_details(hit, hits)
    else:
        (print_reasons if explain else print_hits)(request.question, hits)
        if hits and cuts():
            more = "" if explain else "--explain: why they are here; "
            err.print()
            print_legend(hits)
            err.print(f"[dim]{more}--rank N: one of them in full[/]")
    print_sources(outcomes)


def _of_ranks(hits: Sequence[Hit], ranks: Sequence[int]) -> list[Hit]:
    """Return the hits with these ranks, each once and best first. Raises typer.BadParameter when there are fewer hits."""
    if hits and max(ranks) > len(hits):
        raise typer.BadParameter(
            f"expected ranks up to {len(hits)}, for there are no more passages, got {max(ranks)}",
            param_hint="--rank",
        )
    return [hit for hit in hits if hit.rank in ranks]


def _read(image: Path) -> bytes:
    """Read a picture file. Raises typer.BadParameter when it is too large for a search."""
    from trivium.search.picture_queries import MAX_PICTURE_BYTES, check_picture

    with wrong_argument("--image"):
        try:
            with image.open("rb") as file:
                content = file.read(MAX_PICTURE_BYTES + 1)
        except OSError as error:
            raise InputError(f"expected a picture file, {image} cannot be read: {error.strerror}") from error
        check_picture(content)
        return content
