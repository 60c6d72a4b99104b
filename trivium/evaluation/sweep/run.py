"""Asks, judges and measures every cell of a sweep, resuming an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trivium.answering.writing_options import Writing, WritingOptions
from trivium.common.arrays import Floats
from trivium.common.progress import StageProgress
from trivium.common.safe_files import JsonLines
from trivium.datasets.gold import Traced
from trivium.datasets.questions import draw, read_questions
from trivium.embedding.embedder import Embedder
from trivium.engine import Engine
from trivium.errors import ChatModelError, InputError
from trivium.evaluation.answers.asking import ANSWERS, Asking, collect_answers, write_contexts
from trivium.evaluation.answers.bertscore import BertScore
from trivium.evaluation.answers.judging import (
    WAYS,
    Judgements,
    check_ways,
    collect_judgements,
    judgement_file,
)
from trivium.evaluation.answers.model_free_measures import MEASURES
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.answers.report import FIVE, NO_CONTEXT, SUM_OF_FIVE
from trivium.evaluation.answers.run import RUN_FILES, RUNS, check_stages, named_rows, run_settings
from trivium.evaluation.answers.run_folder import begin
from trivium.evaluation.answers.summary import judged_values, measure_answers, sums_of_five
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.measured_systems import System, followed
from trivium.evaluation.model_usage import SearchModels
from trivium.evaluation.sweep.budget import BudgetReachedError, Meter
from trivium.evaluation.sweep.cells import Group, baseline_of, groups_of
from trivium.evaluation.sweep.definition import Priced, Sweep, needs_model
from trivium.evaluation.sweep.results import CellAnswers, SweepReport, summarise_sweep
from trivium.llm.chat_model import ChatModel
from trivium.llm.registry import open_chat_model
from trivium.rerank.registry import make_reranker
from trivium.retrievers.llm_path_selectors import make_selector
from trivium.settings.settings import load_settings
from trivium.types import Question, Usage

OpenModel = Callable[[str], ChatModel]


@dataclass
class _State:
    """The state of a running sweep on one of its stores; ``embedder`` measures similarity of answers on all."""

    sweep: Sweep
    folder: Path
    engine: Engine
    embedder: Embedder
    bertscore: BertScore | None
    traced: Traced
    known: Sequence[Question]
    asked: Sequence[Question]
    rows: Mapping[str, str | None]
    models: Mapping[str, ChatModel]
    judges: Mapping[str, ChatModel]
    searching: SearchModels
    systems: Mapping[str, System]
    meter: Meter
    progress: StageProgress | None
    failures: dict[str, str] = field(default_factory=dict)

    def reranker(self, row: str) -> Priced | None:
        """Return the reranker of a row, if it has one."""
        system = self.systems.get(row)
        if system is None or system.reranker is None:
            return None
        return next(priced for priced in self.sweep.rerankers if priced.name == system.reranker.name)

    def count(self, reader: Priced, answered: Answered) -> None:
        """Count what an answer took, with the search for its passages. A selector has no price."""
        self.meter.add(reader, answered.usage)
        self.meter.tokens += (answered.search_usage - answered.rerank_usage).total
        reranker = self.reranker(answered.row)
        if reranker is not None:
            self.meter.add(reranker, answered.rerank_usage)


def run_sweep(
    sweep: Sweep,
    folder: str | Path,
    *,
    open_model: OpenModel = open_chat_model,
    progress: StageProgress | None = None,
) -> SweepReport:
    """Evaluate every cell of a sweep on the same questions: those of the file whose gold can be traced in every store and
    whose answers are known, or ``sample`` of them.

    Answers and judgements are saved below ``folder`` immediately, so that the same call resumes after any
    interruption. A changed question file or store is rejected. If a model fails, the others continue; if a
    reranker fails, the passages keep the order of the search and the report counts the answers; an exhausted budget ends
    the run. The report says so, and has the scores of every complete cell. ``open_model`` maps names to language models.
    Raises InputError, MissingExtraError, and the errors of the search.
    """
    folder = Path(folder)
    bertscore = None if sweep.bertscore is None else BertScore.named(sweep.bertscore)
    searching = SearchModels()
    rerankers = [searching.of_reranker(make_reranker(priced.name)) for priced in sweep.rerankers]
    known = read_questions(sweep.questions)
    systems = followed([*sweep.retrievers, *sweep.fusions], rerankers, sweep.cuts)
    groups = groups_of(sweep, systems)
    baseline = baseline_of(sweep, groups)
    check_ways(sweep.judge_by if sweep.judges else ())
    _check_measure(sweep)
    models = {m.name: open_model(m.name) for m in sweep.models if needs_model(m.name)}
    judges = {m.name: models.get(m.name) or open_model(m.name) for m in sweep.judges}
    if len({judge.name for judge in judges.values()}) < len(judges):
        raise InputError(f"{sweep.path}: expected every judge once, got one under two names")
    selector = searching.of_selector(make_selector(load_settings().path_selector))
    with ExitStack() as opened:
        engines = {
            name: opened.enter_context(Engine.open(store, selector=selector))
            for name, store in sweep.stores.items()
        }
        for engine in engines.values():
            rows = named_rows(engine, sweep.retrievers, sweep.fusions, sweep.gold, systems)
            for k in sweep.k:
                check_stages(engine, systems, sweep.fusions, k)
        rows |= {NO_CONTEXT: None} if sweep.no_context else {}
        traced = {name: Evaluator(engine.searcher).trace(known) for name, engine in engines.items()}
        first, *others = traced.values()
        common = [q for q in first.questions if q.answers and all(q.id in one.gold for one in others)]
        asked = draw(common, sweep.sample, sweep.seed)
        if not asked:
            raise InputError(
                f"{sweep.questions}: expected questions with known answers that are in"
                f" {'every store' if others else 'the store'}"
            )
        meter = Meter(sweep.budget)
        failures: dict[str, str] = {}
        states = [
            _State(
                sweep=sweep,
                folder=folder,
                engine=engine,
                embedder=next(iter(engines.values())).embedder,
                bertscore=bertscore,
                traced=traced[name],
                known=known,
                asked=asked,
                rows=rows,
                models=models,
                judges=judges,
                searching=searching,
                systems={system.name: system for system in systems},
                meter=meter,
                progress=progress,
                failures=failures,
            )
            for name, engine in engines.items()
        ]
        names: Sequence[str | None] = list(sweep.stores) if others else [None]
        of_store = dict(zip(names, states, strict=True))
        everything = [(of_store[group.store], group) for group in groups]
        for state, group in everything:
            begin(folder / group.folder, _settings(state, group), RUN_FILES)
        for state, group in everything:
            _count_earlier(state, group)
        stopped = _ask_all(everything)
        for store, state in of_store.items():
            runs = folder / RUNS if store is None else folder / RUNS / quote(store, safe="")
            _write_contexts(state, [group for group in groups if group.store == store], runs)
        cells = [found for state, group in everything for found in _kept(state, group)]
    return summarise_sweep(
        sweep, first, [question.id for question in asked], cells, baseline, meter, stopped, failures
    )


def _check_measure(sweep: Sweep) -> None:
    judged = [measure for way in sweep.judge_by if sweep.judges for measure in WAYS[way].measures]
    scored = ["bertscore"] if sweep.bertscore is not None else []
    known = [*MEASURES, "cosine", *scored, *judged, *([SUM_OF_FIVE] if {*FIVE} <= {*judged} else [])]
    if sweep.measure not in known:
        raise InputError(
            f"{sweep.path}: expected as measure one of {', '.join(known)}, got {sweep.measure!r}"
        )


def _writing(sweep: Sweep, group: Group) -> Writing:
    options = WritingOptions(temperature=group.temperature, max_tokens=sweep.max_tokens)
    if group.prompt is not None:
        options["prompt"] = sweep.prompts[group.prompt]
    return Writing.of(options, load_settings())


def _settings(state: _State, group: Group) -> dict[str, Any]:
    return run_settings(
        state.engine,
        state.known,
        {row: state.rows[row] for row in group.rows},
        state.models.get(group.model.name),
        _writing(state.sweep, group),
        tuple(state.judges.values()),
        state.sweep.judge_by,
        group.k,
        state.sweep.exact,
    )


def _count_earlier(state: _State, group: Group) -> None:
    """Count what the cells of a group used in earlier runs."""
    folder = state.folder / group.folder
    for answered in JsonLines(folder / ANSWERS, Answered).records():
        state.count(group.model, answered)
    for priced in state.sweep.judges:
        for way in state.sweep.judge_by:
            file = judgement_file(folder, state.judges[priced.name].name, way)
            log: JsonLines[Any] = JsonLines(file, WAYS[way].kind)
            for judged in log.records():
                state.meter.add(priced, judged.usage)


def _ask_all(groups: Sequence[tuple[_State, Group]]) -> str | None:
    """Ask and judge cell by cell, so that as many as possible are complete if the budget is exhausted. Return the
    limit reached, None if everything is done or failed.
    """
    cells = [(state, group, row) for state, group in groups for row in group.rows]
    asked_last: str | None = None
    for place, (state, group, row) in enumerate(cells):
        _tell(state, "cells", place, len(cells))
        if asked_last not in (None, group.model.name):
            _free(state, asked_last)
        asked_last = group.model.name
        try:
            _ask_cell(state, group, row)
        except BudgetReachedError as reached:
            return str(reached)
    _tell(groups[0][0], "cells", len(cells), len(cells))
    return None


def _ask_cell(state: _State, group: Group, row: str) -> None:
    """Ask and judge a cell. A model that fails, now or before, is skipped. Raises BudgetReachedError."""
    if group.model.name in state.failures:
        return
    try:
        answers = _answers(state, group, row)
    except ChatModelError as error:
        state.failures[group.model.name] = str(error)
        return
    for priced in state.sweep.judges:
        if priced.name not in state.failures:
            try:
                _judge(state, group, row, answers, priced)
            except ChatModelError as error:
                state.failures[priced.name] = str(error)


def _free(state: _State, name: str | None) -> None:
    """Free the memory of a model that runs in this process; it is loaded again if needed."""
    close = getattr(state.models.get(name or ""), "close", None)
    if callable(close):
        close()


def _told(state: _State, what: str, _: str, done: int, total: int) -> None:
    """Report progress within a cell under a common name, since there may be hundreds of cells."""
    _tell(state, what, done, total)


def _tell(state: _State, what: str, done: int, total: int) -> None:
    if state.progress is not None:
        state.progress(what, done, total)


def _answers(state: _State, group: Group, row: str) -> list[Answered]:
    asking = Asking(
        state.engine,
        state.traced,
        state.models.get(group.model.name),
        _writing(state.sweep, group),
        group.k,
        state.sweep.exact,
        state.sweep.retrievers,
        state.systems,
        state.searching,
    )
    folder = state.folder / group.folder
    told = partial(_told, state, "answers")
    spent = partial(state.count, group.model)
    return collect_answers(asking, [row], state.asked, folder, told, state.meter.check, spent)[row]


def _judge(state: _State, group: Group, row: str, answers: Sequence[Answered], priced: Priced) -> None:
    model = state.judges[priced.name]
    collect_judgements(
        state.engine.store,
        state.embedder,
        [model],
        state.sweep.judge_by,
        {row: answers},
        state.asked,
        state.folder / group.folder,
        partial(_told, state, "judgements"),
        state.meter.check,
        lambda judged: state.meter.add(priced, judged.usage),
    )


def _write_contexts(state: _State, groups: Sequence[Group], runs: Path) -> None:
    """What was found for the questions, whoever read it: each context once, with as many passages as the largest k."""
    found: dict[str, list[Answered]] = {}
    for group in sorted(groups, key=lambda group: -group.k):
        log = JsonLines(state.folder / group.folder / ANSWERS, Answered)
        by_place = {(one.row, one.question): one for one in log.records()}
        for row in group.rows:
            there = [by_place[row, q.id] for q in state.asked if (row, q.id) in by_place]
            if row not in found and len(there) == len(state.asked):
                found[row] = there
    order = dict.fromkeys(row for group in groups for row in group.rows if row in found)
    gold = {question.id: state.traced.gold[question.id] for question in state.asked}
    for earlier in runs.glob("*.run"):
        earlier.unlink()
    write_contexts({row: found[row] for row in order}, gold, runs)


def _kept(state: _State, group: Group) -> list[CellAnswers]:
    """Return the stored data of each cell of a group, with its values if all questions are answered."""
    folder = state.folder / group.folder
    by_place = {(a.row, a.question): a for a in JsonLines(folder / ANSWERS, Answered).records()}
    found = []
    for row, cell in zip(group.rows, group.cells, strict=True):
        answers = [by_place[row, q.id] for q in state.asked if (row, q.id) in by_place]
        complete = len(answers) == len(state.asked)
        judgements: dict[str, dict[str, dict[str, list[Any]]]] = {}
        judge_usage: dict[Priced, Usage] = {}
        for priced in state.sweep.judges:
            model = state.judges[priced.name]
            for way in state.sweep.judge_by:
                log: JsonLines[Any] = JsonLines(judgement_file(folder, model.name, way), WAYS[way].kind)
                judged = {j.question: j for j in log.records() if j.row == row}
                told = [judged[q.id] for q in state.asked if q.id in judged]
                judge_usage[priced] = sum((j.usage for j in told), judge_usage.get(priced, Usage()))
                if len(told) == len(state.asked):
                    judgements.setdefault(model.name, {})[way] = {row: told}
        found.append(
            CellAnswers(
                cell,
                group.model,
                state.reranker(row),
                answers,
                _values(state, row, answers, judgements) if complete else {},
                judge_usage,
                _all_judged(state, judgements),
                {judge: judged_values(row, ways) for judge, ways in judgements.items()},
            )
        )
    return found


def _all_judged(state: _State, judgements: Judgements) -> bool:
    ways = state.sweep.judge_by
    return all(len(judgements.get(judge.name, ())) == len(ways) for judge in state.judges.values())


def _values(
    state: _State, row: str, answers: Sequence[Answered], judgements: Judgements
) -> Mapping[str, Floats]:
    # Use only what every judge has judged: means over different judges would not be comparable.
    ways = [
        way
        for way in state.sweep.judge_by
        if all(way in judgements.get(j.name, {}) for j in state.judges.values())
    ]
    whole = {judge: {way: told[way] for way in ways} for judge, told in judgements.items()}
    measured = measure_answers(
        state.embedder, {row: answers}, whole, state.asked, state.traced, state.bertscore
    )
    sums = sums_of_five(measured[row])
    return measured[row] if sums is None else {**measured[row], SUM_OF_FIVE: sums}
