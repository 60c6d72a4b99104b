"""The kinds of questions to an engine, answered as bytes in a thread of the server or in a separate process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter

from trivium.answering.events import Done
from trivium.engine import Engine
from trivium.errors import StoreChangedError
from trivium.serialization import scale_of
from trivium.server.errors import not_found
from trivium.server.explanation import Explanation, explain
from trivium.server.fields import check_options
from trivium.server.pictures import addresses
from trivium.server.schemas import AskAnswer, AskRequest, ExplainRequest, SearchAnswer, SearchRequest
from trivium.types import SourceOutcome

SCORES = "X-Trivium-Scores"
"""Header of a search response that states the scale of the scores, ``log-odds`` or ``own``."""

_EXPLANATION = TypeAdapter(Explanation)


@dataclass(frozen=True, slots=True)
class Reply:
    """The JSON of an answer, and its headers."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def search(engine: Engine, given: SearchRequest) -> Reply:
    """Search for passages. Raises the errors of :meth:`~trivium.engine.Engine.search`."""
    check_options(engine.searcher, given.views, given.fusion, given.settings, given.sources, given.rerank)
    outcomes: list[SourceOutcome] = []
    warnings: list[str] = []
    hits = engine.search(
        given.question,
        given.k,
        given.views,
        given.fusion,
        explain=given.explain,
        settings=given.settings,
        where=given.where,
        image=given.picture(),
        sources=given.sources,
        on_sources=outcomes.extend,
        recall=given.recall_query,
        rerank=given.rerank,
        cut=given.cut,
        on_warnings=warnings.extend,
    )
    if given.where is not None and not hits:
        warnings += engine.hints(given.where)
    return Reply(_json(SearchAnswer.of(hits, engine.store, warnings, outcomes)), {SCORES: scale_of(hits)})


def explain_passage(engine: Engine, given: ExplainRequest) -> Reply:
    """Explain the rank of a passage. Raises ApiError for an unknown passage."""
    check_options(engine.searcher, given.retrievers, given.fusion, given.settings)
    try:
        engine.store.fetch([given.uri])
    except StoreChangedError as error:
        raise not_found(f"there is no passage {given.uri!r}") from error
    why = explain(
        engine,
        given.question,
        given.uri,
        given.k,
        given.retrievers,
        given.fusion,
        settings=given.settings,
        where=given.where,
        recall=given.recall_query,
    )
    return Reply(_EXPLANATION.dump_json(why))


def quote(engine: Engine, given: AskRequest) -> Reply:
    """Answer with sentences of the passages, without a language model."""
    check_options(
        engine.searcher, given.retrievers, given.fusion, given.settings, given.sources, given.rerank
    )
    events = engine.ask_stream(
        given.question,
        k=given.k,
        history=[turn.turn() for turn in given.history],
        retrievers=given.retrievers,
        fusion=given.fusion,
        settings=given.settings,
        where=given.where,
        intent=given.intent,
        rewrite=given.rewrite,
        sources=given.sources,
        rerank=given.rerank,
        cut=given.cut,
    )
    (answer,) = (event.answer for event in events if isinstance(event, Done))
    return Reply(_json(AskAnswer.of(answer, addresses(engine.store, answer.passages))))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: its request model, and the function that answers it."""

    given: type[BaseModel]
    work: Callable[[Engine, Any], Reply]


KINDS: Mapping[str, Kind] = {
    "search": Kind(SearchRequest, search),
    "explain": Kind(ExplainRequest, explain_passage),
    "quote": Kind(AskRequest, quote),
}


def _json(answer: BaseModel) -> bytes:
    return answer.model_dump_json().encode()
