"""The commands ``ask`` and ``chat``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.text import Text

from trivium.answering.events import AnswerEvent, Done, Found, Piece
from trivium.answering.history import append_turn, read_history
from trivium.cli.arguments import Writer, answer_writer, open_engine, reranker_name, wrong_argument
from trivium.cli.conversation import Conversation, typed_lines
from trivium.cli.hits import print_hints, print_legend, print_reasons, print_sources, print_warnings
from trivium.cli.options import (
    CONVERSATION,
    SPEECH,
    AnswerFromOption,
    ChatOption,
    CutOption,
    FusionOption,
    HistoryOption,
    Json,
    LiveOption,
    ModelOption,
    PromptOption,
    RerankOption,
    RetrieverOption,
    SelectorOption,
    SetOption,
    Store,
    WhereOption,
)
from trivium.cli.places import print_citation
from trivium.cli.speech import SpokenAsk
from trivium.cli.terminal import err, out, print_json, shown
from trivium.live.registry import configured_sources
from trivium.serialization import answer_json
from trivium.settings import load_settings
from trivium.text import plain
from trivium.types import Answer, Hit, Intent, Turn

if TYPE_CHECKING:
    from trivium.engine import Engine
    from trivium.speech import Transcript


@dataclass(frozen=True, slots=True)
class Answerer:
    """How questions are answered and displayed in the terminal."""

    engine: Engine
    writer: Writer
    k: int
    retrievers: Sequence[str] | None
    fusion: str | None
    where: str | None
    intent: Intent | None
    rewrite: bool
    live: Sequence[str]
    json: bool
    stream: bool
    one_line: bool = False
    explain: bool = False
    heard: Transcript | None = None
    """Transcript of a spoken question."""
    rerank: str | None = None
    cut: str | None = None

    def events(self, question: str, history: Sequence[Turn]) -> Iterator[AnswerEvent]:
        with wrong_argument():
            return self.engine.ask_stream(
                question,
                k=self.k,
                history=history,
                model=self.writer.model,
                **self.writer.writing,
                retrievers=self.retrievers,
                fusion=self.fusion,
                where=self.where,
                intent=self.intent,
                rewrite=self.rewrite,
                explain=self.explain,
                sources=self.live,
                rerank=self.rerank,
                cut=self.cut,
            )

    def explained(self, answer: Answer) -> Sequence[Hit]:
        """Return the passages of an answer with the contributions of each retriever. This repeats the search."""
        if answer.searched_for is None:
            return []
        hits = self.engine.search(
            answer.searched_for,
            self.k,
            self.retrievers,
            self.fusion,
            explain=True,
            where=self.where,
            sources=self.live,
            recall=answer.recall_query,
            rerank=self.rerank,
            cut=self.cut,
        )
        return hits


def ask(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            help="The question. Without one, a conversation starts.",
            show_default=False,
        ),
    ] = None,
    *,
    store: Store,
    model: ModelOption = None,
    prompt: PromptOption = None,
    chat: ChatOption = None,
    k: AnswerFromOption = 6,
    retriever: RetrieverOption = None,
    fusion: FusionOption = None,
    rerank: RerankOption = None,
    cut: CutOption = None,
    selector: SelectorOption = None,
    assignments: SetOption = None,
    where: WhereOption = None,
    live: LiveOption = None,
    history: HistoryOption = None,
    intent: Annotated[
        str | None,
        typer.Option(
            "--intent",
            metavar="NAME",
            rich_help_panel=CONVERSATION,
            help="Intent of the question, instead of detecting it: collection, live, small_talk or conversation.",
            show_default=False,
        ),
    ] = None,
    as_asked: Annotated[
        bool,
        typer.Option(
            "--as-asked",
            metavar="",
            rich_help_panel=CONVERSATION,
            help="Search for a follow-up question as it is, without rewriting it.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            metavar="",
            help="After the answer, print one line for each passage found, with the reasons for its rank.",
        ),
    ] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            metavar="FILE",
            rich_help_panel=SPEECH,
            help="Recording of the question (WAV, FLAC, Ogg, WebM, MP4, MP3, AAC or AIFF; - for stdin).",
            show_default=False,
        ),
    ] = None,
    speak: Annotated[
        Path | None,
        typer.Option(
            "--speak",
            metavar="FILE",
            rich_help_panel=SPEECH,
            help="WAV file for the spoken answer.",
            show_default=False,
        ),
    ] = None,
    no_stream: Annotated[
        bool,
        typer.Option("--no-stream", metavar="", help="Print the answer only when it is complete."),
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

        trivium ask --listen question.wav --speak answer.wav --store my-store
    """
    spoken = SpokenAsk(question, listen, speak)
    if question is None and listen is None and (json or not sys.stdin.isatty()):
        raise typer.BadParameter("expected a question, or a terminal to ask from", param_hint="QUESTION")
    turns = [] if history is None else read_history(history)
    writer = answer_writer(model, prompt, chat)
    reranker = reranker_name(rerank, model)
    with open_engine(store, selector, assignments, model) as engine:
        heard = spoken.hear()
        if heard is not None:
            question = heard.text
        answerer = Answerer(
            engine,
            writer,
            k,
            retriever,
            fusion,
            where,
            checked_intent(intent),
            not as_asked,
            live or (),
            json,
            not no_stream,
            explain=explain,
            heard=heard,
            rerank=reranker,
            cut=cut,
        )
        if question is None:
            converse(answerer, turns, history)
            return
        answer = answer_at_terminal(answerer, question, turns)
        spoken.say(answer)
        if history is not None:
            append_turn(history, Turn(question, answer.text))


def chat(
    *,
    store: Store,
    model: ModelOption = None,
    prompt: PromptOption = None,
    chat: ChatOption = None,
    k: AnswerFromOption = 6,
    retriever: RetrieverOption = None,
    fusion: FusionOption = None,
    rerank: RerankOption = None,
    cut: CutOption = None,
    selector: SelectorOption = None,
    assignments: SetOption = None,
    where: WhereOption = None,
    live: LiveOption = None,
    history: HistoryOption = None,
    json: Json = False,
) -> None:
    """Start a conversation with a store. Each question is understood in the context of the earlier ones.

    /why explains the passages of the last answer, /help lists all commands. Questions can also be read
    from a file, one per line; --json then prints one answer per line.

    Examples:

        trivium chat --store my-store

        trivium chat --store my-store --model local --history talk.jsonl

        trivium chat --store my-store --live web

        trivium chat --store my-store --json < questions.txt
    """
    writer = answer_writer(model, prompt, chat)
    turns = [] if history is None else read_history(history)
    reranker = reranker_name(rerank, model)
    with open_engine(store, selector, assignments, model) as engine:
        answerer = Answerer(
            engine,
            writer,
            k,
            retriever,
            fusion,
            where,
            None,
            True,
            live or (),
            json,
            not json,
            one_line=True,
            rerank=reranker,
            cut=cut,
        )
        converse(answerer, turns, history)


def converse(answerer: Answerer, turns: Sequence[Turn], history: Path | None) -> None:
    """Answer the typed questions until the conversation ends."""

    def answer(question: str, before: Sequence[Turn], where: str | None, rewrite: bool) -> Answer:
        return answer_at_terminal(replace(answerer, where=where, rewrite=rewrite), question, before)

    def explained(answer: Answer, where: str | None) -> Sequence[Hit]:
        return replace(answerer, where=where).explained(answer)

    Conversation(answer, explained, answerer.where, history, list(turns)).run(typed_lines())


def checked_intent(intent: str | None) -> Intent | None:
    """Validate the name of an intent. Raises typer.BadParameter for an unknown one."""
    for known in get_args(Intent):
        if intent == known:
            return known  # type: ignore[no-any-return]
    if intent is None:
        return None
    raise typer.BadParameter(
        f"expected one of {', '.join(get_args(Intent))}, got {intent!r}", param_hint="--intent"
    )


def answer_at_terminal(answerer: Answerer, question: str, history: Sequence[Turn]) -> Answer:
    """Answer a question and print the answer, streaming it when possible."""
    shows = answerer.stream and not answerer.json
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
        elif isinstance(event, Piece) and shows:
            out.print(Text(plain(event.text)), end="", soft_wrap=True)
            out.file.flush()
            streamed += event.text
        elif isinstance(event, Done):
            if answerer.json:
                spoken = {} if answerer.heard is None else {"heard": asdict(answerer.heard)}
                print_json({**answer_json(event.answer), **spoken}, one_line=answerer.one_line)
            else:
                print_answer(event.answer, answerer.engine.store.location, streamed)
                if not answerer.live:
                    print_live_hint(event.answer)
                if answerer.explain and event.answer.passages:
                    out.print()
                    print_reasons(event.answer.searched_for or question, event.answer.passages)
                    print_legend(event.answer.passages)
            return event.answer
    raise RuntimeError("an answer ends with Done")


def print_live_hint(answer: Answer) -> None:
    """Print how to ask live sources, if the question seems to need them, the store has no answer, and some are set up."""
    if answer.intent != "live" or answer.outcome == "answered":
        return
    sources = configured_sources(load_settings())
    if sources:
        err.print(
            "[dim]hint: this may ask for something newer or outside of the collection;"
            f"  --live {shown(' '.join(sources))}  asks live sources, too[/]",
            soft_wrap=True,
        )


def print_answer(answer: Answer, store: str, streamed: str = "") -> None:
    """Print the answer from a store (unless it was ``streamed`` unchanged), its unsupported statements, the passages and
    warnings.
    """
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
        print_citation(citation)
    print_sources(answer.sources)
    print_warnings(answer.warnings, store)
    if answer.model is not None:
        used = answer.usage
        told = f"{used.prompt_tokens:,} tokens read, {used.completion_tokens:,} written"
        if answer.outcome == "absent" and not used.prompt_tokens:
            told = "not asked, since no passage is about the question"
        out.print(f"[dim]{shown(answer.model)}: {told}[/]")
