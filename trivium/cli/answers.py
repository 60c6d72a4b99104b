"""``trivium evaluate --answers``: evaluates the quality of generated answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from trivium.cli.annotators import annotators_rule
from trivium.cli.arguments import (
    answer_writer,
    chat_model,
    check_names,
    open_engine,
    reranker_name,
    wrong_argument,
)
from trivium.cli.evaluate_options import Evaluation
from trivium.cli.terminal import PARTIAL, err, out, print_json, progress, shown
from trivium.errors import InputError
from trivium.parser.sources.base import Problem
from trivium.search.cut import Cut

if TYPE_CHECKING:
    from trivium.evaluation.answers.bertscore import BertScore


def evaluate_answers(options: Evaluation) -> None:
    """Generate answers to the questions, evaluate them and print the results. The default output folder is ``<name of
    the file>-answers`` in the working directory.
    """
    questions, store = options.questions_and_store()
    options.refuse_of_questions("expected it only without --answers")
    rerankers = [reranker_name(name, options.model) for name in options.rerank or ()]
    with wrong_argument("--cut"):
        cuts = [Cut.read(rule) for rule in options.cut or ()]
    # Imported here because these modules are slow to load and no other command needs them.
    from trivium.evaluation.answers.judging import DEFAULT_WAYS, check_ways
    from trivium.evaluation.answers.report import print_answer_report, save_answer_report
    from trivium.evaluation.answers.run import evaluate_answers as run
    from trivium.evaluation.report import problem_lines, problems_json
    from trivium.evaluation.search_models import SearchModels

    rule = annotators_rule(options.annotators)
    problems: list[Problem] = []
    folder = Path(f"{questions.stem}-answers") if options.folder is None else options.folder
    writer = answer_writer(options.model, options.prompt, options.chat, batch=True)
    judges = [chat_model(name, batch=True) for name in options.judges or ()]
    with wrong_argument("--judge-by", (InputError,)):
        ways = check_ways(options.judge_by or DEFAULT_WAYS)
    if options.judge_by and not judges:
        raise typer.BadParameter("expected it only with --judge", param_hint="--judge-by")
    if options.no_context and writer.model is None:
        raise typer.BadParameter(
            "expected it only with a language model as --model", param_hint="--no-context"
        )
    searching = SearchModels()
    bertscore = None if options.bertscore is None else _bertscore(options.bertscore)
    with (
        open_engine(
            store, options.selector, options.assignments, options.model, counted=searching.of_selector
        ) as engine,
        progress(quiet=options.json) as bars,
    ):
        check_names(engine, options.retrievers, options.fusions)
        report = run(
            engine,
            questions,
            folder,
            options.retrievers,
            options.fusions,
            gold=options.gold,
            no_context=options.no_context,
            runs=options.runs_in or (),
            runs_out=options.runs,
            rerank=[name for name in rerankers if name is not None],
            cut=cuts,
            model=writer.model,
            writing=writer.writing,
            judge=[judge for judge in judges if judge is not None],
            judge_by=ways,
            bertscore=bertscore,
            k=6 if options.k is None else options.k,
            sample=options.sample,
            seed=0 if options.seed is None else options.seed,
            exact=options.exact,
            fresh=options.fresh,
            searching=searching,
            annotators=rule,
            on_problem=problems.append,
            progress=lambda what, done, total: bars(escape(what), done, total),
        )
    save_answer_report(report, folder)
    if options.json:
        told = {"problems": problems_json(problems)} if problems else {}
        print_json({**report.to_json(), **told})
    else:
        print_answer_report(report, out)
        for line in problem_lines(problems):
            out.print(line)
        err.print(f"[dim]answers and report: {shown(str(folder))}[/]", soft_wrap=True)
    if problems:
        raise typer.Exit(PARTIAL)


def _bertscore(name: str) -> BertScore:
    from trivium.evaluation.answers.bertscore import BertScore

    folder, colon, layers = name.rpartition(":")
    if colon and layers.isdigit():
        return BertScore(folder, int(layers))
    return BertScore(name)
