"""The command that trains a fusion."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

import trivium
from trivium.cli.arguments import wrong_argument
from trivium.cli.options import Json
from trivium.cli.terminal import out, print_json, progress
from trivium.fusion.artefact import check_publishable
from trivium.training.settings import MOST, Settings

if TYPE_CHECKING:
    from trivium.training.run import Outcome


def train(
    hits: Annotated[
        list[Path],
        typer.Argument(
            metavar="HITS...",
            help="Hit lists (.npz), one file per set of questions, as saved by trivium evaluate --hits.",
        ),
    ],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the trained fusion.")],
    importance: Annotated[
        list[float] | None,
        typer.Option(
            "--importance",
            help="Weight of each set, one number per file.  \\[default: 1 each]",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            min=2,
            help="Cross-validation folds of the pages; each is judged by networks trained on the others.",
        ),
    ] = None,
    keep_folds: Annotated[
        bool,
        typer.Option(
            "--keep-folds",
            help="Also keep the networks of the folds: a question can then be searched with one that has not seen its"
            " pages.",
        ),
    ] = False,
    adapt: Annotated[
        bool | None,
        typer.Option(
            "--adapt/--no-adapt",
            help="Adapt the network that ships, or train a new one.  \\[default: adapt, with fewer than"
            f" {MOST:,} questions]",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Train a fusion on questions with known answers; needs  pip install 'trivium\\[train]'.

    With some hundred questions the network that ships is adapted to them, which takes seconds; with more, a new one is
    trained, which takes minutes. Either is evaluated on unseen pages, and a gate decides whether it may become the
    default. An earlier fusion in the folder is replaced once the new one is complete.

    Examples:

        trivium evaluate questions.jsonl --store my-store --hits mine.npz

        trivium train mine.npz --out my-fusion

        trivium train mine.npz --out my-fusion --no-adapt

        trivium train squad.npz users.npz --importance 1 3 --out my-fusion

        trivium train mine.npz --out my-fusion --keep-folds

        trivium search "..." --store my-store --fusion my-fusion --explain
    """
    settings = Settings() if folds is None else replace(Settings(), folds=folds)
    with wrong_argument("--out"):
        check_publishable(folder)
    # Imported here because these modules take a second to load.
    from trivium.training.adapt import base_of
    from trivium.training.fit import load_keras
    from trivium.training.report import save_outcome
    from trivium.training.run import adapt_fusion, train_fusion
    from trivium.training.training_data import read

    collection = read(
        hits, importance or (), settings.folds
    )  # what can be wrong without any package comes first
    base = base_of(collection, adapt)
    if base is None:
        load_keras()
    began = time.perf_counter()
    with progress(quiet=json) as bars:
        if base is None:
            outcome = train_fusion(collection, settings, bars, version=trivium.__version__)
        else:
            outcome = adapt_fusion(collection, base, settings.folds, bars, version=trivium.__version__)
        save_outcome(outcome, folder, folds=keep_folds, progress=bars)
    seconds = time.perf_counter() - began
    if json:
        print_json(
            {
                "folder": str(folder),
                "gate": outcome.gate.to_json(),
                "sets": outcome.artefact.scores,
                "calibration": outcome.artefact.calibration,
                "settings": outcome.artefact.settings,
                "seconds": round(seconds, 3),
            }
        )
    else:
        _print(outcome, folder, seconds)


def _print(outcome: Outcome, folder: Path, seconds: float) -> None:
    from trivium.training.report import overview

    out.print(overview(outcome.reports))
    gate = outcome.gate
    colour, word = ("green", "open") if gate.active else ("yellow", "closed")
    out.print(f"gate [bold {colour}]{word}[/]: {escape(gate.because)}")
    if not gate.active:
        out.print("It will not be a default, but can be asked for by the name of its folder.")
    out.print(f"[bold]{escape(str(folder))}[/] with its report  [dim]({seconds:.0f} s)[/]")
    out.print(
        f'Search with it:  [bold]trivium search "..." --store STORE --fusion {escape(str(folder))} --explain[/]'
    )
