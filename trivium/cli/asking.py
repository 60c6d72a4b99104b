"""Commands that ask a store."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli import grading
from trivium.cli.answering import print_answer
from trivium.cli.loading import load_sources
from trivium.cli.measuring import judge_suite
from trivium.cli.options import Exact, Json, MaybeStore, RetrieverOption, SelectorOption, Store
from trivium.cli.terminal import (
    err,
    info_json,
    out,
    own_name,
    print_hits,
    print_info,
    print_json,
    progress,
)
from trivium.cli.training import print_decision, trained_among
from trivium.engine import Engine
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.report import print_report
from trivium.evaluation.trec import write_runs
from trivium.fusion.registry import FUSIONS
from trivium.llm.base import ChatModel
from trivium.llm.registry import open_chat_model
from trivium.retrievers.llm_selector import LlmSelector
from trivium.retrievers.registry import RETRIEVERS
from trivium.retrievers.selectors import MatchSelector, Selector
from trivium.sample import DEMO_QUESTIONS, pages_folder
from trivium.serialization import hit_json


def _selector(name: str) -> Selector:
    model = _model(name)
    return MatchSelector() if model is None else LlmSelector(model)


def _model(selector: str) -> ChatModel | None:
    """The language model a selector asks, None for the one that asks none."""
    if selector == "match":
        return None
    if selector == "llm":
        return open_chat_model()
    raise typer.BadParameter(f"expected match or llm, got {selector!r}", param_hint="--selector")


def search(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What to look for.", show_default=False)
    ],
    store: Store,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many chunks.")] = 10,
    retriever: RetrieverOption = None,
    fusion: Annotated[
        str | None, typer.Option("--fusion", help=f"{', '.join(FUSIONS)}.  \\[default: default]")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each view contributed.")] = False,
    exact: Exact = False,
    selector: SelectorOption = "match",
    json: Json = False,
) -> None:
    """Search a store. Without options all eight views are asked and fused.

    Examples:

        trivium search "Who found the moons of Mars?" --store my-store --explain

        trivium search "largest volcano" --store my-store --retriever walk --k 5 --json
    """
    with Engine.open(store, selector=_selector(selector)) as engine:
        hits = engine.search(question, k, retriever, fusion, explain=explain, exact=exact)
        log_odds = engine.searcher.gives_log_odds(retriever, fusion)
    if json:
        print_json({"question": question, "hits": [hit_json(hit) for hit in hits]})
    else:
        print_hits(question, hits, explain, log_odds)


def evaluate(
    questions: Annotated[
        Path | None,
        typer.Argument(metavar="QUESTIONS", help="Question file (JSON Lines).", show_default=False),
    ] = None,
    store: MaybeStore = None,
    retriever: RetrieverOption = None,
    fusion: Annotated[
        list[str] | None,
        typer.Option("--fusion", "-f", help=f"Fusions to judge: {', '.join(FUSIONS)}.", show_default=False),
    ] = None,
    runs: Annotated[
        Path | None, typer.Option("--runs", help="Folder for TREC runs and qrels.", show_default=False)
    ] = None,
    hits: Annotated[
        Path | None,
        typer.Option("--hits", help="File for the hit lists (.npz), for  trivium train.", show_default=False),
    ] = None,
    activate: Annotated[
        bool,
        typer.Option(
            "--activate",
            help="Decide on these questions whether the trained fusion (network, or --fusion FOLDER) becomes the default"
            " of this store.",
        ),
    ] = False,
    exact: Exact = False,
    suite: Annotated[
        Path | None,
        typer.Option(
            "--suite",
            help="TOML file of several sets and their stores, to judge them all.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for what a suite found, or for answers.  \\[default: SUITE-results, QUESTIONS-answers]",
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Judge also the sets of a suite, or ask the questions, that were done before."
        ),
    ] = False,
    answers: grading.Answers = False,
    model: grading.Reader = None,
    k: grading.K = None,
    judge: grading.JudgeOption = None,
    bertscore: grading.BertScoreOption = None,
    gold: grading.Gold = False,
    sample: grading.Sample = None,
    seed: grading.Seed = None,
    selector: SelectorOption = "match",
    json: Json = False,
) -> None:
    """Measure retrieval on questions with known answers; without names all eight views and the default fusion.

    With --answers measure the answers to them: without names those from vector search and from the default fusion.
    Interrupted, the same command goes on.

    Examples:

        trivium evaluate questions.jsonl --store my-store --retriever vector lexical --fusion default

        trivium evaluate questions.jsonl --store my-store --fusion my-fusion --activate

        trivium evaluate --suite suite.toml --out results

        trivium evaluate questions.jsonl --store my-store --answers --sample 100

        trivium evaluate questions.jsonl --store my-store --answers --model local --judge openai:gpt-4o-mini --gold
    """
    asked = grading.Grading(model, judge, bertscore, gold, k, sample, seed)
    if not answers and asked.given():
        raise typer.BadParameter("expected it only with --answers", param_hint=asked.given()[0])
    if suite is not None:
        for name, value in (
            ("QUESTIONS", questions),
            ("--store", store),
            ("--runs", runs),
            ("--exact", exact),
            ("--hits", hits),
            ("--activate", activate),
            ("--answers", answers),
        ):
            if value:
                raise typer.BadParameter(
                    f"a suite file says that set by set: leave {name} out", param_hint=name
                )
        judge_suite(suite, folder, retriever, fusion, _model(selector), fresh, json)
        return
    if questions is None or store is None:
        missing = "QUESTIONS" if questions is None else "--store"
        raise typer.BadParameter("expected QUESTIONS and --store, or --suite", param_hint=missing)
    if answers:
        for name, value in (
            ("--runs", runs),
            ("--hits", hits),
            ("--activate", activate),
            ("--selector", selector != "match"),
        ):
            if value:
                raise typer.BadParameter("expected it only without --answers", param_hint=name)
        grading.judge_answers(
            questions,
            store,
            asked,
            retrievers=retriever,
            fusions=fusion,
            folder=folder,
            exact=exact,
            fresh=fresh,
            json=json,
        )
        return
    for name, value in (("--out", folder), ("--fresh", fresh)):
        if value:
            raise typer.BadParameter("expected it only with --suite or --answers", param_hint=name)
    trained = trained_among(fusion) if activate else None
    with (
        Engine.open(store, selector=_selector(selector)) as engine,
        progress(quiet=json) as bars,
    ):
        report = engine.evaluate(
            questions,
            RETRIEVERS if trained is not None else retriever,
            [trained, "convex"] if trained is not None else fusion,
            exact=exact,
            hits=hits,
            progress=lambda done, total: bars("questions", done, total),
        )
        decision = None if trained is None else Evaluator(engine.searcher).activate(report, trained)
    if runs is not None:
        write_runs(report, runs)
    if json:
        print_json({**report.to_json(), **({} if decision is None else {"decision": asdict(decision)})})
    else:
        print_report(report, out)
        if decision is not None:
            print_decision(decision)


def stats(store: Store, json: Json = False) -> None:
    """Count nodes and relationships of a store.

    Example:  trivium stats --store my-store --json
    """
    with Engine.open(store) as engine:
        info = engine.info()
    if json:
        print_json(info_json(info))
    else:
        out.print(f"[bold]{escape(info.location)}[/]")
        print_info(info)


def demo(
    store: Annotated[
        str, typer.Option("--store", "-s", help="Where to build the sample store.")
    ] = "demo-store",
) -> None:
    """Build the sample encyclopaedia of the Solar System, search it and have a question answered.

    Example:  trivium demo
    """
    with Engine.create(store) as engine:
        err.print(f"[dim]embedder: {escape(engine.embedder.identity.name)}[/]")
        load_sources(engine, [str(pages_folder())], "html", None, False, False, False)
        for question in DEMO_QUESTIONS:
            out.print()
            out.rule(style="dim")
            hits = engine.search(question, k=2, explain=True)
            print_hits(question, hits, explain=True, log_odds=engine.searcher.gives_log_odds())
        out.print()
        out.rule("answered, without a language model", style="dim")
        out.print(f"[bold]{escape(DEMO_QUESTIONS[0])}[/]")
        print_answer(engine.ask(DEMO_QUESTIONS[0]))
    out.print()
    out.rule(style="dim")
    for what, arguments in (
        ("Ask it something else:", ["ask", "your question"]),
        ("See why a passage is found:", ["search", "your question", "--explain"]),
        ("Open it in a web page:", ["serve"]),
    ):
        command = shlex.join([*own_name(), *arguments, "--store", store])
        out.print(f"{what}\n  [bold]{escape(command)}[/]", soft_wrap=True)
