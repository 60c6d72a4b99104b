"""The command that answers questions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from trivium.answering.events import AnswerEvent, Done, Found, Piece
from trivium.answering.history import append_turn, read_history
from trivium.cli.arguments import chat_model, open_engine, wrong_argument
from trivium.cli.hits import print_sources, told_origin
from trivium.cli.options import (
    FusionOption,
    Json,
    LiveOption,
    ModelOption,
    RetrieverOption,
    SelectorOption,
    SetOption,
    Store,
    WhereOption,
)
from trivium.cli.terminal import err, out, print_json, shown
from trivium.engine import Engine
from trivium.graph.schema import headings_of
from trivium.llm.base import ChatModel
from trivium.serialization import answer_json
from trivium.text import plain
from trivium.types import Answer, Turn, place_of


@dataclass(frozen=True, slots=True)
class _Answerer:
    """How questions are answered and shown."""

    engine: Engine
    model: ChatModel | None
    k: int
    retrievers: Sequence[str] | None
    fusion: str | None
    where: str | None
    live: Sequence[str]
    json: bool
    stream: bool

    def events(self, question: str, history: Sequence[Turn]) -> Iterator[AnswerEvent]:
        with wrong_argument():
            return self.engine.ask_stream(
                question,
                k=self.k,
                history=history,
                model=self.model,
                retrievers=self.retrievers,
                fusion=self.fusion,
                where=self.where,
                sources=self.live,
            )


def ask(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            help="What to answer; without one a conversation begins.",
            show_default=False,
        ),
    ] = None,
    *,
    store: Store,
    model: ModelOption = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many passages to answer from.")] = 6,
    retriever: RetrieverOption = None,
    fusion: FusionOption = None,
    selector: SelectorOption = None,
    assignments: SetOption = None,
    where: WhereOption = None,
    live: LiveOption = None,
    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            help="File of a conversation (JSON Lines of question and answer): read, and continued.",
            show_default=False,
        ),
    ] = None,
    no_stream: Annotated[
        bool, typer.Option("--no-stream", help="Print the answer when it is whole.")
    ] = False,
    json: Json = False,
) -> None:
    """Answer a question from a store and cite the passages; say so when it is not there.

    Examples:

        trivium ask "Who discovered the moons of Mars?" --store my-store

        trivium ask "Who discovered the moons of Mars?" --store my-store --model local

        trivium ask "And when?" --store my-store --history talk.jsonl --json

        trivium ask "Which moons of Saturn are new?" --store my-store --live web

        trivium ask --store my-store
    """
    if question is None and (json or not sys.stdin.isatty()):
        raise typer.BadParameter("expected a question, or a terminal to ask from", param_hint="QUESTION")
    turns = [] if history is None else read_history(history)
    chat = chat_model(model)
    with open_engine(store, selector, assignments) as engine:
        answerer = _Answerer(engine, chat, k, retriever, fusion, where, live or (), json, not no_stream)
        for asked in _conversation() if question is None else [question]:
            answer = _answer(answerer, asked, turns)
            turns.append(Turn(asked, answer.text))
            if history is not None:
                append_turn(history, turns[-1])


def _conversation() -> Iterator[str]:
    """Questions typed at the terminal, until an empty one."""
    err.print("[dim]Ask; an empty line ends the conversation.[/]")
    while True:
        try:
            asked = err.input("[bold]> [/]")
        except EOFError:
            return
        if not asked.strip():
            return
        yield asked


def _answer(answerer: _Answerer, question: str, history: Sequence[Turn]) -> Answer:
    shows = answerer.stream and not answerer.json
    streamed = ""
    for event in answerer.events(question, history):
        if isinstance(event, Found) and not answerer.json:
            out.print(f"[bold]{shown(question)}[/]", soft_wrap=True)
            if event.asked != question:
                out.print(f"[dim]searched for: {shown(event.asked)}[/]", soft_wrap=True)
        elif isinstance(event, Piece) and shows:
            out.print(Text(plain(event.text)), end="", soft_wrap=True)
            out.file.flush()
            streamed += event.text
        elif isinstance(event, Done):
            if answerer.json:
                print_json(answer_json(event.answer))
            else:
                print_answer(event.answer, streamed)
            return event.answer
    raise RuntimeError("an answer ends with Done")


def print_answer(answer: Answer, streamed: str = "") -> None:
    """The answer, unless it was ``streamed`` as it is; which of its statements no passage supports; and the passages."""
    if streamed:
        out.print()
    if streamed.strip() != answer.text:
        out.print(Text(plain(answer.text)), soft_wrap=True)
    unsupported = [s for s in answer.statements if not s.supported]
    if unsupported:
        out.print("\n[yellow]not supported by the passages:[/]")
        for statement in unsupported:
            text = answer.text[statement.start : statement.end]
            out.print(f"  [yellow]?[/] {shown(text)} [dim]({statement.support:.0%})[/]", soft_wrap=True)
    if answer.citations:
        out.print()
    for citation in answer.citations:
        place = " › ".join(headings_of(citation.section))
        where = (
            place_of(citation.uri, citation.pages) if citation.live is None else told_origin(citation.live)
        )
        out.print(
            f"[bold cyan]\\[{citation.number}][/] [bold]{shown(place)}[/]"
            f"  [dim]{shown(where)}  {citation.start}-{citation.end}[/]",
            soft_wrap=True,
        )
    print_sources(answer.sources)
    if answer.model is not None:
        used = answer.usage
        out.print(
            f"[dim]{shown(answer.model)}: {used.prompt_tokens:,} tokens read, {used.completion_tokens:,} written[/]"
        )
