"""Commands that read TREC runs: two side by side, or all of a folder."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options import Json
from trivium.cli.terminal import out, print_json, shown


def compare(
    first: Annotated[Path, typer.Argument(metavar="A.run", help="The baseline run.")],
    second: Annotated[
        Path,
        typer.Argument(metavar="B.run", help="The run to compare with the baseline."),
    ],
    page: Annotated[Path, typer.Option("--out", "-o", help="HTML page to write.")] = Path("compare.html"),
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            "-s",
            help="Store of the runs, for quoting and explaining passages.  \\[default: none]",
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


def leaderboard(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Folder of TREC runs (.run, .trec) and their judgements (qrels.txt).",
        ),
    ],
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            metavar="MEASURE",
            help="Measure to rank and test by, such as mrr, ndcg@10 or precision@20.  \\[default: hit@1, or recall@5 if"
            " most questions have several relevant chunks]",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="NAME",
            help="The run that the others are tested against.  \\[default: the best run]",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="HTML page to write.  \\[default: leaderboard.html in FOLDER]"),
    ] = None,
    json: Json = False,
) -> None:
    """Rank all runs in a folder on one web page, with paired tests by document against the best or a named run.

    Runs may come from  trivium evaluate --runs  and from any other system; no store is needed.

    Examples:

        trivium leaderboard runs

        trivium leaderboard runs --baseline vector --measure ndcg@10

        trivium leaderboard results/squad --out squad.html"""
    from trivium.evaluation.leaderboard import print_leaderboard, read_leaderboard, write_leaderboard

    found = read_leaderboard(folder, measure, baseline)
    written = write_leaderboard(found, folder / "leaderboard.html" if page is None else page)
    if json:
        print_json({**found.to_json(), "page": str(written)})
        return
    print_leaderboard(found, out)
    out.print(shown(str(written)), soft_wrap=True)
