"""Ask questions with known answers, from one context after another, and say how good the answers are."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np

import trivium
from trivium.answering.answer import AnswerContext, answer
from trivium.answering.events import Done, Found
from trivium.answering.passages import passages
from trivium.answering.prompting import make_prompt
from trivium.answering.writing import Writing, WritingOptions
from trivium.common.arrays import Floats
from trivium.common.files import JsonLines
from trivium.common.progress import StageProgress
from trivium.datasets.gold import Gold, Traced
from trivium.datasets.questions import log_problem, read_questions
from trivium.embedding.base import Embedder
from trivium.engine import Engine
from trivium.errors import ChatModelError, InputError
from trivium.evaluation.answers import judge_prompts
from trivium.evaluation.answers.bertscore import BertScore
from trivium.evaluation.answers.folder import begin
from trivium.evaluation.answers.judge import Judge, Judgement
from trivium.evaluation.answers.measures import MEASURES, measure
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.answers.report import GOLD, AnswerReport
from trivium.evaluation.answers.summary import summarise
from trivium.evaluation.digests import (
    changed_retrieval,
    digest_of,
    shipped_digest,
    store_digest,
    trained_digests,
)
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.run_files import Runs, read_runs
from trivium.evaluation.suite.definition import sample as drawn
from trivium.graph.protocols import GraphReader, GraphStore
from trivium.graph.schema import headings_of
from trivium.llm.base import ChatModel
from trivium.parser.sources.annotators import MAJORITY
from trivium.parser.sources.base import Problem
from trivium.retrievers.registry import RETRIEVERS
from trivium.settings import load_settings
from trivium.types import Answer, Hit, Question

T = TypeVar("T")

ANSWERS = "answers.jsonl"
_FILES = (ANSWERS, "judged-*.jsonl")
_BY_JUDGE = ("faithfulness", "factual_correctness")


@dataclass(frozen=True, slots=True)
class _Asking:
    """How every question is asked."""

    engine: Engine
    traced: Traced
    model: ChatModel | None
    writing: Writing
    k: int
    exact: bool
    retrievers: Collection[str]
    runs: Runs

    def answered(self, row: str, question: Question) -> Answered:
        """The answer from the context of a row, timed."""
        began = time.perf_counter()
        searched, whole = began, None
        ground = AnswerContext(
            self.engine.store,
            self.engine.embedder,
            partial(self._hits, row, question),
            self.engine.searcher.domain,
        )
        for event in answer(question.text, ground, (), self.model, self.writing):
            if isinstance(event, Found):
                searched = time.perf_counter()
            elif isinstance(event, Done):
                whole = event.answer
        seconds = time.perf_counter() - began
        if whole is None:
            raise RuntimeError("an answer ends with Done")
        return Answered.of(
            row,
            question.id,
            whole,
            self._offered(whole),
            round(seconds, 6),
            round(searched - began, 6),
        )

    def _hits(self, row: str, question: Question, asked: str, recall: str | None) -> Sequence[Hit]:
        if row == GOLD:
            return gold_hits(self.engine.store, self.traced.gold[question.id], self.k)
        if row in self.runs:
            ranking = self.runs[row].get(question.id, ())
            return _hits_of(self.engine.store, [uri for uri, _ in ranking[: self.k]])
        views, fusion = ([row], None) if row in self.retrievers else (None, row)
        return self.engine.search(asked, self.k, views, fusion, exact=self.exact, recall=recall)

    def _offered(self, given: Answer) -> list[int]:
        """The numbers of the passages that the reader was given: the prompt is made the same way again."""
        found = passages(given.passages)
        if self.model is not None and found and given.searched_for is not None:
            asked = given.searched_for
            scope = self.engine.searcher.domain.scope
            prompt = make_prompt(asked, found, self.model, self.writing.style, self.writing.max_tokens, scope)
            found = list(prompt.offered)
        return [passage.number for passage in found]


def evaluate_answers(
    engine: Engine,
    questions: str | Path | Sequence[Question],
    folder: str | Path,
    retrievers: Sequence[str] | None = None,
    fusions: Sequence[str] | None = None,
    *,
    gold: bool = False,
    runs: Sequence[str | Path] = (),
    model: ChatModel | None = None,
    writing: WritingOptions | None = None,
    judge: ChatModel | None = None,
    bertscore: BertScore | None = None,
    k: int = 6,
    sample: int | None = None,
    seed: int = 0,
    exact: bool = False,
    fresh: bool = False,
    annotators: str = MAJORITY,
    on_problem: Callable[[Problem], None] = log_problem,
    progress: StageProgress | None = None,
) -> AnswerReport:
    """Answer quality of one reader (``model``; None: the best sentences) on several contexts, one row each: exactly the
    retrievers and fusions named, or ``vector`` and ``default`` when none is; with ``gold`` also the gold passages
    themselves. ``runs`` are TREC files of further contexts (ids of questions as in the question file, uris of chunks).

    Asked are the questions of a file, or given, whose gold can be traced and whose answers are known; ``sample`` of
    them if that is less, drawn with ``seed``. ``annotators`` and ``on_problem`` are as in
    :func:`~trivium.datasets.questions.read_questions`. A ``judge`` also says how faithful and how correct the answers
    are.

    Answers and judgements are appended to files in ``folder`` as they come. A run that was interrupted goes on when it is
    called again; more rows, questions of the same file or another judge may be asked for, but a folder that was begun
    with another reader, question file, store or ``k`` is refused, unless ``fresh`` empties it. Raises InputError, what
    the search raises, and ChatModelError; what was answered until then is kept.
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
    rows = _rows(engine, retrievers or (), fusions or (), gold, given)
    folder = Path(folder)
    asked_so = Writing.of(writing or WritingOptions(), load_settings())
    begin(folder, _settings(engine, known, rows, model, asked_so, judge, k, exact), _FILES, fresh)

    traced = Evaluator(engine.searcher).trace(known)
    with_answers = [question for question in traced.questions if question.answers]
    asked = drawn(with_answers, sample, seed)
    asking = _Asking(engine, traced, model, asked_so, k, exact, tuple(retrievers or ()), given)
    answers = _answers(asking, rows, asked, folder, progress)
    judgements = {} if judge is None else _judgements(engine.store, judge, answers, asked, folder, progress)
    values = _values(engine.embedder, answers, judgements, asked, traced, bertscore)
    return summarise(
        traced,
        [question.id for question in asked],
        len(traced.questions) - len(with_answers),
        answers,
        judgements,
        values,
        reader=None if model is None else model.name,
        judge=None if judge is None else judge.name,
        bertscore=None if bertscore is None else bertscore.signature,
        k=k,
    )


def gold_hits(store: GraphReader, gold: Gold, k: int) -> list[Hit]:
    """Up to k gold chunks as a search would give them: the first of each group, then the second of each ..."""
    in_turn = chain.from_iterable(zip_longest(*gold.groups))
    return _hits_of(store, [uri for uri in in_turn if uri is not None][:k])


def _hits_of(store: GraphReader, uris: Sequence[str]) -> list[Hit]:
    return [
        Hit(uri, found.text, 1 / rank, rank, found.page, found.section, found.kind, found.start, found.end)
        for rank, (uri, found) in enumerate(zip(uris, store.fetch(uris), strict=True), start=1)
    ]


def _rows(
    engine: Engine, retrievers: Sequence[str], fusions: Sequence[str], gold: bool, runs: Runs
) -> dict[str, str | None]:
    """Names of the rows in order, with the digest of what is trained and of runs."""
    engine.searcher.retrievers.choose(retrievers)  # refuses unknown names before anything is asked
    for name in fusions:
        engine.searcher.fusions.get(name)
    if GOLD in fusions or set(fusions) & {*RETRIEVERS, *retrievers}:
        raise InputError(f"expected fusions with names of their own, got {', '.join(fusions)}")
    trained, shipped = trained_digests(fusions), shipped_digest()
    rows: dict[str, str | None] = dict.fromkeys(retrievers)
    rows |= {name: trained.get(name, shipped) for name in fusions}
    if taken := runs.keys() & {*rows, GOLD}:
        raise InputError(f"expected runs named unlike the other rows, got {', '.join(sorted(taken))}")
    rows |= {name: digest_of(runs[name].items()) for name in runs}
    return {**rows, GOLD: None} if gold else rows


def _settings(
    engine: Engine,
    questions: Sequence[Question],
    rows: Mapping[str, str | None],
    model: ChatModel | None,
    writing: Writing,
    judge: ChatModel | None,
    k: int,
    exact: bool,
) -> dict[str, Any]:
    """Everything an answer depends on."""
    readers = [{"name": m.name, "context_tokens": m.context_tokens} for m in (model, judge) if m is not None]
    return {
        "version": trivium.__version__,
        "questions": digest_of(asdict(question) for question in questions),
        "store": store_digest(engine.store),
        "reader": None if model is None else readers[0] | {"writing": digest_of([asdict(writing)])},
        "k": k,
        "exact": exact,
        "rows": dict(rows),
        **changed_retrieval(engine.searcher.retrievers),
        "judges": {} if judge is None else {judge.name: {**readers[-1], "prompts": judge_prompts.VERSION}},
    }


def _answers(
    asking: _Asking,
    rows: Mapping[str, str | None],
    asked: Sequence[Question],
    folder: Path,
    progress: StageProgress | None,
) -> dict[str, list[Answered]]:
    log = JsonLines(folder / ANSWERS, Answered)
    answers: dict[str, list[Answered]] = {row: [] for row in rows}
    with log.writing():
        earlier = {(record.row, record.question): record for record in log.records()}
        for row in rows:
            for done, question in enumerate(asked, start=1):
                answered = earlier.get((row, question.id))
                if answered is None:
                    answered = _kept(folder, partial(asking.answered, row, question))
                    log.append(answered)
                answers[row].append(answered)
                if progress is not None:
                    progress(f"answers: {row}", done, len(asked))
    return answers


def _judgements(
    store: GraphStore,
    model: ChatModel,
    answers: Mapping[str, Sequence[Answered]],
    asked: Sequence[Question],
    folder: Path,
    progress: StageProgress | None,
) -> dict[str, list[Judgement]]:
    log = JsonLines(folder / f"judged-{quote(model.name, safe='')}.jsonl", Judgement)
    judgements: dict[str, list[Judgement]] = {row: [] for row in answers}
    with log.writing():
        earlier = {(record.row, record.question): record for record in log.records()}
        judge = Judge(model, earlier.values())
        for row, row_answers in answers.items():
            for done, (question, answered) in enumerate(zip(asked, row_answers, strict=True), start=1):
                judgement = earlier.get((row, question.id))
                if judgement is None:
                    judgement = _kept(folder, partial(_judged, judge, store, question, answered))
                    log.append(judgement)
                judgements[row].append(judgement)
                if progress is not None:
                    progress(f"judged: {row}", done, len(asked))
    return judgements


def _judged(judge: Judge, store: GraphStore, question: Question, answered: Answered) -> Judgement:
    records = store.fetch(list(answered.context))
    context = "\n\n".join(f"{' > '.join(headings_of(record.section))}: {record.text}" for record in records)
    text = answered.said if answered.outcome != "absent" else ""
    return judge.judge(answered.row, question.id, question.text, text, context, question.answers)


def _kept(folder: Path, ask: Callable[[], T]) -> T:
    try:
        return ask()
    except ChatModelError as error:
        raise ChatModelError(
            f"{error} (what was answered is kept in {folder}: run it again to go on)"
        ) from error


def _values(
    embedder: Embedder,
    answers: Mapping[str, Sequence[Answered]],
    judgements: Mapping[str, Sequence[Judgement]],
    asked: Sequence[Question],
    traced: Traced,
    bertscore: BertScore | None,
) -> dict[str, dict[str, Floats]]:
    """Every measure of every row, question by question."""
    golds = [question.answers for question in asked]
    values = {}
    for row, row_answers in answers.items():
        measured = [
            measure(answered, question.answers, traced.gold[question.id])
            for answered, question in zip(row_answers, asked, strict=True)
        ]
        values[row] = {
            name: np.array([scores[name] for scores in measured], dtype=np.float64) for name in MEASURES
        }
        # An answer that says nothing was found has no similarity to a known answer.
        texts = [answered.said if answered.outcome != "absent" else "" for answered in row_answers]
        values[row]["cosine"] = _cosines(embedder, texts, golds)
        if bertscore is not None:
            values[row]["bertscore"] = np.nan_to_num(np.array(bertscore.scores(texts, golds)), nan=0.0)
        if row in judgements:
            for name in _BY_JUDGE:
                values[row][name] = np.array(
                    [getattr(judgement, name) for judgement in judgements[row]], dtype=np.float64
                )
    return values


def _cosines(embedder: Embedder, texts: Sequence[str], golds: Sequence[Sequence[str]]) -> Floats:
    """The cosine of each answer with the closest known answer, by the store's embedder; 0 for one that says nothing."""
    distinct = list(dict.fromkeys(chain(filter(None, texts), chain.from_iterable(golds))))
    if not distinct:
        return np.zeros(len(texts))
    place = {text: number for number, text in enumerate(distinct)}
    vectors = embedder.embed(distinct)
    return np.array(
        [
            max(float(vectors[place[text]] @ vectors[place[reference]]) for reference in gold)
            if text
            else 0.0
            for text, gold in zip(texts, golds, strict=True)
        ]
    )
