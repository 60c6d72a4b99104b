"""The command that answers questions."""

from __future__ import annotations

import json as jsons
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from trivium.answering.events import AnswerEvent, Done, Found, Piece
from trivium.cli.options import Json, RetrieverOption, Store
from trivium.cli.terminal import err, out, print_json, shown
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.fusion.registry import FUSIONS
from trivium.graph.schema import headings_of
from trivium.llm.base import ChatModel
from trivium.llm.registry import open_chat_model
from trivium.serialization import hit_json
from trivium.settings import load_settings
from trivium.text import plain
from trivium.types import Answer, Turn

NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class _Asking:
    """How questions are asked and shown."""

    engine: Engine
    model: ChatModel | None
    k: int
    retrievers: Sequence[str] | None
    fusion: str | None
    json: bool
    stream: bool

    def events(self, question: str, history: Sequence[Turn]) -> Iterator[AnswerEvent]:
        return self.engine.ask_stream(
            question,
            k=self.k,
            history=history,
            model=self.model,
            retrievers=self.retrievers,
            fusion=self.fusion,
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
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Language model: local, local:PATH of a GGUF file, openai:NAME, or none for the best sentences."
            "  \\[default: TRIVIUM_CHAT_MODEL, else none]",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many passages to answer from.")] = 6,
    retriever: RetrieverOption = None,
    fusion: Annotated[
        str | None, typer.Option("--fusion", help=f"{', '.join(FUSIONS)}.  \\[default: default]")
    ] = None,
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

        trivium ask --store my-store
    """
    if question is None and (json or not sys.stdin.isatty()):
        raise typer.BadParameter("expected one, or a terminal to ask from", param_hint="QUESTION")
    turns = [] if history is None else _read(history)
    chat = chat_model(model)
    with Engine.open(store) as engine:
        asking = _Asking(engine, chat, k, retriever, fusion, json, not no_stream)
        for asked in _conversation() if question is None else [question]:
            answer = _answer(asking, asked, turns)
            turns.append(Turn(asked, answer.text))
            if history is not None:
                _append(history, turns[-1])


def chat_model(name: str | None) -> ChatModel | None:
    """The language model of that name, by default the one of the settings; None for ``none``, and where none is set."""
    if name is None:
        name = load_settings().chat_model
    return None if name is None or name == NO_MODEL else open_chat_model(name)


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


def _answer(asking: _Asking, question: str, history: Sequence[Turn]) -> Answer:
    shows = asking.stream and not asking.json
    streamed = ""
    for event in asking.events(question, history):
        if isinstance(event, Found) and not asking.json:
            out.print(f"[bold]{shown(question)}[/]", soft_wrap=True)
            if event.asked != question:
                out.print(f"[dim]searched for: {shown(event.asked)}[/]", soft_wrap=True)
        elif isinstance(event, Piece) and shows:
            out.print(Text(plain(event.text)), end="", soft_wrap=True)
            out.file.flush()
            streamed += event.text
        elif isinstance(event, Done):
            if asking.json:
                print_json(answer_json(event.answer))
            else:
                print_answer(event.answer, streamed)
            return event.answer
    raise RuntimeError("an answer ends with Done")


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer with every field; ``answer`` is its text."""
    return {
        "question": answer.question,
        "asked": answer.asked,
        "answer": answer.text,
        "found": answer.found,
        "statements": [
            {"text": answer.text[s.start : s.end], **asdict(s), "citations": list(s.citations)}
            for s in answer.statements
        ],
        "citations": [asdict(citation) for citation in answer.citations],
        "hits": [hit_json(hit) for hit in answer.hits],
        "model": answer.model,
        "usage": asdict(answer.usage),
    }


def print_answer(answer: Answer, streamed: str = "") -> None:
    """The answer, unless it was ``streamed`` as it is; what of it no passage bears out; and the passages."""
    if streamed:
        out.print()
    if streamed.strip() != answer.text:
        out.print(Text(plain(answer.text)), soft_wrap=True)
    unsupported = [s for s in answer.statements if not s.supported]
    if unsupported:
        out.print("\n[yellow]not borne out by the passages:[/]")
        for statement in unsupported:
            text = answer.text[statement.start : statement.end]
            out.print(f"  [yellow]?[/] {shown(text)} [dim]({statement.support:.0%})[/]", soft_wrap=True)
    if answer.citations:
        out.print()
    for citation in answer.citations:
        place = " › ".join(headings_of(citation.section))
        out.print(
            f"[bold cyan]\\[{citation.number}][/] [bold]{shown(place)}[/]"
            f"  [dim]{shown(citation.uri)}  {citation.start}-{citation.end}[/]",
            soft_wrap=True,
        )
    if answer.model is not None:
        used = answer.usage
        out.print(
            f"[dim]{shown(answer.model)}: {used.prompt_tokens:,} tokens read, {used.completion_tokens:,} written[/]"
        )


def _read(file: Path) -> list[Turn]:
    if not file.exists():
        return []
    turns = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        try:
            row = jsons.loads(line)
            question, answer = row["question"], row["answer"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{file}, line {number}: expected an object with question and answer") from error
        if not isinstance(question, str) or not isinstance(answer, str):
            raise InputError(f"{file}, line {number}: expected question and answer as text")
        turns.append(Turn(question, answer))
    return turns


def _append(file: Path, turn: Turn) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(jsons.dumps(asdict(turn), ensure_ascii=False) + "\n")
