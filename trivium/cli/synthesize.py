"""Commands that create a benchmark of multi-hop questions."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from trivium.cli.options import MODEL_NAMES, Json, Store
from trivium.cli.review import review_at_terminal
from trivium.cli.terminal import count, err, out, print_json, progress, shown
from trivium.errors import InputError
from trivium.graph.open_store import open_store
from trivium.llm.instructions import read_instructions
from trivium.llm.registry import open_chat_model
from trivium.synthetic.checks import Check
from trivium.synthetic.export import export as export_run
from trivium.synthetic.generate import generate as generate_run
from trivium.synthetic.judge import judge as judge_run
from trivium.synthetic.plain import PlainSampling, generate_plain
from trivium.synthetic.run_folder import Run
from trivium.synthetic.sample_bridges import Sampling

synthesize = typer.Typer(
    help="Create a benchmark of questions from a store: generate (multi-hop) or plain, judge, review, export.",
    no_args_is_help=True,
)

Folder = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="Folder of the run; created by the first step."),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help=f"Language model: {MODEL_NAMES}.  \\[default: TRIVIUM_CHAT_MODEL]",
    ),
]

PromptFile = Annotated[
    Path | None,
    typer.Option(
        "--prompt",
        metavar="FILE",
        help="Text file with instructions in place of the usual ones; the form of the reply is added to them.",
    ),
]


@synthesize.command("generate")
def synthesize_generate(
    run: Folder,
    store: Store,
    model: Model = None,
    entities: Annotated[
        int, typer.Option("--entities", "-n", min=1, help="Number of entities to write about.")
    ] = 300,
    prompt: PromptFile = None,
) -> None:
    """Draw entities cited by chunks of several pages, and generate a question about each.

    It can be interrupted at any time; the same command resumes. A larger --entities adds more.

    Example:  trivium synthesize generate my-run --store my-store --model openai:gpt-4o
    """
    instructions, chat = read_instructions(prompt), open_chat_model(model)
    own = Run(run)
    with open_store(store) as opened, progress() as bars:
        generate_run(
            own,
            opened,
            chat,
            Sampling(entities),
            lambda done, total: bars("questions", done, total),
            instructions,
        )
    _show(own)


@synthesize.command("plain")
def synthesize_plain(
    run: Folder,
    store: Store,
    model: Model = None,
    chunks: Annotated[
        int, typer.Option("--chunks", "-n", min=1, help="Number of passages to ask about.")
    ] = 100,
    prompt: PromptFile = None,
) -> None:
    """Draw passages across all documents, and generate plain questions about each, with answers and quotes.

    It can be interrupted at any time; the same command resumes. A larger --chunks adds more.

    Example:  trivium synthesize plain my-run --store my-store --model openai:gpt-4o-mini --chunks 200
    """
    sampling = PlainSampling(chunks)
    instructions, chat = read_instructions(prompt), open_chat_model(model)
    own = Run(run)
    with open_store(store) as opened, progress() as bars:
        generate_plain(
            own, opened, chat, sampling, lambda done, total: bars("passages", done, total), instructions
        )
    _show(own)


@synthesize.command("judge")
def synthesize_judge(
    run: Folder,
    model: Model = None,
    prompt: PromptFile = None,
) -> None:
    """Score the questions from 1 to 10 by four criteria. The model may differ from the one that wrote them.

    Example:  trivium synthesize judge my-run --model openai:gpt-4o
    """
    own = Run(run)
    own.require_started()
    instructions, chat = read_instructions(prompt), open_chat_model(model)
    with progress() as bars:
        judge_run(own, chat, lambda done, total: bars("questions", done, total), instructions)
    _show(own)


@synthesize.command("review")
def synthesize_review(
    run: Folder,
    keep: Annotated[int, typer.Option("--keep", min=1, help="Stop when this many are accepted.")] = 100,
) -> None:
    """Accept or reject the best questions one by one in the terminal: those without a score below 7. Every decision is
    saved immediately.

    Example:  trivium synthesize review my-run --keep 100
    """
    own = Run(run)
    own.require_started()
    if not sys.stdin.isatty():
        raise InputError("expected a terminal to review at, but standard input is none: run it in one")
    review_at_terminal(own, keep)


@synthesize.command("export")
def synthesize_export(
    run: Folder,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Question file (.jsonl) to write.",
        ),
    ],
    unreviewed: Annotated[
        int | None,
        typer.Option(
            "--unreviewed",
            metavar="SCORE",
            min=0,
            max=10,
            help="Also export unreviewed questions without a score below this; 0: also unscored questions.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write the accepted questions as a question file, along with TREC judgements.

    Examples:

        trivium synthesize export my-run mine.jsonl && trivium evaluate mine.jsonl --store my-store

        trivium synthesize export my-run all.jsonl --unreviewed 7
    """
    written = export_run(Run(run), file, threshold=unreviewed)
    if json:
        print_json({"questions": written.questions, "file": str(written.file), "qrels": str(written.qrels)})
        return
    out.print(
        f"{count(written.questions, 'question')} in {shown(str(written.file))},"
        f" judgements in {shown(str(written.qrels))}",
        soft_wrap=True,
    )


@synthesize.command("status")
def synthesize_status(run: Folder, json: Json = False) -> None:
    """Show the progress of a run and the state of its questions.

    Example:  trivium synthesize status my-run
    """
    own = Run(run)
    own.require_started()
    if json:
        print_json(own.status())
    else:
        _show(own)


def _show(run: Run) -> None:
    status = run.status()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    generated, judged, reviewed = status["generate"], status["judge"], status["review"]
    rows: list[tuple[str, int]] = [
        ("entities", status["bridges"]),
        *((name, generated[name]) for name in ("asked", "written", "declined", "malformed", "failed")),
        *((f"  {Check(check).description}", number) for check, number in generated["failed_checks"].items()),
        ("scored", judged["scored"]),
        ("score unreadable", judged["malformed"]),
        ("not scored yet", judged["waiting"]),
        *((f"  weakest score {score}", number) for score, number in judged["weakest_score"].items()),
        ("accepted", reviewed["accepted"]),
        ("rejected", reviewed["rejected"]),
    ]
    for name, number in rows:
        table.add_row(Text(name), f"{number:,}")
    out.print(table)
    for step, what in (("wrote", generated), ("judged", judged)):
        _show_model(step, what)
    if judged["waiting"]:
        err.print("[dim]next:  trivium synthesize judge[/]")
    elif judged["scored"]:
        err.print("[dim]next:  trivium synthesize review, then  trivium synthesize export[/]")


def _show_model(step: str, what: Mapping[str, Any]) -> None:
    if what["model"] is not None:
        used = what["usage"]
        out.print(
            f"[dim]{shown(what['model'])} {step}: {used['prompt_tokens']:,} tokens read,"
            f" {used['completion_tokens']:,} written[/]"
        )
