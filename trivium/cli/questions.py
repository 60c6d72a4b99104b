"""The command that converts Natural Questions rows to question files."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trivium.cli.load_report import print_problems
from trivium.cli.options import Json
from trivium.cli.terminal import PARTIAL, count, err, out, print_json, progress, shown
from trivium.engine import Engine

if TYPE_CHECKING:
    from trivium.datasets.nq import Conversion

_SHOWN = 5


def questions(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="ROWS...",
            help="Natural Questions rows: files (also .gz), folders, globs, hf:NAME[:SPLIT].",
            show_default=False,
        ),
    ],
    file: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="The question file to write.", show_default=False),
    ],
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            "-s",
            help="Search for the answers in this store.  \\[default: on the pages of the rows themselves]",
            show_default=False,
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            "--split",
            metavar="SHARE",
            help="Also split the questions by document: this fraction goes to FILE.train.jsonl, the rest to"
            " FILE.test.jsonl.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Convert Natural Questions rows to a question file, and list the questions that cannot be traced with the reason.

    Examples:

        trivium questions nq-dev-00.jsonl.gz --out nq-dev.jsonl

        trivium questions nq-train/ --out nq.jsonl --store my-store --split 0.8
    """
    from trivium.datasets.nq import convert

    if share is not None and not 0 < share < 1:
        raise typer.BadParameter(f"expected a share between 0 and 1, got {share:g}", param_hint="--split")
    with ExitStack() as stack:
        opened = None if store is None else stack.enter_context(Engine.open(store)).store
        with progress(quiet=json) as bars:
            done = convert(
                sources,
                file,
                opened,
                share=share,
                progress=lambda read, total: bars("read", read, total),
            )
    if json:
        print_json(conversion_json(done))
    else:
        _print(done)
    if done.problems:
        raise typer.Exit(PARTIAL)


def conversion_json(done: Conversion) -> dict[str, Any]:
    """Convert the result to JSON values."""
    return {
        "questions": done.asked,
        "traced": done.traced,
        "passages": done.passages,
        "files": {
            name: {"file": str(path), "questions": asked, "documents": documents}
            for name, (path, asked, documents) in done.files.items()
        },
        "untraced_file": str(done.untraced),
        "causes": {cause.value: number for cause, number in done.causes.most_common()},
        "untraced": [
            {
                "id": left.id,
                "question": left.question,
                "location": left.location,
                "cause": left.cause.value,
                "reason": left.reason,
            }
            for left in done.left
        ],
        "partly": done.partly,
        "problems": [{"location": p.location, "reason": p.reason} for p in done.problems],
    }


def _print(done: Conversion) -> None:
    out.print(
        f"{done.traced:,} of {count(done.asked, 'question')} traced, to {count(done.passages, 'passage')}",
        soft_wrap=True,
    )
    for path, asked, documents in done.files.values():
        counted = f"{count(asked, 'question')} on {count(documents, 'document')}"
        out.print(f"  {shown(str(path))}: {counted}", soft_wrap=True)
    if done.partly:
        out.print(f"of {done.partly:,} the long answer of some annotator was not found", soft_wrap=True)
    untraced = done.asked - done.traced
    if untraced:
        out.print(f"{untraced:,} could not be traced ({shown(str(done.untraced))}):", soft_wrap=True)
        for cause, number in done.causes.most_common():
            out.print(f"  {number:5d}  {cause.value}")
        for left in done.left[:_SHOWN]:
            out.print(f"  {shown(left.location)} ({shown(left.id)}): {shown(left.reason)}", soft_wrap=True)
        if untraced > _SHOWN:
            out.print(f"  and {untraced - _SHOWN:,} more (all of them in the file)")
    if done.problems:
        err.print(f"[bold red]{count(len(done.problems), 'row')} could not be read:[/]")
        print_problems(done.problems)
