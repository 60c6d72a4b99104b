"""``trivium evaluate --answers``: how good the answers are."""

from __future__ import annotations

import json as jsons
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from trivium.cli.answering import chat_model
from trivium.cli.terminal import err, out, print_json, progress, shown
from trivium.engine import Engine

PANEL = "With --answers"

Answers = Annotated[
    bool, typer.Option("--answers", help="Have the questions answered and judge the answers instead.")
]
Reader = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="Who answers: local, local:PATH, openai:NAME, or none for the best sentences."
        "  \\[default: TRIVIUM_CHAT_MODEL, else none]",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="A language model that judges faithfulness and factual correctness.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
BertScoreOption = Annotated[
    str | None,
    typer.Option(
        "--bertscore",
        metavar="MODEL",
        help="BERTScore by this model: a name such as roberta-large, or FOLDER:LAYERS.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Gold = Annotated[
    bool,
    typer.Option("--gold", help="Also a row whose reader is given the gold passages.", rich_help_panel=PANEL),
]
K = Annotated[
    int | None,
    typer.Option(
        "--k", "-k", min=1, help="How many passages to answer from.  \\[default: 6]", rich_help_panel=PANEL
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample", min=1, help="Only that many of the questions, drawn by --seed.", rich_help_panel=PANEL
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Which questions are drawn.  \\[default: 0]", rich_help_panel=PANEL),
]


@dataclass(frozen=True, slots=True)
class Grading:
    """The options that only ``--answers`` knows; None where one was not given."""

    model: str | None
    judge: str | None
    bertscore: str | None
    gold: bool
    k: int | None
    sample: int | None
    seed: int | None

    def given(self) -> list[str]:
        """Names of the options that were given."""
        named = {
            "--model": self.model is not None,
            "--judge": self.judge is not None,
            "--bertscore": self.bertscore is not None,
            "--gold": self.gold,
            "--k": self.k is not None,
            "--sample": self.sample is not None,
            "--seed": self.seed is not None,
        }
        return [name for name, there in named.items() if there]


def judge_answers(
    questions: Path,
    store: str,
    grading: Grading,
    *,
    retrievers: Sequence[str] | None,
    fusions: Sequence[str] | None,
    folder: Path | None,
    exact: bool,
    fresh: bool,
    json: bool,
) -> None:
    """Answer and judge, by default into ``<name of the file>-answers`` in the working directory; print what came out."""
    # No other command needs them, and they take their time to load.
    from trivium.common.files import write_file
    from trivium.evaluation.answers.report import print_answer_report
    from trivium.evaluation.answers.run import evaluate_answers

    target = Path(f"{questions.stem}-answers") if folder is None else folder
    scorer: Any = None if grading.bertscore is None else _bertscore(grading.bertscore)
    with Engine.open(store) as engine, progress(quiet=json) as bars:
        report = evaluate_answers(
            engine,
            questions,
            target,
            retrievers,
            fusions,
            gold=grading.gold,
            model=chat_model(grading.model),
            judge=None if grading.judge is None else chat_model(grading.judge),
            bertscore=scorer,
            k=6 if grading.k is None else grading.k,
            sample=grading.sample,
            seed=0 if grading.seed is None else grading.seed,
            exact=exact,
            fresh=fresh,
            progress=lambda what, done, total: bars(escape(what), done, total),
        )
    written = jsons.dumps(report.to_json(), ensure_ascii=False, indent=2) + "\n"
    write_file(target / "report.json", written)
    if json:
        print_json(report.to_json())
        return
    print_answer_report(report, out)
    err.print(f"[dim]answers and report: {shown(str(target))}[/]", soft_wrap=True)


def _bertscore(name: str) -> Any:
    from trivium.evaluation.answers.bertscore import BertScore

    folder, colon, layers = name.rpartition(":")
    if colon and layers.isdigit():
        return BertScore(folder, int(layers))
    return BertScore(name)
