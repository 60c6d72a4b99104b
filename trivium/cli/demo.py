"""The command that demonstrates the others on the sample encyclopaedia."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.ask import print_answer
from trivium.cli.build import load_sources
from trivium.cli.hits import LEGEND, print_details, print_reasons
from trivium.cli.terminal import err, out, own_name
from trivium.engine import Engine
from trivium.index.requests import BuildRequest
from trivium.sample import DEMO_QUESTIONS, DOCUMENT_QUESTIONS, documents_folder, pages_folder


def demo(
    store: Annotated[str, typer.Option("--store", "-s", help="Folder for the sample store.")] = "demo-store",
) -> None:
    """Build a store from the sample encyclopaedia of the Solar System, a PDF and a Markdown file; search it and answer
    questions.

    Example:  trivium demo
    """
    with Engine.create(store) as engine:
        made_of = "the sample encyclopaedia of the Solar System, a PDF and a Markdown file"
        embedder = engine.embedder.identity.name
        err.print(f"[dim]{escape(store)}: {made_of}, embedded by {escape(embedder)}[/]", soft_wrap=True)
        load_sources(engine, store, BuildRequest([pages_folder(), documents_folder()]), json=False)
        out.print()
        out.rule("found, a line for each passage, with the reasons", style="dim")
        out.print(f"[dim]{LEGEND}[/]")
        for question in DEMO_QUESTIONS:
            out.print()
            print_reasons(question, engine.search(question, k=3, explain=True))
        out.print()
        out.rule("the first of them, with all that is known of it", style="dim")
        print_details(engine.search(DEMO_QUESTIONS[0], k=1, explain=True)[0])
        out.print()
        out.rule("answered, without a language model", style="dim")
        for question in (DEMO_QUESTIONS[0], *DOCUMENT_QUESTIONS):
            out.print(f"[bold]{escape(question)}[/]")
            print_answer(engine.ask(question), store)
            out.print()
    out.rule("what to do next", style="dim")
    _print_next(store)


def _print_next(store: str) -> None:
    """Print commands ready to paste, one per line, regardless of the terminal width."""
    for what, arguments in (
        ("talk with it", ["chat", "--store", store]),
        ("why it is found", ["search", "your question", "--explain", "--store", store]),
        ("in a web page", ["serve", "--store", store]),
        ("is it whole", ["check", store]),
        ("keep a copy", ["backup", store, f"{store.rstrip('/')}.trivium"]),
        ("your documents", ["build", "FOLDER", "--store", "my-store"]),
    ):
        command = shlex.join([*own_name(), *arguments])
        out.print(f"[dim]{what:<16}[/][bold]{escape(command)}[/]", soft_wrap=True)
