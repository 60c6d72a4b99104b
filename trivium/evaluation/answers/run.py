"""Asks questions with known answers, with different contexts, and measures the quality of the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import trivium
from trivium.answering.writing import Writing, WritingOptions
from trivium.common.progress import StageProgress
from trivium.datasets.questions import log_problem, read_questions
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.evaluation.answers.asking import ANSWERS, Asking, collect_answers
from trivium.evaluation.answers.bertscore import BertScore
from trivium.evaluation.answers.contexts import write_contexts
from trivium.evaluation.answers.folder import begin
from trivium.evaluation.answers.judging import (
    DEFAULT_WAYS,
    FILES,
    check_ways,
    collect_judgements,
    judge_settings,
)
from trivium.evaluation.answers.measuring import measure_answers
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT, AnswerReport
from trivium.evaluation.answers.summary import summarise
from trivium.evaluation.digests import (
    changed_retrieval,
    digest_of,
    shipped_digest,
    store_digest,
    trained_digests,
)
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.run_files import Runs, read_runs, refuse_unknown_chunks, unknown_chunks
from trivium.evaluation.search_models import SearchModels
from trivium.evaluation.suite.definition import sample as drawn
from trivium.evaluation.systems import System, followed
from trivium.llm.base import ChatModel
from trivium.parser.sources.annotators import MAJORITY
from trivium.parser.sources.base import Problem
from trivium.rerank.base import Reranker
from trivium.retrievers.names import RETRIEVERS
from trivium.search.cut import Cut
from trivium.settings import load_settings
from trivium.types import Question

RUN_FILES = (ANSWERS, *FILES)
"""The files of a run besides its settings."""


def evaluate_answers(
    engine: Engine,
    questions: str | Path | Sequence[Question],
    folder: str | Path,
    retrievers: Sequence[str] | None = None,
    fusions: Sequence[str] | None = None,
    *,
    gold: bool = False,
    no_context: bool = False,
    runs: Sequence[str | Path] = (),
    runs_out: str | Path | None = None,
    rerank: Sequence[str | Reranker] = (),
    cut: Sequence[str | Cut] = (),
    model: ChatModel | None = None,
    writing: WritingOptions | None = None,
    judge: ChatModel | Sequence[ChatModel] | None = None,
    judge_by: Sequence[str] = DEFAULT_WAYS,
    bertscore: BertScore | None = None,
    k: int = 6,
    sample: int | None = None,
    seed: int = 0,
    exact: bool = False,
    fresh: bool = False,
    searching: SearchModels | None = None,
    annotators: str = MAJORITY,
    on_problem: Callable[[Problem], None] = log_problem,
    progress: StageProgress | None = None,
) -> AnswerReport:
    """Measure the answer quality of one reader (``model``; None: the best sentences) for several contexts, one row
    each.

    Contexts are exactly the named retrievers and fusions, or ``vector`` and ``default`` when none is named. ``gold``
    adds the gold passages themselves, and ``no_context`` an empty context (what the model knows by itself). ``runs``
    are TREC files of further contexts (ids of questions as in the question file, uris of chunks). ``rerank`` adds a
    row for each of these contexts (except gold and empty) and each reranker, ``NAME > RERANKER``, and ``cut`` one for
    all of them and each rule, ``NAME > RULE``, with at most ``k`` passages if the rule has no bounds. The folder
    ``runs_out`` receives the runs of all contexts, with judgements.

    The questions are those whose gold can be traced and whose answers are known, from a file or given; if there are
    more, ``sample`` of them, drawn with ``seed``. ``annotators`` and ``on_problem`` are as in
    :func:`~trivium.datasets.questions.read_questions`. A ``judge`` also judges the answers, by the methods in
    ``judge_by`` (:data:`~trivium.evaluation.answers.judging.WAYS`); for several judges the mean counts, and their
    agreement is reported. Unanswerable questions (also at most ``sample``) are asked, too, to see whether they are
    refused. ``searching`` counts the language model of the engine's selector, if it was created with
    one that it counts.

    Answers and judgements are appended to files in ``folder`` immediately. An interrupted run is resumed by calling
    it again, possibly with more rows, questions of the same file or another judge. A folder that was started with
    another reader, question file, store or ``k`` is rejected, unless ``fresh`` empties it. Raises InputError, the
    errors of the search, and ChatModelError; earlier answers are kept.
    """
    if k < 1 or (sample is not None and sample < 1):
        raise InputError(f"k and sample must be 1 or more, got {k} and {sample}")
    if isinstance(questions, str | Path):
        known = read_questions(questions, annotators=annotators, on_problem=on_problem)
    else:
        known = list(questions)
    if not retrievers and not fusions and not runs:
        retrievers, fusions = ("vector",), ("default",)
    given = read_runs(runs, [question.id for question in known])
    refuse_unknown_chunks(unknown_chunks(given, engine.store.chunk_uris), "to answer from them")
    models = SearchModels() if searching is None else searching
    rerankers = [models.of_reranker(engine.searcher.retrievers.rerankers.get(one)) for one in rerank]
    cuts = [Cut.read(one) if isinstance(one, str) else one for one in cut]
    systems = followed([*(retrievers or ()), *(fusions or ()), *given], rerankers, cuts)
    rows = named_rows(engine, retrievers or (), fusions or (), gold, given, systems)
    check_stages(engine, systems, fusions or (), k)
    if no_context:
        if model is None:
            raise InputError("a row without context is for a language model: name one, or leave the row out")
        rows[NO_CONTEXT] = None
    judges = _distinct(judge)
    ways = check_ways(judge_by) if judges else ()
    folder = Path(folder)
    asked_so = Writing.of(writing or WritingOptions(), load_settings())
    begin(
        folder, run_settings(engine, known, rows, model, asked_so, judges, ways, k, exact), RUN_FILES, fresh
    )

    traced = Evaluator(engine.searcher).trace(known)
    with_answers = [question for question in traced.questions if question.answers]
    asked = drawn(with_answers, sample, seed)
    asking = Asking(
        engine,
        traced,
        model,
        asked_so,
        k,
        exact,
        tuple(retrievers or ()),
        given,
        {system.name: system for system in systems},
        models,
    )
    unanswerable = drawn(traced.unanswerable, sample, seed)
    everything = collect_answers(asking, tuple(rows), [*asked, *unanswerable], folder, progress)
    answers = {row: given[: len(asked)] for row, given in everything.items()}
    refused = {
        row: sum(one.outcome == "absent" for one in given[len(asked) :]) / len(unanswerable)
        for row, given in everything.items()
        if unanswerable
    }
    if runs_out is not None:
        write_contexts(answers, {one.id: traced.gold[one.id] for one in asked}, runs_out)
    judgements = collect_judgements(
        engine.store, engine.embedder, judges, ways, answers, asked, folder, progress
    )
    values = measure_answers(engine.embedder, answers, judgements, asked, traced, bertscore)
    return summarise(
        traced,
        [question.id for question in asked],
        len(traced.questions) - len(with_answers),
        answers,
        judgements,
        values,
        reader=None if model is None else model.name,
        bertscore=None if bertscore is None else bertscore.signature,
        k=k,
        unanswerable=len(unanswerable),
        refused=refused,
    )


def _distinct(judge: ChatModel | Sequence[ChatModel] | None) -> list[ChatModel]:
    judges = [] if judge is None else list(judge) if isinstance(judge, Sequence) else [judge]
    names = [model.name for model in judges]
    if len(set(names)) < len(names):
        raise InputError(f"expected every judge once, got {', '.join(names)}")
    return judges


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
    runs: Runs,
    systems: Sequence[System] = (),
) -> dict[str, str | None]:
    """Return the names of the rows in order, with the digest of trained fusions, of runs, and of the rerankers and
    cuts of ``systems``. Raises InputError and FusionError for unknown or ambiguous names.
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
    if taken := runs.keys() & {*rows, GOLD, NO_CONTEXT}:
        raise InputError(f"expected runs named unlike the other rows, got {', '.join(sorted(taken))}")
    rows |= {name: digest_of(runs[name].items()) for name in runs}
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
        "k": k,
        "exact": exact,
        "rows": dict(rows),
        **changed_retrieval(engine.searcher.retrievers),
        "judges": {key: value for judge in judges for key, value in judge_settings(judge, ways).items()},
    }
