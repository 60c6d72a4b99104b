"""The kinds of questions to an engine, answered as bytes in a thread of the server or in a separate process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter

from trivium.answering.events import Done
from trivium.engine import Engine
from trivium.errors import StoreChangedError
from trivium.search.answers import answer_stream
from trivium.search.requests import AskRequest
from trivium.serialization import scale_of
from trivium.server.errors import not_found
from trivium.server.explanation import Explanation, explain
from trivium.server.request_fields import check_options
from trivium.server.schemas import AskAnswer, AskBody, ExplainBody, SearchAnswer, SearchBody
from trivium.server.thumbnail_links import addresses
from trivium.types import SourceOutcome

SCORES = "X-Trivium-Scores"
"""Header of a search response that states the scale of the scores, ``log-odds`` or ``own``."""

_EXPLANATION = TypeAdapter(Explanation)


@dataclass(frozen=True, slots=True)
class Reply:
    """The JSON of an answer, and its headers."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def search(engine: Engine, given: SearchBody) -> Reply:
    """Search for passages. Raises the errors of :meth:`~trivium.engine.Engine.search`."""
    outcomes: list[SourceOutcome] = []
    warnings: list[str] = []
    request = given.request(on_sources=outcomes.extend, on_warnings=warnings.extend)
    check_options(engine.searcher, request)
    hits = engine.searcher.search(request)
    if given.where is not None and not hits:
        warnings += engine.hints(given.where)
    return Reply(_json(SearchAnswer.of(hits, engine.store, warnings, outcomes)), {SCORES: scale_of(hits)})


def explain_passage(engine: Engine, given: ExplainBody) -> Reply:
    """Explain the rank of a passage. Raises ApiError for an unknown passage."""
    request = given.request()
    check_options(engine.searcher, request)
    try:
        engine.store.fetch([given.uri])
    except StoreChangedError as error:
        raise not_found(f"there is no passage {given.uri!r}") from error
    return Reply(_EXPLANATION.dump_json(explain(engine, request, given.uri)))


def quote(engine: Engine, given: AskBody) -> Reply:
    """Answer with sentences of the passages, without a language model."""
    request = AskRequest(given.question, **given.options())
    check_options(engine.searcher, request)
    events = answer_stream(engine.searcher, request)
    (answer,) = (event.answer for event in events if isinstance(event, Done))
    return Reply(_json(AskAnswer.of(answer, addresses(engine.store, answer.passages))))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: its request model, and the function that answers it."""

    given: type[BaseModel]
    work: Callable[[Engine, Any], Reply]


KINDS: Mapping[str, Kind] = {
    "search": Kind(SearchBody, search),
    "explain": Kind(ExplainBody, explain_passage),
    "quote": Kind(AskBody, quote),
}


def _json(answer: BaseModel) -> bytes:
    return answer.model_dump_json().encode()
