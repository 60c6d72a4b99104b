"""The command that evaluates retrieval and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from rich.markup import escape

from trivium.cli.annotators import annotators_rule
from trivium.cli.answers import evaluate_answers
from trivium.cli.arguments import check_names, open_engine, reranker_name, wrong_argument
from trivium.cli.evaluate_options import (
    Activate,
    Answers,
    BertScoreModel,
    Cuts,
    Evaluation,
    Folder,
    Fresh,
    Fusions,
    Gold,
    Hits,
    JudgeBy,
    Judges,
    ListDepth,
    NoContext,
    Passages,
    Questions,
    Reader,
    ReaderPrompt,
    ReaderSettings,
    Reranks,
    Runs,
    RunsIn,
    Sample,
    Seed,
    SuiteFile,
)
from trivium.cli.options import (
    AnnotatorsOption,
    Exact,
    Json,
    MaybeStore,
    RetrieverOption,
    SelectorOption,
    SetOption,
    WhereOption,
    default_store,
)
from trivium.cli.suite import evaluate_suite
from trivium.cli.terminal import PARTIAL, out, print_json, progress
from trivium.datasets.gold import Traced
from trivium.datasets.questions import EXAMPLE
from trivium.engine import Engine
from trivium.errors import QuestionFileError
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.report import print_report
from trivium.evaluation.trec import write_runs
from trivium.fusion.default_decision import Decision
from trivium.fusion.names import CONVEX, DEFAULT, NETWORK
from trivium.retrievers.names import RETRIEVERS
from trivium.search.cut import Cut


def evaluate(
    questions: Questions = None,
    store: MaybeStore = None,
    retriever: RetrieverOption = None,
    fusion: Fusions = None,
    rerank: Reranks = None,
    cut: Cuts = None,
    runs: Runs = None,
    run_in: RunsIn = None,
    hits: Hits = None,
    depth: ListDepth = None,
    activate: Activate = False,
    exact: Exact = False,
    where: WhereOption = None,
    suite: SuiteFile = None,
    folder: Folder = None,
    fresh: Fresh = False,
    answers: Answers = False,
    model: Reader = None,
    prompt: ReaderPrompt = None,
    chat: ReaderSettings = None,
    k: Passages = None,
    judge: Judges = None,
    judge_by: JudgeBy = None,
    bertscore: BertScoreModel = None,
    gold: Gold = False,
    no_context: NoContext = False,
    sample: Sample = None,
    seed: Seed = None,
    selector: SelectorOption = None,
    assignments: SetOption = None,
    annotators: AnnotatorsOption = None,
    json: Json = False,
) -> None:
    """Evaluate retrieval on questions with known answers: all eight retrievers and the default fusion, or those named.

    With --answers, evaluate generated answers instead: from vector search and the default fusion, or those named. An
    interrupted run resumes when the same command is run again.

    Examples:

        trivium evaluate questions.jsonl --store my-store --retriever vector lexical --fusion default

        trivium evaluate questions.jsonl --store my-store --fusion my-fusion --activate

        trivium evaluate --store my-store --fusion default --activate

        trivium evaluate questions.jsonl --store my-store --where "year >= 2020"

        trivium evaluate questions.jsonl --store my-store --rerank bm25 weighted:0.7 --cut near

        trivium evaluate questions.jsonl --store my-store --hits whole.npz --depth own --set page.pages=2

        trivium evaluate questions.jsonl --store my-store --run-in bm25.run --rerank bm25 --runs runs

        trivium evaluate nq-dev-00.jsonl.gz --store my-store --annotators any

        trivium evaluate --suite suite.toml --out results

        trivium evaluate questions.jsonl --store my-store --answers --sample 100

        trivium evaluate questions.jsonl --store my-store --answers --fusion default --rerank weighted:0.7 --cut near

        trivium evaluate questions.jsonl --store my-store --answers --model local --judge openai:gpt-4o-mini --gold

        trivium evaluate questions.jsonl --store my-store --answers --judge openai:gpt-4o --judge gemini:gemini-2.5-pro
    """
    options = Evaluation(
        questions=questions,
        store=store,
        retrievers=retriever,
        fusions=fusion,
        rerank=rerank,
        cut=cut,
        selector=selector,
        assignments=assignments,
        exact=exact,
        where=where,
        runs=runs,
        runs_in=run_in,
        hits=hits,
        depth=depth,
        activate=activate,
        suite=suite,
        folder=folder,
        fresh=fresh,
        answers=answers,
        model=model,
        prompt=prompt,
        chat=chat,
        judges=judge,
        judge_by=judge_by,
        bertscore=bertscore,
        gold=gold,
        no_context=no_context,
        k=k,
        sample=sample,
        seed=seed,
        annotators=annotators,
        json=json,
    )
    if not answers:
        options.refuse_of_answers("expected it only with --answers")
    if suite is not None:
        evaluate_suite(options, suite)
    elif answers:
        evaluate_answers(options)
    else:
        evaluate_questions(options)


def evaluate_questions(options: Evaluation) -> None:
    """Evaluate retrieval on one file of questions, print the results and, if requested, decide on the store's default
    fusion.
    """
    options.refuse_of_folder("expected it only with --suite or --answers")
    forget = options.activate and list(options.fusions or ()) == [DEFAULT]
    if forget and options.questions is None:
        _go_back(options)
        return
    questions, store = options.questions_and_store()
    retrievers, fusions = options.retrievers, options.fusions
    rerankers = [reranker_name(name) for name in options.rerank or ()]
    rule = annotators_rule(options.annotators)
    with wrong_argument("--cut"):
        cuts = [Cut.read(rule) for rule in options.cut or ()]
    depth = options.list_depth()
    trained = trained_among(fusions) if options.activate and not forget else None
    if trained is not None:
        retrievers, fusions = RETRIEVERS, [trained, CONVEX]
    with (
        open_engine(store, options.selector, options.assignments) as engine,
        progress(quiet=options.json) as bars,
    ):
        check_names(engine, retrievers, fusions)
        present = None if trained is None else engine.searcher.fusions.of_store().name
        if trained is not None and present not in (CONVEX, trained, str(Path(trained).resolve())):
            fusions = [trained, CONVEX, DEFAULT]
        decision: Decision | None = None
        if forget:
            decision = _forgotten(engine)
        report = engine.evaluate(
            questions,
            retrievers,
            fusions,
            exact=options.exact,
            where=options.where,
            rerank=[name for name in rerankers if name is not None],
            cut=cuts,
            runs=options.runs_in or (),
            hits=options.hits,
            annotators=rule,
            reading=lambda done, total: bars("read", done, total),
            depth=depth,
            progress=lambda done, total: bars("questions", done, total),
        )
        measured = bool(report.traced.questions)
        if trained is not None and measured:
            decision = Evaluator(engine.searcher).activate(report, trained)
    if options.runs is not None and measured:
        write_runs(report, options.runs)
    if options.json:
        print_json({**report.to_json(), **({} if decision is None else {"decision": asdict(decision)})})
    elif measured:
        print_report(report, out)
        if decision is not None:
            print_decision(decision, present)
    if not measured:
        raise QuestionFileError(f"{questions}: {_no_gold(report.traced)}")
    if report.problems:
        raise typer.Exit(PARTIAL)


def _no_gold(traced: Traced) -> str:
    """Say why no question could be measured, and what a line of a question file looks like."""
    missing = traced.untraceable
    if not missing:
        return "all questions are unanswerable, and only --answers measures those"
    causes = Counter(one.cause.value for one in missing)
    told = "; ".join(f"{count:,}: {cause}" for cause, count in causes.most_common())
    return (
        f"none of the {len(missing):,} questions has its gold in this store ({told}); {missing[0].id}:"
        f" {missing[0].reason}. Expected lines such as {EXAMPLE}, with a page of the store;"
        " docs/howto/evaluate.md describes every kind of gold"
    )


def trained_among(fusions: Sequence[str] | None) -> str:
    """Return the trained fusion that ``--activate`` decides on: the one named, else the bundled network."""
    trained = [name for name in fusions or () if name not in ("default", "convex", "rrf")]
    if len(trained) > 1 or (fusions and not trained):
        raise typer.BadParameter(
            f"--activate decides on one trained fusion (network, or a folder), got {', '.join(fusions or ())}",
            param_hint="--fusion",
        )
    return trained[0] if trained else NETWORK


def print_decision(decision: Decision, present: str | None = None) -> None:
    """Print the store's default fusion and the reason. ``present`` is what it was before."""
    before = ", as before" if decision.fusion == present else ""
    out.print(f"this store's default fusion: [bold]{escape(decision.fusion)}[/]{before}", soft_wrap=True)
    subject = "the trained fusion is " if decision.figures else ""
    out.print(f"{subject}{escape(decision.because)}", soft_wrap=True)


def _go_back(options: Evaluation) -> None:
    store = options.store or default_store()
    if store is None:
        raise typer.BadParameter("expected a store", param_hint="--store")
    with open_engine(store, options.selector, options.assignments) as engine:
        decision = _forgotten(engine)
    if options.json:
        print_json({"decision": asdict(decision)})
    else:
        print_decision(decision)


def _forgotten(engine: Engine) -> Decision:
    """Remove the decision of the store, and return what holds without one, in its form."""
    fusion = Evaluator(engine.searcher).forget_decision()
    return Decision(fusion, "the store has no decision of its own: the default is what Trivium ships", 0)
