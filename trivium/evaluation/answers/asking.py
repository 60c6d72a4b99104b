"""Asks questions with different contexts, saving each answer immediately, and writes the contexts as TREC runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import TypeVar

from trivium.answering.answer import AnswerContext, answer, final_text
from trivium.answering.citation_marks import MarkFilter
from trivium.answering.events import NOT_FOUND, Done, Found
from trivium.answering.prompt_styles import DEFAULT, prompt_style
from trivium.answering.prompting import ANSWER_TOKENS, quoted
from trivium.answering.repetition import Repetition
from trivium.answering.writing_options import Writing
from trivium.common.progress import StageProgress
from trivium.common.safe_files import JsonLines
from trivium.datasets.gold import Gold, Traced
from trivium.engine import Engine
from trivium.errors import ChatModelError
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT
from trivium.evaluation.measured_systems import System
from trivium.evaluation.model_usage import SearchModels
from trivium.evaluation.trec_files import write_rankings
from trivium.graph.protocols import GraphReader
from trivium.llm.chat_model import ChatModel, usage_of
from trivium.search.requests import Warned
from trivium.settings.settings import load_settings
from trivium.types import Answer, Hit, Question


def answer_without_context(question: str, model: ChatModel, writing: Writing) -> Answer:
    """Return the model's answer in the form required by the prompt style; its statements have no passages. Raises
    ChatModelError.
    """
    style = prompt_style(DEFAULT) if writing.style is None else writing.style
    messages = style.messages_alone(quoted(question))
    wanted = ANSWER_TOKENS if writing.max_tokens is None else writing.max_tokens
    max_tokens = min(wanted, model.context_tokens // 4)
    text, repetition = "", Repetition()
    with model.stream(messages, max_tokens=max_tokens, temperature=writing.temperature) as reply:
        for piece in MarkFilter(()).filtered(reply):
            text += piece
            if piece and repetition.is_in(text):
                break
    usage = usage_of(reply, model, messages, text)
    text = final_text(text)
    return Answer(
        question=question,
        searched_for=None,
        text=text,
        outcome="absent" if text == NOT_FOUND else "answered",
        statements=(),
        citations=(),
        passages=(),
        intent="collection",
        model=model.name,
        usage=usage,
    )


ANSWERS = "answers.jsonl"

T = TypeVar("T")


def nothing(*_: object) -> None:
    """Do nothing before and after an answer or a judgement."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The parameters with which every question is asked."""

    engine: Engine
    traced: Traced
    model: ChatModel | None
    writing: Writing
    k: int
    exact: bool
    retrievers: Collection[str]
    systems: Mapping[str, System] = field(default_factory=dict)
    """The rows whose passages are reranked or cut, by name."""
    models: SearchModels = field(default_factory=SearchModels)
    """Language models that take part in the search and are counted."""

    def answered(self, row: str, question: Question) -> Answered:
        """Answer a question with the context of a row, and time it."""
        began = time.perf_counter()
        if row == NO_CONTEXT:
            if self.model is None:
                raise ValueError("a question without any context is one for a language model")
            alone = answer_without_context(question.text, self.model, self.writing)
            return Answered.of(row, question.id, alone, (), round(time.perf_counter() - began, 6), 0.0)
        searched, done = began, None
        warnings: list[str] = []
        before = self.models.spent
        ground = AnswerContext(
            self.engine.store,
            self.engine.embedder,
            partial(self._hits, row, question, warnings.extend),
            self.engine.searcher.domain,
            load_settings().answer_risk,
        )
        for event in answer(question.text, ground, (), self.model, self.writing):
            if isinstance(event, Found):
                searched = time.perf_counter()
            elif isinstance(event, Done):
                done = event
        seconds = time.perf_counter() - began
        spent = self.models.spent.since(before)
        if done is None:
            raise RuntimeError("an answer ends with Done")
        return Answered.of(
            row,
            question.id,
            done.answer,
            done.offered,
            round(seconds, 6),
            round(searched - began, 6),
            spent.usage,
            spent.reranking,
            (*warnings, *done.answer.warnings),
        )

    def _hits(
        self, row: str, question: Question, warn: Warned, asked: str, recall: str | None
    ) -> Sequence[Hit]:
        if row == GOLD:
            gold = self.traced.gold.get(question.id)  # an unanswerable question has none
            return [] if gold is None else gold_hits(self.engine.store, gold, self.k)
        system = self.systems.get(row, System(row))
        return system.search(
            self.engine, asked, self.k, self.retrievers, exact=self.exact, recall=recall, on_warnings=warn
        )


def gold_hits(store: GraphReader, gold: Gold, k: int) -> list[Hit]:
    """Return up to k gold chunks as a search would return them: the first of each group, then the second of each, and
    so on.
    """
    in_turn = chain.from_iterable(zip_longest(*gold.groups))
    return _hits_of(store, [uri for uri in in_turn if uri is not None][:k])


def _hits_of(store: GraphReader, uris: Sequence[str]) -> list[Hit]:
    return [
        Hit(uri, found.text, 1 / rank, rank, found.page, found.section, found.kind, found.start, found.end)
        for rank, (uri, found) in enumerate(zip(uris, store.fetch(uris), strict=True), start=1)
    ]


def collect_answers(
    asking: Asking,
    rows: Sequence[str],
    asked: Sequence[Question],
    folder: Path,
    progress: StageProgress | None = None,
    before: Callable[[], None] = nothing,
    after: Callable[[Answered], None] = nothing,
) -> dict[str, list[Answered]]:
    """Return the answers of every row, in the order of the questions ``asked``: those saved in the folder, and the
    others, which are asked and saved. ``before`` is called before each of these, ``after`` with it. Raises
    ChatModelError, and the errors of the search and of ``before``.
    """
    log = JsonLines(folder / ANSWERS, Answered)
    answers: dict[str, list[Answered]] = {row: [] for row in rows}
    with log.writing():
        earlier = {(record.row, record.question): record for record in log.records()}
        for row in rows:
            for done, question in enumerate(asked, start=1):
                answered = earlier.get((row, question.id))
                if answered is None:
                    before()
                    answered = kept(folder, partial(asking.answered, row, question))
                    log.append(answered)
                    after(answered)
                answers[row].append(answered)
                if progress is not None:
                    progress(f"answers: {row}", done, len(asked))
    return answers


def kept(folder: Path, ask: Callable[[], T]) -> T:
    """Return ``ask()``. Raises ChatModelError that says where the earlier answers are."""
    try:
        return ask()
    except ChatModelError as error:
        raise ChatModelError(
            f"{error} (what was answered is kept in {folder}: run it again to go on)"
        ) from error


def write_contexts(
    answers: Mapping[str, Sequence[Answered]], gold: Mapping[str, Gold], folder: str | Path
) -> None:
    """Write one run per row of answers, except those from gold passages and without context, and the relevance
    judgements.

    ``answers`` has one entry per question of ``gold``, in the same order. Scores are 1 / rank, since a reader gets an
    order and no scores. Raises InputError if there is nothing to write.
    """
    rankings = {
        row: [[(uri, 1.0 / rank) for rank, uri in enumerate(one.hits, start=1)] for one in found]
        for row, found in answers.items()
        if row not in (GOLD, NO_CONTEXT)
    }
    write_rankings(gold, rankings, folder)
