"""The commands ``ask`` and ``chat``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from trivium.answering.answer_layout import blocks_of, heads_of
from trivium.answering.events import AnswerEvent, Done, Found, Piece
from trivium.cli.arguments import Writer, answer_writer, open_engine, reranker_name, wrong_argument
from trivium.cli.conversation import Conversation, append_turn, read_history, typed_lines
from trivium.cli.options import HistoryOption, Json, ModelOption, PromptOption, SetOption, Store
from trivium.cli.options_from_requests import takes
from trivium.cli.print_hits import (
    print_citation,
    print_hints,
    print_legend,
    print_reasons,
    print_sources,
    print_warnings,
)
from trivium.cli.terminal import out, print_json, shown
from trivium.common.log_odds import in_words
from trivium.search.requests import AskRequest
from trivium.serialization import answer_json
from trivium.text.normalise import plain, question_terms, terms
from trivium.types import Answer, AnswerPart, Hit, Turn

if TYPE_CHECKING:
    from trivium.engine import Engine


@dataclass(frozen=True, slots=True)
class Answerer:
    """How questions are answered and displayed in the terminal. ``given`` are fields of their requests."""

    engine: Engine
    writer: Writer
    given: Mapping[str, Any]
    json: bool
    one_line: bool = False
    explain: bool = False

    @property
    def where(self) -> str | None:
        """The condition on passages."""
        where: str | None = self.given["where"]
        return where

    def but(self, **given: Any) -> Answerer:
        """Return one whose requests have other values for these fields."""
        return replace(self, given={**self.given, **given})

    def request(self, question: str, history: Sequence[Turn] = ()) -> AskRequest:
        """Return the request for a question."""
        with wrong_argument():
            return AskRequest(
                question,
                history=history,
                model=self.writer.model,
                explain=self.explain,
                **{**self.writer.writing, **self.given},
            )

    def events(self, question: str, history: Sequence[Turn]) -> Iterator[AnswerEvent]:
        """Answer a question."""
        from trivium.search.answers import answer_stream

        with wrong_argument():
            return answer_stream(self.engine.searcher, self.request(question, history))

    def explained(self, answer: Answer) -> Sequence[Hit]:
        """Return the passages of an answer with the contributions of each retriever. This repeats the search."""
        if answer.searched_for is None:
            return []
        request = replace(self.request(answer.question), explain=True)
        ignore: list[Any] = []
        again = request.search(answer.searched_for, answer.recall_query, ignore.extend, ignore.extend)
        return self.engine.searcher.search(again)


@takes(AskRequest, "k", "retrievers", "fusion", "rerank", "cut", "where", "sources")
def ask(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            help="The question. Without one, a conversation starts.",
        ),
    ] = None,
    *,
    store: Store,
    model: ModelOption = None,
    prompt: PromptOption = None,
    given: Mapping[str, Any],
    assignments: SetOption = None,
    history: HistoryOption = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            metavar="",
            help="After the answer, print one line for each passage found, with the reasons for its rank.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Answer a question from a store and cite the passages. If the store has no answer, say so.

    Examples:

        trivium ask "Who discovered the two moons of Mars?" --store my-store

        trivium ask "Who discovered the two moons of Mars?" -s my-store --model local

        trivium ask "Who discovered the two moons of Mars?" -s my-store --explain

        trivium ask "Who found Phobos?" --store my-store --rerank bm25 --cut near

        trivium ask "And when?" --store my-store --history talk.jsonl --json

        trivium ask "Which moons are new?" --store my-store --live arxiv
    """
    if question is None and (json or not sys.stdin.isatty()):
        raise typer.BadParameter("expected a question, or a terminal to ask from", param_hint="QUESTION")
    turns = [] if history is None else read_history(history)
    writer = answer_writer(model, prompt)
    fields = {**given, "rerank": reranker_name(given["rerank"], model)}
    with open_engine(store, assignments=assignments, model=model) as engine:
        answerer = Answerer(engine, writer, fields, json, explain=explain)
        if question is None:
            converse(answerer, turns, history)
            return
        answer = answer_at_terminal(answerer, question, turns)
        if history is not None:
            append_turn(history, Turn(question, answer.text))


@takes(AskRequest, "where", "sources")
def chat(
    *,
    store: Store,
    model: ModelOption = None,
    given: Mapping[str, Any],
    history: HistoryOption = None,
    json: Json = False,
) -> None:
    """Start a conversation with a store. Each question is understood in the context of the earlier ones. The same as
    ask  without a question, which has more options.

    /why explains the passages of the last answer, /help lists all commands. Questions can also be read
    from a file, one per line; --json then prints one answer per line.

    Examples:

        trivium chat --store my-store

        trivium chat --store my-store --model local --history talk.jsonl

        trivium chat --store my-store --live web

        trivium chat --store my-store --json < questions.txt
    """
    writer = answer_writer(model)
    turns = [] if history is None else read_history(history)
    with open_engine(store, model=model) as engine:
        converse(Answerer(engine, writer, given, json, one_line=True), turns, history)


def converse(answerer: Answerer, turns: Sequence[Turn], history: Path | None) -> None:
    """Answer the typed questions until the conversation ends."""

    def answer(question: str, before: Sequence[Turn], where: str | None, rewrite: bool) -> Answer:
        return answer_at_terminal(answerer.but(where=where, rewrite=rewrite), question, before)

    def explained(answer: Answer, where: str | None) -> Sequence[Hit]:
        return answerer.but(where=where).explained(answer)

    Conversation(answer, explained, answerer.where, history, list(turns)).run(typed_lines())


def answer_at_terminal(answerer: Answerer, question: str, history: Sequence[Turn]) -> Answer:
    """Answer a question and print the answer, streaming it when possible."""
    streamed = ""
    for event in answerer.events(question, history):
        if isinstance(event, Found) and not answerer.json:
            out.print(f"[bold]{shown(question)}[/]", soft_wrap=True)
            if answerer.where is not None and event.searched_for is not None and not event.passages:
                print_hints(answerer.engine.hints(answerer.where))
            if event.searched_for is not None and event.searched_for != question:
                out.print(f"[dim]searched for: {shown(event.searched_for)}[/]", soft_wrap=True)
            if event.recall_query is not None:
                out.print(f"[dim]candidates also for: {shown(event.recall_query)}[/]", soft_wrap=True)
        elif isinstance(event, Piece) and not answerer.json and answerer.writer.model is not None:
            out.print(Text(plain(event.text)), end="", soft_wrap=True)
            out.file.flush()
            streamed += event.text
        elif isinstance(event, Done):
            if answerer.json:
                print_json(dict(answer_json(event.answer)), one_line=answerer.one_line)
            else:
                print_answer(event.answer, answerer.engine.store.location, streamed)
                if answerer.explain and event.answer.passages:
                    out.print()
                    print_reasons(event.answer.searched_for or question, event.answer.passages)
                    print_legend(event.answer.passages)
            return event.answer
    raise RuntimeError("an answer ends with Done")


def rows_as_table(rows: Sequence[AnswerPart], question: str, width: int) -> Table:
    """Return rows of a table with a column for each head if that fits into ``width`` cells; else, as also a single row,
    with a line for each cell. The first one, which names the row, and those of heads that the question has are bold.
    """
    heads = heads_of(rows)
    cells = [[plain(dict(row.cells).get(head, "")) for head in heads] for row in rows]
    columns = [max(map(cell_len, column)) for column in zip(map(plain, heads), *cells, strict=True)]
    table = Table(box=None, pad_edge=False, header_style="dim", show_header=False)
    if len(rows) > 1 and sum(columns) + 2 * len(columns) <= width:
        table.show_header = True
        for head in heads:
            table.add_column(Text(plain(head)))
        for row in cells:
            table.add_row(*map(Text, row))
        return table
    asked = frozenset(question_terms(question))
    table.add_column(style="dim", max_width=width // 2)
    table.add_column()
    for number, row in enumerate(cells):
        if number:
            table.add_row()
        for place, (head, cell) in enumerate(zip(heads, row, strict=True)):
            if cell:
                meant = not place or not asked.isdisjoint(terms(head))
                table.add_row(Text(plain(head)), Text(cell, style="bold" if meant else ""))
    return table


def print_answer(answer: Answer, store: str, streamed: str = "") -> None:
    """Print the answer from a store (unless it was ``streamed`` unchanged), its unsupported statements, the passages and
    warnings, which come first if they tell why what was streamed was left out.
    """
    left_out = bool(streamed) and streamed.strip() != answer.text
    if streamed:
        out.print()
    if left_out:
        print_warnings(answer.warnings, store)
    if left_out or not streamed:
        for block in blocks_of(answer):
            shown_block = (
                rows_as_table(block.rows, answer.question, out.width)
                if block.rows
                else Text(plain(block.text))
            )
            out.print(shown_block, soft_wrap=not block.rows, style="green" if block.code else None)
    if answer.confidence is not None:
        out.print(f"[dim]how sure: {in_words(answer.confidence)}[/]")
    for other in answer.disagreements:
        out.print(Text(plain(str(other)), style="yellow"), soft_wrap=True)
    unsupported = [s for s in answer.statements if not s.supported]
    if unsupported:
        out.print("\n[yellow]not in the documents:[/]")
        for statement in unsupported:
            text = answer.text[statement.start : statement.end]
            out.print(f"  [yellow]?[/] {shown(text)} [dim]({statement.support:.0%})[/]", soft_wrap=True)
    if answer.citations:
        out.print()
    for citation in answer.citations:
        print_citation(citation)
    print_sources(answer.sources)
    if not left_out:
        print_warnings(answer.warnings, store)
    used = answer.usage
    if answer.model is not None and used.prompt_tokens:
        told = f"{used.prompt_tokens:,} tokens read, {used.completion_tokens:,} written"
        out.print(f"[dim]{shown(answer.model)}: {told}[/]")
