"""Suites of question sets, and two runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options import Json, MaybeStore
from trivium.cli.terminal import err, out, print_json, progress, shown
from trivium.llm.base import ChatModel


def judge_suite(
    file: Path,
    folder: Path | None,
    retrievers: Sequence[str] | None,
    fusions: Sequence[str] | None,
    model: ChatModel | None,
    fresh: bool,
    json: bool,
) -> None:
    """Run a suite and print it; by default into ``<name of the file>-results`` in the working directory."""
    # No other command writes pages, and what that takes is loaded last.
    from trivium.evaluation.suite.definition import read_suite
    from trivium.evaluation.suite.report import print_suite, to_json
    from trivium.evaluation.suite.run import run_suite

    suite = read_suite(file)
    target = Path(f"{file.stem}-results") if folder is None else folder
    with progress(quiet=json) as bars:
        results = run_suite(suite, target, retrievers, fusions, model=model, fresh=fresh, progress=bars)
    if json:
        print_json(to_json(results))
        return
    print_suite(results, out)
    err.print(f"[dim]report and pages: {shown(str(target / 'report.md'))}[/]", soft_wrap=True)


def compare(
    first: Annotated[
        Path, typer.Argument(metavar="A.run", help="The run to compare with.", show_default=False)
    ],
    second: Annotated[
        Path, typer.Argument(metavar="B.run", help="The run that wins or loses.", show_default=False)
    ],
    page: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("compare.html"),
    qrels: Annotated[
        Path | None, typer.Option("--qrels", help="Judgements.  \\[default: qrels.txt beside A.run]")
    ] = None,
    store: MaybeStore = None,
    most: Annotated[int, typer.Option("--most", min=1, help="How many questions to show.")] = 500,
    json: Json = False,
) -> None:
    """Compare two runs question by question on one web page: won, lost, and why.

    With --store it quotes the passages and says what each view added to the scores of fused runs.

    Examples:

        trivium compare results/squad/vector.run results/squad/default.run --store my-store

        trivium compare old/squad/default.run new/squad/default.run --out default.html
    """
    from trivium.engine import Engine
    from trivium.evaluation.comparison.run import compare_runs

    with nullcontext() if store is None else Engine.open(store) as engine:
        written = compare_runs(first, second, page, qrels=qrels, engine=engine, most=most)
    if json:
        print_json({"page": str(written)})
    else:
        out.print(shown(str(written)), soft_wrap=True)
