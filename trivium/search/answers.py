"""Answers a question from the results of a searcher."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Unpack, get_args

from trivium.answering.answer import AnswerContext, answer
from trivium.answering.events import AnswerEvent, Done, Found
from trivium.answering.writing import Writing, WritingOptions
from trivium.common.arguments import check_options, shown
from trivium.errors import InputError
from trivium.graph.filters import Where, parse
from trivium.llm.base import ChatModel
from trivium.llm.registry import chat_model_of
from trivium.rerank.base import Reranker
from trivium.retrievers.setting_values import SettingValues
from trivium.search.about import PASSAGES
from trivium.search.cut import Cut
from trivium.search.options import check_k, check_question
from trivium.search.searcher import Searcher
from trivium.settings import load_settings
from trivium.types import Intent, SourceOutcome, Turn

MAX_TURN_CHARACTERS = 200_000
"""Maximum length of a question or answer in the history, in characters."""


class AskOptions(WritingOptions, total=False):
    """Options of :func:`answer_stream` and :meth:`trivium.engine.Engine.ask`.

    - ``k``: number of passages to read (default 6).
    - ``history``: earlier turns, or mappings of ``question`` and ``answer``, oldest first.
    - ``model``: language model, as an object or by name (:func:`trivium.llm.registry.open_chat_model`); without one,
      or with ``none``, the answer is composed of sentences from the passages.
    - ``prompt``, ``temperature``, ``max_tokens``: how the model is prompted
      (:class:`~trivium.answering.writing.WritingOptions`).
    - ``intent``: overrides the detected intent of the question (:data:`trivium.types.Intent`).
    - ``rewrite``: when false, a follow-up question is searched for as it is.
    - ``retrievers``, ``fusion``, ``settings``, ``where``, ``explain``, ``sources``, ``rerank``, ``cut``: as for a
      search.
    """

    k: int
    history: Sequence[Turn | Mapping[str, str]]
    model: ChatModel | str | None
    retrievers: Sequence[str] | None
    fusion: str | None
    settings: SettingValues | None
    where: Where | None
    intent: Intent | None
    rewrite: bool
    explain: bool
    sources: Sequence[str] | None
    rerank: str | Reranker | None
    cut: str | Cut | None


def answer_stream(
    searcher: Searcher, question: str, **options: Unpack[AskOptions]
) -> Generator[AnswerEvent, None, None]:
    """Stream an answer; see :meth:`trivium.engine.Engine.ask_stream`.

    Raises InputError and FusionError for invalid arguments immediately. While the stream is read, raises the errors
    of a search, and ChatModelError.
    """
    check_options("ask", options, AskOptions, ("question",))
    check_question(question)
    history = _turns(options.get("history", ()))
    model = chat_model_of(options.get("model"))
    writing = _writing(options, model)
    k = options.get("k", PASSAGES)
    check_k(k)
    retrievers, fusion, settings = options.get("retrievers"), options.get("fusion"), options.get("settings")
    where = options.get("where")
    condition = None if where is None else parse(where)
    sources = options.get("sources")
    searcher.live.choose(sources or ())  # raises for unknown names
    outcomes: list[SourceOutcome] = []
    warnings: list[str] = []
    # Raises for unknown names.
    fuse = searcher.fusions.suitable(fusion, searcher.retrievers.choose(retrievers, settings))
    after = searcher.second_stage(k, options.get("rerank"), options.get("cut"), settings)
    after.check(calibrated=fuse.log_odds and condition is None)
    context = AnswerContext(
        searcher.store,
        searcher.remembering(),
        lambda asked, recall: searcher.search(
            asked,
            k,
            retrievers,
            fusion,
            explain=options.get("explain", False),
            settings=settings,
            where=condition,
            sources=sources,
            on_sources=outcomes.extend,
            recall=recall,
            rerank=after.reranker,
            cut=after.cut,
            on_warnings=warnings.extend,
        ),
        searcher.domain,
    )
    intent = options.get("intent")
    if intent is not None and intent not in get_args(Intent):
        raise InputError(f"expected an intent of {', '.join(get_args(Intent))}, got {shown(intent)}")
    events = answer(
        question,
        context,
        history,
        model,
        writing,
        intent=intent,
        rewrite=options.get("rewrite", True),
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
                yield replace(event, sources=tuple(outcomes), warnings=told)
            elif isinstance(event, Done):
                own = event.answer.warnings
                yield Done(replace(event.answer, sources=tuple(outcomes), warnings=(*own, *told)))
            else:
                yield event


def _writing(options: AskOptions, model: ChatModel | None) -> Writing:
    """Return how the model is prompted; the defaults when there is no model."""
    if model is None:
        return Writing()
    given = WritingOptions(
        prompt=options.get("prompt"),
        temperature=options.get("temperature"),
        max_tokens=options.get("max_tokens"),
    )
    return Writing.of(given, load_settings())


def _turns(history: object) -> list[Turn]:
    """Return the turns of a history. Raises InputError unless it is a sequence of turns of bounded length."""
    if not isinstance(history, Sequence) or isinstance(history, str):
        raise InputError(f"expected the history as a list of turns, got {type(history).__name__}")
    turns = []
    for said in history:
        match said:
            case Turn():
                turn = said
            case {"question": str(asked), "answer": str(answered)}:
                turn = Turn(asked, answered)
            case _:
                raise InputError(
                    "expected trivium.Turn(question, answer), or mappings of question and answer, in the history, got"
                    f" {type(said).__name__}"
                )
        if max(len(turn.question), len(turn.answer)) > MAX_TURN_CHARACTERS:
            raise InputError(
                f"a question or answer of the history may have {MAX_TURN_CHARACTERS:,} characters, got"
                f" {max(len(turn.question), len(turn.answer)):,}"
            )
        turns.append(turn)
    return turns
