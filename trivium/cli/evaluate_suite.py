"""The command that evaluates several sets of questions, each on its own store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.arguments import wrong_argument
from trivium.cli.evaluate import Fusions
from trivium.cli.options import Json, RetrieverOption
from trivium.cli.terminal import err, out, print_json, progress, shown
from trivium.errors import FusionError
from trivium.search.retriever_set import RetrieverSet


def evaluate_suite(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Suite file (TOML) that lists question sets and their stores.",
            show_default=False,
        ),
    ],
    retriever: RetrieverOption = None,
    fusion: Fusions = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the results.  \\[default: FILE-results]", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Evaluate every set of a suite: all eight retrievers and the default fusion, or those named.

    A set that was completed before is not measured again.

    Example:  trivium evaluate suite suite.toml --out results
    """
    with wrong_argument("--retriever"):
        RetrieverSet().choose(retriever)
    # Imported here because no other command writes such reports.
    from trivium.evaluation.suite.definition import read_suite
    from trivium.evaluation.suite.report import print_suite, to_json
    from trivium.evaluation.suite.run import run_suite

    suite = read_suite(file)
    folder = Path(f"{file.stem}-results") if folder is None else folder
    with progress(quiet=json) as bars, wrong_argument("--fusion", (FusionError,)):
        results = run_suite(suite, folder, retriever, fusion, progress=bars)
    if json:
        print_json(to_json(results))
        return
    print_suite(results, out)
    err.print(f"[dim]report: {shown(str(folder / 'report.md'))}[/]", soft_wrap=True)
