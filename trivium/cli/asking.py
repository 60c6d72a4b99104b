"""Commands that ask a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.loading import load_sources
from trivium.cli.options import Exact, Json, RetrieverOption, SelectorOption, Store
from trivium.cli.terminal import (
    err,
    hit_json,
    info_json,
    out,
    print_hits,
    print_info,
    print_json,
    progress,
)
from trivium.engine import Engine
from trivium.evaluation.report import print_report
from trivium.evaluation.trec import write_runs
from trivium.fusion.registry import FUSIONS
from trivium.llm.openai import open_chat_model
from trivium.retrievers.llm_selector import LlmSelector
from trivium.retrievers.selectors import MatchSelector, Selector
from trivium.sample import DEMO_QUESTIONS, pages_folder


def _selector(name: str) -> Selector:
    if name == "match":
        return MatchSelector()
    if name == "llm":
        return LlmSelector(open_chat_model())
    raise typer.BadParameter(f"expected match or llm, got {name!r}", param_hint="--selector")


def search(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What to look for.", show_default=False)
    ],
    store: Store,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many chunks.")] = 10,
    retriever: RetrieverOption = None,
    fusion: Annotated[
        str | None, typer.Option("--fusion", help=f"{', '.join(FUSIONS)}.  \\[default: default]")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each view contributed.")] = False,
    exact: Exact = False,
    selector: SelectorOption = "match",
    json: Json = False,
) -> None:
    """Search a store. Without options all eight views are asked and fused.

    Examples:

        trivium search "Who found the moons of Mars?" --store my-store --explain

        trivium search "largest volcano" --store my-store --retriever walk --k 5 --json
    """
    with Engine.open(store, selector=_selector(selector)) as engine:
        hits = engine.search(question, k, retriever, fusion, explain, exact)
    if json:
        print_json({"question": question, "hits": [hit_json(hit) for hit in hits]})
    else:
        print_hits(question, hits, explain)


def evaluate(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS", help="Question file (JSON Lines).", show_default=False)
    ],
    store: Store,
    retriever: RetrieverOption = None,
    fusion: Annotated[
        list[str] | None,
        typer.Option("--fusion", "-f", help=f"Fusions to judge: {', '.join(FUSIONS)}.", show_default=False),
    ] = None,
    runs: Annotated[
        Path | None, typer.Option("--runs", help="Folder for TREC runs and qrels.", show_default=False)
    ] = None,
    exact: Exact = False,
    selector: SelectorOption = "match",
    json: Json = False,
) -> None:
    """Measure retrieval on questions with known answers; without names all eight views and the default fusion.

    Example:  trivium evaluate questions.jsonl --store my-store --retriever vector lexical --fusion default
    """
    with (
        Engine.open(store, selector=_selector(selector)) as engine,
        progress(quiet=json) as bars,
    ):
        report = engine.evaluate(
            questions,
            retriever,
            fusion,
            exact=exact,
            progress=lambda done, total: bars("questions", done, total),
        )
    if runs is not None:
        write_runs(report, runs)
    if json:
        print_json(report.to_json())
    else:
        print_report(report, out)


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


def demo(
    store: Annotated[
        str, typer.Option("--store", "-s", help="Where to build the sample store.")
    ] = "demo-store",
) -> None:
    """Build the sample encyclopaedia of the Solar System and ask it a few questions.

    Example:  trivium demo
    """
    with Engine.create(store) as engine:
        err.print(f"[dim]embedder: {escape(engine.embedder.identity.name)}[/]")
        load_sources(engine, [str(pages_folder())], "html", None, False, False)
        for question in DEMO_QUESTIONS:
            out.print()
            out.rule(style="dim")
            print_hits(question, engine.search(question, k=2, explain=True), explain=True)
    out.print()
    out.rule(style="dim")
    out.print(
        f'Ask it something else:  [bold]trivium search "your question" --store {escape(store)} --explain[/]'
    )
