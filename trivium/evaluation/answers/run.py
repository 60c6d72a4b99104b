"""Asks questions with known answers, with different contexts, and measures the quality of the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import trivium
from trivium.answering.writing_options import Writing, WritingOptions
from trivium.common.progress import StageProgress
from trivium.datasets.questions import draw, log_problem, read_questions
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.evaluation.answers.asking import ANSWERS, Asking, collect_answers, write_contexts
from trivium.evaluation.answers.judging import FILES, collect_judgements, judge_settings
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT, AnswerReport
from trivium.evaluation.answers.run_folder import begin
from trivium.evaluation.answers.summary import measure_answers, summarise
from trivium.evaluation.digests import (
    changed_retrieval,
    digest_of,
    shipped_digest,
    store_digest,
    trained_digests,
)
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.measured_systems import System
from trivium.evaluation.model_usage import SearchModels
from trivium.evaluation.requests import AnswersRequest
from trivium.llm.chat_model import ChatModel
from trivium.parser.sources.source_items import Problem
from trivium.retrievers.retriever_names import RETRIEVERS
from trivium.settings.settings import load_settings
from trivium.types import Question

SEED = 0
"""Seed of the sample."""
RUNS = "runs"
"""The folder of the runs of contexts, below that of the answers."""
RUN_FILES = (ANSWERS, *FILES)
"""The files of a run besides its settings."""


def evaluate_answers(
    engine: Engine,
    request: AnswersRequest,
    *,
    searching: SearchModels | None = None,
    on_problem: Callable[[Problem], None] = log_problem,
    progress: StageProgress | None = None,
) -> AnswerReport:
    """Measure the answer quality of one reader for several contexts, one row each.

    Answers and judgements are appended to files in the folder of the request immediately, and the contexts are written
    there as TREC runs, with judgements (``runs/``). An interrupted run is resumed by calling it again, possibly with more
    rows, questions of the same file or another judge. A folder that was started with another reader, question file,
    store or ``k`` is rejected. ``searching`` counts the language model of the engine's selector, if it was created with
    one that it counts; ``on_problem`` is as in :func:`~trivium.datasets.questions.read_questions`. Raises InputError, the
    errors of the search, and ChatModelError; earlier answers are kept.
    """
    if isinstance(request.questions, str | Path):
        known = read_questions(request.questions, on_problem=on_problem)
    else:
        known = list(request.questions)
    models = SearchModels() if searching is None else searching
    rows = named_rows(engine, request.retrievers, request.fusions, request.gold)
    if request.no_context:
        rows[NO_CONTEXT] = None
    folder, model, k = Path(request.folder), request.model, request.k
    asked_so = Writing.of(request.writing or WritingOptions(), load_settings())
    settings = run_settings(
        engine, known, rows, model, asked_so, request.judges, request.judge_by, k, exact=False
    )
    begin(folder, settings, RUN_FILES)

    traced = Evaluator(engine.searcher).trace(known)
    with_answers = [question for question in traced.questions if question.answers]
    asked = draw(with_answers, request.sample, SEED)
    asking = Asking(
        engine, traced, model, asked_so, k, exact=False, retrievers=request.retrievers, models=models
    )
    unanswerable = draw(traced.unanswerable, request.sample, SEED)
    everything = collect_answers(asking, tuple(rows), [*asked, *unanswerable], folder, progress)
    answers = {row: given[: len(asked)] for row, given in everything.items()}
    refused = {
        row: sum(one.outcome == "absent" for one in given[len(asked) :]) / len(unanswerable)
        for row, given in everything.items()
        if unanswerable
    }
    write_contexts(answers, {one.id: traced.gold[one.id] for one in asked}, folder / RUNS)
    judgements = collect_judgements(
        engine.store, engine.embedder, request.judges, request.judge_by, answers, asked, folder, progress
    )
    values = measure_answers(engine.embedder, answers, judgements, asked, traced, request.bertscore)
    return summarise(
        traced,
        [question.id for question in asked],
        len(traced.questions) - len(with_answers),
        answers,
        judgements,
        values,
        reader=None if model is None else model.name,
        bertscore=None if request.bertscore is None else request.bertscore.signature,
        k=k,
        unanswerable=len(unanswerable),
        refused=refused,
        everything=everything,
    )


def check_stages(engine: Engine, systems: Sequence[System], fusions: Sequence[str], k: int) -> None:
    """Raise InputError for a reranker or cut that is incompatible with its row, before anything is asked."""
    for system in systems:
        after = engine.searcher.second_stage(k, system.reranker, system.cut)
        fused = system.first in fusions
        after.check(calibrated=fused and engine.searcher.fusions.get(system.first).log_odds)


def named_rows(
    engine: Engine,
    retrievers: Sequence[str],
    fusions: Sequence[str],
    gold: bool,
    systems: Sequence[System] = (),
) -> dict[str, str | None]:
    """Return the names of the rows in order, with the digest of trained fusions, and of the rerankers and cuts
    of ``systems``. Raises InputError and FusionError for unknown or ambiguous names.
    """
    if retrievers:
        engine.searcher.retrievers.choose(retrievers)  # raises for unknown names before anything is asked
    for name in fusions:
        engine.searcher.fusions.get(name)
    if {GOLD, NO_CONTEXT} & set(fusions) or set(fusions) & {*RETRIEVERS, *retrievers}:
        raise InputError(f"expected fusions with names of their own, got {', '.join(fusions)}")
    trained, shipped = trained_digests(fusions), shipped_digest()
    rows: dict[str, str | None] = dict.fromkeys(retrievers)
    rows |= {name: trained.get(name, shipped) for name in fusions}
    rows |= {system.name: digest_of([rows[system.first], *system.depends_on]) for system in systems}
    return {**rows, GOLD: None} if gold else rows


def run_settings(
    engine: Engine,
    questions: Sequence[Question],
    rows: Mapping[str, str | None],
    model: ChatModel | None,
    writing: Writing,
    judges: Sequence[ChatModel],
    ways: Sequence[str],
    k: int,
    exact: bool,
) -> dict[str, Any]:
    """Return everything the answers and judgements depend on."""
    reader = None
    if model is not None:
        reader = {
            "name": model.name,
            "context_tokens": model.context_tokens,
            "writing": digest_of([asdict(writing)]),
        }
    return {
        "version": trivium.__version__,
        "questions": digest_of(asdict(question) for question in questions),
        "store": store_digest(engine.store),
        "reader": reader,
        "answer_risk": load_settings().answer_risk,
        "k": k,
        "exact": exact,
        "rows": dict(rows),
        **changed_retrieval(engine.searcher.retrievers),
        "judges": {key: value for judge in judges for key, value in judge_settings(judge, ways).items()},
    }
