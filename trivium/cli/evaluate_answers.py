"""The command that evaluates the quality of generated answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.arguments import answer_writer, chat_model, check_names, open_engine, wrong_argument
from trivium.cli.evaluate import Fusions, Questions
from trivium.cli.options import AnswerFromOption, Json, ModelOption, RetrieverOption, Store
from trivium.cli.terminal import PARTIAL, err, out, print_json, progress, shown
from trivium.errors import InputError
from trivium.parser.sources.source_items import Problem

_JUDGING = "Judging"


def evaluate_answers(
    questions: Questions,
    store: Store,
    retriever: RetrieverOption = None,
    fusion: Fusions = None,
    gold: Annotated[
        bool, typer.Option("--gold", help="Also answer from the gold passages, as an additional row.")
    ] = False,
    no_context: Annotated[
        bool,
        typer.Option(
            "--no-context", help="Also let --model answer without any passages, as an additional row."
        ),
    ] = False,
    k: AnswerFromOption = 6,
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=1, help="Use a random sample of this many questions."),
    ] = None,
    model: ModelOption = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="Language model, named as for --model, that judges the answers. May be repeated: the scores of several"
            " judges are averaged.",
            rich_help_panel=_JUDGING,
        ),
    ] = None,
    judge_by: Annotated[
        list[str] | None,
        typer.Option(
            "--judge-by",
            metavar="WAY",
            help="Method of --judge, one or more of: grades (relevancy, correctness, faithfulness, hallucination,"
            " specific information), ragas (the package).  \\[default: grades]",
            rich_help_panel=_JUDGING,
        ),
    ] = None,
    bertscore: Annotated[
        str | None,
        typer.Option(
            "--bertscore",
            metavar="MODEL",
            help="Compute BERTScore with this model: a name such as roberta-large, or FOLDER:LAYERS.",
            rich_help_panel=_JUDGING,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for answers, judgements and the report.  \\[default: QUESTIONS-answers]",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Evaluate generated answers on questions with known answers: from vector search and the default fusion, or those
    named.

    The same command resumes an interrupted run.  trivium sweep  compares models, prompts, rerankers and more.

    Examples:

        trivium evaluate answers questions.jsonl --store my-store --sample 100

        trivium evaluate answers questions.jsonl --store my-store --model local --judge openai:gpt-4o-mini --gold

        trivium evaluate answers questions.jsonl --store my-store --judge openai:gpt-4o --judge gemini:gemini-2.5-pro
    """
    # Imported here because these modules are slow to load and no other command needs them.
    from trivium.evaluation.answers.bertscore import BertScore
    from trivium.evaluation.answers.judging import DEFAULT_WAYS
    from trivium.evaluation.answers.report import print_answer_report, save_answer_report
    from trivium.evaluation.answers.run import evaluate_answers as run
    from trivium.evaluation.model_usage import SearchModels
    from trivium.evaluation.report import problem_lines, problems_json
    from trivium.evaluation.requests import AnswersRequest

    if judge_by and not judge:
        raise typer.BadParameter("expected it only with --judge", param_hint="--judge-by")
    writer = answer_writer(model, batch=True)
    if no_context and writer.model is None:
        raise typer.BadParameter("expected it only with a language model", param_hint="--no-context")
    opened = [chat_model(name, batch=True) for name in judge or ()]
    folder = Path(f"{questions.stem}-answers") if folder is None else folder
    with wrong_argument("--judge, --judge-by", (InputError,)):
        request = AnswersRequest(
            questions=questions,
            folder=folder,
            retrievers=retriever or (),
            fusions=fusion or (),
            gold=gold,
            no_context=no_context,
            k=k,
            sample=sample,
            model=writer.model,
            writing=writer.writing,
            judges=[one for one in opened if one is not None],
            judge_by=judge_by or DEFAULT_WAYS,
            bertscore=None if bertscore is None else BertScore.named(bertscore),
        )
    problems: list[Problem] = []
    searching = SearchModels()
    with (
        open_engine(store, model=model, counted=searching.of_selector) as engine,
        progress(quiet=json) as bars,
    ):
        check_names(engine, retriever, fusion)
        report = run(
            engine,
            request,
            searching=searching,
            on_problem=problems.append,
            progress=lambda what, done, total: bars(escape(what), done, total),
        )
    save_answer_report(report, folder)
    if json:
        told = {"problems": problems_json(problems)} if problems else {}
        print_json({**report.to_json(), **told})
    else:
        print_answer_report(report, out)
        for line in problem_lines(problems):
            out.print(line)
        err.print(f"[dim]answers and report: {shown(str(folder))}[/]", soft_wrap=True)
    if problems:
        raise typer.Exit(PARTIAL)
