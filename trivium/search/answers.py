"""Answers a question from the results of a searcher."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace

from trivium.answering.answer import AnswerContext, answer
from trivium.answering.events import AnswerEvent, Done, Found
from trivium.answering.writing_options import Writing, WritingOptions
from trivium.llm.chat_model import ChatModel
from trivium.llm.registry import chat_model_of
from trivium.search.requests import AskRequest
from trivium.search.searcher import Searcher
from trivium.settings.settings import load_settings
from trivium.types import SourceOutcome


def answer_stream(searcher: Searcher, request: AskRequest) -> Generator[AnswerEvent, None, None]:
    """Stream an answer; see :meth:`trivium.engine.Engine.ask_stream`.

    Without a ``model`` in the request, or with ``none``, the answer is composed of sentences from the passages. Raises
    InputError and FusionError for unknown names immediately. While the stream is read, raises the errors of a search,
    and ChatModelError.
    """
    model = chat_model_of(request.model)
    writing = _writing(request, model)
    searcher.check(request)
    outcomes: list[SourceOutcome] = []
    warnings: list[str] = []
    context = AnswerContext(
        searcher.store,
        searcher.remembering(),
        lambda asked, recall: searcher.search(
            request.search(asked, recall, outcomes.extend, warnings.extend)
        ),
        searcher.domain,
        load_settings().answer_risk,
    )
    events = answer(
        request.question,
        context,
        request.turns,
        model,
        writing,
        intent=request.intent,
        rewrite=request.rewrite,
    )
    return _with_outcomes(events, outcomes, warnings)


def _with_outcomes(
    events: Generator[AnswerEvent, None, None], outcomes: Sequence[SourceOutcome], warnings: Sequence[str]
) -> Generator[AnswerEvent, None, None]:
    """Add the outcomes of live sources and the warnings of the search, which are known once passages were found."""
    with closing(events):
        for event in events:
            told = tuple(dict.fromkeys(warnings))
            if isinstance(event, Found):
                yield replace(event, sources=_by_source(outcomes), warnings=told)
            elif isinstance(event, Done):
                told = (*event.answer.warnings, *told)
                whole = replace(event.answer, sources=_by_source(outcomes), warnings=told)
                yield replace(event, answer=whole)
            else:
                yield event


def _by_source(outcomes: Sequence[SourceOutcome]) -> tuple[SourceOutcome, ...]:
    """Return the first outcome of each source: a follow-up may be searched for in two wordings."""
    return tuple({one.name: one for one in reversed(outcomes)}.values())[::-1]


def _writing(request: AskRequest, model: ChatModel | None) -> Writing:
    """Return how the model is prompted; the defaults when there is no model."""
    if model is None:
        return Writing()
    given = WritingOptions(
        prompt=request.prompt, temperature=request.temperature, max_tokens=request.max_tokens
    )
    return Writing.of(given, load_settings())
