"""The command that compares two runs."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options import Json
from trivium.cli.terminal import out, print_json, shown


def compare(
    first: Annotated[Path, typer.Argument(metavar="A.run", help="The baseline run.", show_default=False)],
    second: Annotated[
        Path,
        typer.Argument(metavar="B.run", help="The run to compare with the baseline.", show_default=False),
    ],
    page: Annotated[Path, typer.Option("--out", "-o", help="HTML page to write.")] = Path("compare.html"),
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            "-s",
            help="Store of the runs, for quoting and explaining passages.  \\[default: none]",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare two runs question by question on a web page: wins, losses and their reasons. Relevance judgements are read
    from qrels.txt beside the first run.

    With --store the page quotes the passages and shows what each retriever added to the scores of fused runs.

    Examples:

        trivium compare results/squad/vector.run results/squad/default.run --store my-store

        trivium compare old/squad/default.run new/squad/default.run --out default.html
    """
    from trivium.engine import Engine
    from trivium.evaluation.comparison.run import compare_runs

    with nullcontext() if store is None else Engine.open(store) as engine:
        written = compare_runs(first, second, page, engine=engine)
    if json:
        print_json({"page": str(written)})
    else:
        out.print(shown(str(written)), soft_wrap=True)
