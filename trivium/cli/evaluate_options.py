"""The options of ``trivium evaluate``. It has three modes, and each mode rejects the options of the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options import FUSION_NAMES, MODEL_NAMES, default_store
from trivium.rerank.names import NAMES as RERANKER_NAMES
from trivium.search.cut import FORMS as CUT_FORMS
from trivium.search.inputs import DEPTH

_ANSWERS_PANEL = "With --answers"

Questions = Annotated[
    Path | None,
    typer.Argument(
        metavar="QUESTIONS",
        help="Question file (JSON Lines); or rows of Natural Questions: a file, a folder, hf:NAME.",
        show_default=False,
    ),
]
Fusions = Annotated[
    list[str] | None,
    typer.Option(
        "--fusion",
        "-f",
        help=f"Fusions to measure, one or more of: {FUSION_NAMES}.  \\[default: default]",
        show_default=False,
    ),
]
Runs = Annotated[
    Path | None, typer.Option("--runs", help="Folder for TREC runs and qrels.", show_default=False)
]
RunsIn = Annotated[
    list[Path] | None,
    typer.Option(
        "--run-in",
        metavar="FILE",
        help="TREC run of another system to evaluate as well, named after its file; it contains question ids and chunk"
        " uris. May be repeated.",
        show_default=False,
    ),
]
Hits = Annotated[
    Path | None,
    typer.Option("--hits", help="File for the hit lists (.npz), for  trivium train.", show_default=False),
]
OWN_DEPTH = "own"
ListDepth = Annotated[
    str | None,
    typer.Option(
        "--depth",
        metavar="N|own",
        help="Length of each retriever's list: a number, or own for as many as each finds with its own settings"
        " (page.pages, section.sections, entity.entities): all chunks of 3 pages, of 5 sections ...  \\[default: 30]",
        show_default=False,
    ),
]
Reranks = Annotated[
    list[str] | None,
    typer.Option(
        "--rerank",
        metavar="NAME",
        help=f"Also evaluate every system after these rerankers, one or more of: {RERANKER_NAMES}."
        " With --answers: also answer from the reranked passages.",
        show_default=False,
    ),
]
Cuts = Annotated[
    list[str] | None,
    typer.Option(
        "--cut",
        metavar="RULE",
        help=f"Also evaluate every system with its passages cut by these rules: {CUT_FORMS}.",
        show_default=False,
    ),
]
Activate = Annotated[
    bool,
    typer.Option(
        "--activate",
        help="Use these questions to decide whether the trained fusion (network, or --fusion FOLDER) becomes the default"
        " of this store. With --fusion default: go back to the default that Trivium ships; needs no questions.",
    ),
]
SuiteFile = Annotated[
    Path | None,
    typer.Option(
        "--suite",
        help="TOML file that lists several question sets and their stores, to evaluate all of them.",
        show_default=False,
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Folder for the results of a suite, or for answers.  \\[default: SUITE-results, QUESTIONS-answers]",
        show_default=False,
    ),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Repeat sets of a suite, or questions, that were completed before."),
]
Answers = Annotated[bool, typer.Option("--answers", help="Evaluate generated answers instead of retrieval.")]
Reader = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help=f"Language model that writes the answers: {MODEL_NAMES}, or none to quote the best sentences."
        "  \\[default: TRIVIUM_CHAT_MODEL, else none]",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]
ReaderPrompt = Annotated[
    str | None,
    typer.Option(
        "--prompt",
        metavar="NAME|FILE",
        help="Prompt style of --model: zero-shot, few-shot, instruction, role, extractive, several-hops, or"
        " a TOML file of a style."
        "  \\[default: TRIVIUM_PROMPT, else zero-shot]",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]
ReaderSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--chat",
        metavar="KEY=VALUE",
        help="A setting of --model, such as temperature=0.3, max_tokens=300 or seed=7; may be repeated.",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="MODEL",
        help="Language model, named as for --model, that judges the answers. The scores of several judges are averaged"
        " and their agreement is printed.",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]
JudgeBy = Annotated[
    list[str] | None,
    typer.Option(
        "--judge-by",
        metavar="WAY",
        help="Method of --judge, one or more of: grades (relevancy, correctness, faithfulness, hallucination,"
        " specific information), ragas (the package).  \\[default: grades]",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]
BertScoreModel = Annotated[
    str | None,
    typer.Option(
        "--bertscore",
        metavar="MODEL",
        help="Compute BERTScore with this model: a name such as roberta-large, or FOLDER:LAYERS.",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]
Gold = Annotated[
    bool,
    typer.Option(
        "--gold",
        help="Also answer from the gold passages, as an additional row.",
        rich_help_panel=_ANSWERS_PANEL,
    ),
]
NoContext = Annotated[
    bool,
    typer.Option(
        "--no-context",
        help="Also let --model answer without any passages, as an additional row.",
        rich_help_panel=_ANSWERS_PANEL,
    ),
]
Passages = Annotated[
    int | None,
    typer.Option(
        "--k",
        "-k",
        min=1,
        help="Number of passages to answer from.  \\[default: 6]",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        help="Use a random sample of this many questions (see --seed).",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="Random seed of --sample.  \\[default: 0]",
        rich_help_panel=_ANSWERS_PANEL,
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The options given to ``trivium evaluate``; None, empty or False for options that were not given."""

    questions: Path | None
    store: str | None
    retrievers: Sequence[str] | None
    fusions: Sequence[str] | None
    rerank: Sequence[str] | None
    cut: Sequence[str] | None
    selector: str | None
    assignments: Sequence[str] | None
    exact: bool
    where: str | None
    runs: Path | None
    runs_in: Sequence[Path] | None
    hits: Path | None
    depth: str | None
    activate: bool
    suite: Path | None
    folder: Path | None
    fresh: bool
    answers: bool
    model: str | None
    prompt: str | None
    chat: Sequence[str] | None
    judges: Sequence[str] | None
    judge_by: Sequence[str] | None
    bertscore: str | None
    gold: bool
    no_context: bool
    k: int | None
    sample: int | None
    seed: int | None
    annotators: str | None
    json: bool

    def refuse_of_questions(self, why: str) -> None:
        """Reject options that apply to a single file of questions. ``{name}`` in ``why`` is replaced by the option's
        name.
        """
        self._refuse(
            why,
            {
                "--where": self.where,
                "--hits": self.hits,
                "--depth": self.depth,
                "--activate": self.activate,
            },
        )

    def refuse_of_one_set(self, why: str) -> None:
        """Reject options that select a single set of questions and how it is searched."""
        values = {"QUESTIONS": self.questions, "--store": self.store, "--exact": self.exact}
        self._refuse(why, {**values, "--answers": self.answers, "--run-in": self.runs_in or None})
        self._refuse(why, {"--rerank": self.rerank or None, "--cut": self.cut or None})
        self._refuse(why, {"--annotators": self.annotators, "--runs": self.runs})

    def refuse_of_folder(self, why: str) -> None:
        """Reject the options for results kept in a folder."""
        self._refuse(why, {"--out": self.folder, "--fresh": self.fresh})

    def refuse_of_answers(self, why: str) -> None:
        """Reject the options for answers."""
        self._refuse(
            why,
            {
                "--model": self.model,
                "--prompt": self.prompt,
                "--chat": self.chat,
                "--judge": self.judges or None,
                "--judge-by": self.judge_by or None,
                "--bertscore": self.bertscore,
                "--gold": self.gold,
                "--no-context": self.no_context,
                "--k": self.k,
                "--sample": self.sample,
                "--seed": self.seed,
            },
        )

    def _refuse(self, why: str, values: dict[str, object]) -> None:
        for name, value in values.items():
            if value is not None and value is not False:
                raise typer.BadParameter(why.format(name=name), param_hint=name)

    def list_depth(self) -> int | None:
        """Return the length of each retriever's list; None for the retriever's own default."""
        if self.depth is None:
            return DEPTH
        if self.depth == OWN_DEPTH:
            return None
        if not re.fullmatch(r"[1-9]\d{0,5}", self.depth):
            raise typer.BadParameter(
                f"expected a number of 1 or more, or {OWN_DEPTH}, got {self.depth!r}", param_hint="--depth"
            )
        return int(self.depth)

    def questions_and_store(self) -> tuple[Path, str]:
        """Return the question file and the store, by default the configured store."""
        store = self.store if self.questions is None or self.store is not None else default_store()
        if self.questions is None or store is None:
            raise typer.BadParameter(
                "expected QUESTIONS and --store, or --suite",
                param_hint="QUESTIONS" if self.questions is None else "--store",
            )
        return self.questions, store
