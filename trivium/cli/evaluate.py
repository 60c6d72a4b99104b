"""The command that evaluates retrieval."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from rich.markup import escape

from trivium.cli.arguments import check_names, open_engine, reranker_name, wrong_argument
from trivium.cli.options import (
    FUSION_NAMES,
    Exact,
    Json,
    RetrieverOption,
    SetOption,
    Store,
    WhereOption,
)
from trivium.cli.terminal import PARTIAL, out, print_json, progress
from trivium.common.suggested_commands import for_store
from trivium.datasets.gold import Traced
from trivium.datasets.questions import EXAMPLE
from trivium.errors import QuestionFileError
from trivium.evaluation.documents import WAYS, check_way
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.ranking_measures import measure_named
from trivium.evaluation.report import JUDGED_BY, print_report
from trivium.evaluation.requests import EvaluateRequest
from trivium.evaluation.trec_files import write_runs
from trivium.fusion.fusion_names import CONVEX, DEFAULT, NETWORK
from trivium.fusion.stored_decision import Decision
from trivium.rerank.reranker_names import NAMES as RERANKER_NAMES
from trivium.retrievers.retriever_names import RETRIEVERS
from trivium.search.candidates import DEPTH
from trivium.search.cut import FORMS as CUT_FORMS
from trivium.training.settings import FEWEST

_QUESTIONS = typer.Argument(
    metavar="QUESTIONS",
    help="Question file (JSON Lines, CSV); a folder of BEIR; or rows of Natural Questions: a file, a folder, hf:NAME.",
)
Questions = Annotated[Path, _QUESTIONS]
Fusions = Annotated[
    list[str] | None,
    typer.Option(
        "--fusion",
        "-f",
        help=f"Fusions to measure, one or more of: {FUSION_NAMES}.  \\[default: default]",
    ),
]
_OWN = "own"


def evaluate(
    questions: Annotated[Path | None, _QUESTIONS] = None,
    *,
    store: Store,
    retriever: RetrieverOption = None,
    fusion: Fusions = None,
    rerank: Annotated[
        list[str] | None,
        typer.Option(
            "--rerank",
            metavar="NAME",
            help=f"Also evaluate every system after these rerankers, one or more of: {RERANKER_NAMES}.",
        ),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            "--cut",
            metavar="RULE",
            help=f"Also evaluate every system with its passages cut by these rules: {CUT_FORMS}.",
        ),
    ] = None,
    runs: Annotated[Path | None, typer.Option("--runs", help="Folder for TREC runs and qrels.")] = None,
    run_in: Annotated[
        list[Path] | None,
        typer.Option(
            "--run-in",
            metavar="FILE",
            help="TREC run of another system to evaluate as well, named after its file; it contains question ids and"
            " chunk uris. May be repeated.",
        ),
    ] = None,
    hits: Annotated[
        Path | None,
        typer.Option("--hits", help="File for the hit lists (.npz), for  trivium train."),
    ] = None,
    depth: Annotated[
        str | None,
        typer.Option(
            "--depth",
            metavar="N|own",
            help="Length of each retriever's list: a number, or own for as many as each finds with its own settings"
            " (page.pages, section.sections, entity.entities): all chunks of 3 pages, of 5 sections ..."
            "  \\[default: 30]",
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="MEASURE",
            help="Measure to compare the systems by, such as mrr, ndcg@10 or recall@100 (with --depth 100).",
        ),
    ] = JUDGED_BY,
    documents: Annotated[
        str | None,
        typer.Option(
            "--documents",
            metavar="|".join(WAYS),
            help="Find documents instead of passages, each scored by its best passage or the mean of its best three;"
            " runs may name documents.",
        ),
    ] = None,
    activate: Annotated[
        bool,
        typer.Option(
            "--activate",
            help="Use these questions to decide whether the trained fusion (network, or --fusion FOLDER) becomes the"
            " default of this store. With --fusion default: go back to the default that Trivium ships; needs no"
            " questions.",
        ),
    ] = False,
    exact: Exact = False,
    where: WhereOption = None,
    assignments: SetOption = None,
    json: Json = False,
) -> None:
    """Evaluate retrieval on questions with known answers: all eight retrievers and the default fusion, or those named.

    Generated answers are measured by  trivium evaluate answers.

    Examples:

        trivium evaluate questions.jsonl --store my-store --retriever vector lexical --fusion default

        trivium evaluate questions.jsonl --store my-store --fusion my-fusion --activate

        trivium evaluate --store my-store --fusion default --activate

        trivium evaluate questions.jsonl --store my-store --where "year >= 2020"

        trivium evaluate questions.jsonl --store my-store --rerank bm25 weighted:0.7 --cut near

        trivium evaluate questions.jsonl --store my-store --hits whole.npz --depth own --set page.pages=2

        trivium evaluate questions.jsonl --store my-store --run-in bm25.run --rerank bm25 --runs runs

        trivium evaluate scifact --store scifact-store --documents best --measure ndcg@10
    """
    if questions is None:
        if not activate or list(fusion or ()) != [DEFAULT]:
            raise typer.BadParameter("expected a question file", param_hint="QUESTIONS")
        _go_back(store, json)
        return
    longest = _list_depth(depth)
    with wrong_argument("--measure"):
        measure_named((), (), measure)
    with wrong_argument("--documents"):
        check_way(documents)
    trained = trained_among(fusion) if activate else None
    rerankers = [reranker_name(name) for name in rerank or ()]
    with (
        open_engine(store, assignments=assignments) as engine,
        progress(quiet=json) as bars,
    ):
        check_names(engine, retriever, fusion)
        present = None
        if trained is not None:
            retriever, fusion = list(RETRIEVERS), [trained, CONVEX]
            present = engine.searcher.fusions.of_store().name
            if present not in (CONVEX, trained, str(Path(trained).resolve())):
                fusion.append(DEFAULT)
        with wrong_argument("--cut"):
            request = EvaluateRequest(
                questions=questions,
                retrievers=retriever or (),
                fusions=fusion or (),
                rerank=[name for name in rerankers if name is not None],
                cut=cut or (),
                runs=run_in or (),
                measure=measure,
                documents=documents,
                where=where,
                depth=longest,
                exact=exact,
                hits=hits,
            )
        decision = None
        report = Evaluator(engine.searcher).evaluate(
            request,
            reading=lambda done, total: bars("read", done, total),
            progress=lambda done, total: bars("questions", done, total),
        )
        measured = bool(report.traced.questions)
        if trained is not None and measured:
            decision = Evaluator(engine.searcher).activate(report, trained)
    if runs is not None and measured:
        write_runs(report, runs)
    if json:
        print_json({**report.to_json(), **({} if decision is None else {"decision": asdict(decision)})})
    elif measured:
        print_report(report, out)
        if decision is not None:
            print_decision(decision, present)
        elif len(report.traced.questions) >= FEWEST:
            print_next(questions, hits, store)
    if not measured:
        raise QuestionFileError(f"{questions}: {_no_gold(report.traced)}")
    if report.problems:
        raise typer.Exit(PARTIAL)


def _list_depth(depth: str | None) -> int | None:
    """Return the length of each retriever's list; None for the retriever's own default."""
    if depth is None:
        return DEPTH
    if depth == _OWN:
        return None
    if not re.fullmatch(r"[1-9]\d{0,5}", depth):
        raise typer.BadParameter(
            f"expected a number of 1 or more, or {_OWN}, got {depth!r}", param_hint="--depth"
        )
    return int(depth)


def _no_gold(traced: Traced) -> str:
    """Say why no question could be measured, and what a line of a question file looks like."""
    missing = traced.untraceable
    if not missing:
        return "all questions are unanswerable, and only  trivium evaluate answers  measures those"
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


def print_next(questions: Path, hits: Path | None, store: str) -> None:
    """Print how the ranking is fitted to these questions."""
    steps = [f"trivium train {quote(str(hits or 'mine.npz'))} --out my-fusion"]
    if hits is None:
        save = f"trivium evaluate {quote(str(questions))} --store STORE --hits mine.npz"
        steps.insert(0, for_store(save, store))
    out.print(f"fit the ranking to your documents:  {escape('  and then  '.join(steps))}", soft_wrap=True)


def print_decision(decision: Decision, present: str | None = None) -> None:
    """Print the store's default fusion and the reason. ``present`` is what it was before."""
    before = ", as before" if decision.fusion == present else ""
    out.print(f"this store's default fusion: [bold]{escape(decision.fusion)}[/]{before}", soft_wrap=True)
    subject = "the trained fusion is " if decision.figures else ""
    out.print(f"{subject}{escape(decision.because)}", soft_wrap=True)


def _go_back(store: str, json: bool) -> None:
    """Remove the decision of the store, and print what holds without one."""
    with open_engine(store) as engine:
        fusion = Evaluator(engine.searcher).forget_decision()
    decision = Decision(fusion, "the store has no decision of its own: the default is what Trivium ships", 0)
    if json:
        print_json({"decision": asdict(decision)})
    else:
        print_decision(decision)
