"""The command that demonstrates the others on the sample encyclopaedia."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.ask import print_answer
from trivium.cli.build import load_sources
from trivium.cli.entities import print_card
from trivium.cli.print_hits import LEGEND, print_details, print_reasons
from trivium.cli.terminal import err, out, own_name
from trivium.engine import Engine
from trivium.index.requests import BuildRequest
from trivium.sample import (
    DEMO_ENTITY,
    DEMO_QUESTIONS,
    DOCUMENT_QUESTIONS,
    documents_folder,
    pages_folder,
)
from trivium.search.entities import describe_entity


def demo(
    store: Annotated[str, typer.Option("--store", "-s", help="Folder for the sample store.")] = "demo-store",
) -> None:
    """Build a store from the sample encyclopaedia of the Solar System, a PDF and a Markdown file; search it and answer
    questions.

    Example:  trivium demo
    """
    with Engine.create(store) as engine:
        made_of = "the sample encyclopaedia of the Solar System, a PDF and a Markdown file"
        err.print(f"[dim]{escape(store)} is made of {made_of}.[/]", soft_wrap=True)
        request = BuildRequest([pages_folder(), documents_folder()])
        load_sources(engine, store, request, json=False, announce=True, suggest=False)
        _print_title("questions, answered with what the documents say")
        for question in (DEMO_QUESTIONS[0], *DOCUMENT_QUESTIONS):
            out.print(f"[bold]{escape(question)}[/]")
            print_answer(engine.ask(question), store)
            out.print()
        _print_title("the best passages for a question, and why they were found", before=False)
        out.print(f"[dim]{LEGEND}[/]\n")
        found = [engine.search(question, k=3, explain=True) for question in DEMO_QUESTIONS]
        for question, hits in zip(DEMO_QUESTIONS, found, strict=True):
            print_reasons(question, hits)
            out.print()
        _print_title("the first of them in full", before=False)
        print_details(found[0][0], found[0])
        _print_title("who and what the documents name: one of them, as the graph has it")
        print_card(describe_entity(engine.store, DEMO_ENTITY, 2), json=False)
    _print_title("what to do next")
    _print_next(store)


def _print_title(words: str, *, before: bool = True) -> None:
    if before:
        out.print()
    out.rule(words, style="dim")


def _print_next(store: str) -> None:
    """Print commands ready to paste, one per line, regardless of the terminal width."""
    for what, arguments in (
        ("ask more", ["chat", "--store", store]),
        ("in a browser", ["serve", "--store", store]),
        ("all names", ["entities", store]),
        ("your documents", ["build", "FOLDER", "--store", "my-store"]),
    ):
        command = shlex.join([*own_name(), *arguments])
        out.print(f"[dim]{what:<16}[/][bold]{escape(command)}[/]", soft_wrap=True)
