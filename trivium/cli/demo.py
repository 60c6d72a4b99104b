"""The command that shows what the others do, on the sample encyclopaedia."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.ask import print_answer
from trivium.cli.build import load_sources
from trivium.cli.hits import print_hits
from trivium.cli.terminal import err, out, own_name
from trivium.engine import Engine
from trivium.sample import DEMO_QUESTIONS, DOCUMENT_QUESTIONS, documents_folder, pages_folder


def demo(
    store: Annotated[
        str, typer.Option("--store", "-s", help="Where to build the sample store.")
    ] = "demo-store",
) -> None:
    """Build the sample encyclopaedia of the Solar System, with a PDF and a Markdown file beside it, search it and have
    questions answered.

    Example:  trivium demo
    """
    with Engine.create(store) as engine:
        err.print(f"[dim]embedder: {escape(engine.embedder.identity.name)}[/]")
        load_sources(engine, store, [str(pages_folder()), str(documents_folder())], json=False)
        for question in DEMO_QUESTIONS:
            out.print()
            out.rule(style="dim")
            print_hits(question, engine.search(question, k=2, explain=True), explain=True)
        out.print()
        out.rule("answered, without a language model", style="dim")
        for question in (DEMO_QUESTIONS[0], *DOCUMENT_QUESTIONS):
            out.print(f"[bold]{escape(question)}[/]")
            print_answer(engine.ask(question))
            out.print()
    out.print()
    out.rule(style="dim")
    for what, arguments in (
        ("Ask it something else:", ["ask", "your question", "--store", store]),
        ("See why a passage is found:", ["search", "your question", "--explain", "--store", store]),
        ("See that the store is whole:", ["check", store]),
        ("Open it in a web page:", ["serve", "--store", store]),
    ):
        command = shlex.join([*own_name(), *arguments])
        out.print(f"{what}\n  [bold]{escape(command)}[/]", soft_wrap=True)
