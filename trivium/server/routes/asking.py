"""Answers with citations, complete or streamed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, closing
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event
from starlette.responses import Response

from trivium.answering.events import AnswerEvent, Done, Found, Piece
from trivium.common import stopping
from trivium.llm.chat_model import ChatModel
from trivium.search.requests import AskRequest
from trivium.server.errors import as_api_error, busy, error_body
from trivium.server.request_fields import check_options, check_prompt
from trivium.server.schemas import AskAnswer, AskBody, errors
from trivium.server.service import Service, Serving, disconnected, unless_gone
from trivium.server.thumbnail_links import Addresses, addresses, served_hit
from trivium.types import Answer

router = APIRouter(tags=["ask"])

KEEP_ALIVE_SECONDS = 10.0
PING = b": still writing\n\n"

_EVENTS = """Server-sent events with JSON data: `found` {passages, searched_for, recall_query,
intent, sources, warnings} once, `piece` {text} as the answer is written, then `done` with the complete answer (whose
text may differ: citations of passages that were not offered are removed), or `error` {error: {code, message}}."""
_STREAM = {
    "type": "object",
    "description": _EVENTS,
    "required": ["event", "data"],
    "properties": {
        "event": {"type": "string", "enum": ["found", "piece", "done", "error"]},
        "data": {"type": "string", "description": "JSON."},
    },
}


@router.post(
    "/ask",
    response_model=AskAnswer,
    responses={
        200: {"content": {"text/event-stream": {"schema": _STREAM}}},
        **errors(400, 403, 409, 413, 422, 502, 503),
    },
)
async def ask(given: AskBody, request: Request, serving: Serving) -> Any:
    """Answer a question from the collection and cite every statement. Without a language model the answer quotes the
    best-matching sentences.
    """
    if not given.stream:
        return await whole_answer(given, request, serving)
    return event_stream(_events(request, await begin(given, request, serving)))


async def whole_answer(given: AskBody, request: Request, serving: Service) -> AskAnswer | Response:
    """Answer a question. Quotations are a response with the JSON of an :class:`AskAnswer`, which may be that of the cache
    or of another process.
    """
    if serving.quotes(serving.model_named(given.model)):
        given = _checked(given, serving)
        return await serving.answer(request, "quote", given, serving.settings.answer_timeout)
    answering = await begin(given, request, serving)
    answer = await unless_gone(request, answering.whole(), serving.settings.answer_timeout)
    return AskAnswer.of(answer, answering.thumbnails)


async def begin(given: AskBody, request: Request, serving: Service) -> Answering:
    """Check a question as far as possible before it is answered: once a stream has begun the status can no longer be
    changed.
    """
    given = _checked(given, serving)
    answering = Answering(serving, given, serving.model_named(given.model))
    asked = AskRequest(given.question, **given.options())
    await serving.read(request, lambda engine: check_options(engine.searcher, asked))
    await serving.filter(request, given.where, serving.settings.answer_timeout)
    answering.check_place()
    return answering


def _checked(given: AskBody, serving: Service) -> AskBody:
    serving.check_searchable()
    check_prompt(given.prompt)
    return given.model_copy(update={"sources": serving.live.sources_of(given.sources)})


class Answering:
    """One question being answered in a thread, which stops when the client disconnects."""

    def __init__(self, serving: Service, given: AskBody, model: ChatModel | None) -> None:
        self.serving = serving
        self._given = given
        self._model = model
        # Separate pools, so that threads waiting for a language model do not hold up searches, and vice versa.
        self._pool = serving.searching if model is None else serving.answering
        self.thumbnails: Addresses = {}
        """Thumbnails of the passages found, set before the passages are passed on."""

    async def whole(self) -> Answer:
        """Return the complete answer."""
        answers: list[Answer] = []

        def take(event: AnswerEvent) -> None:
            if isinstance(event, Done):
                answers.append(event.answer)

        await self.run(take)
        return answers[0]

    async def run(self, take: Callable[[AnswerEvent], None]) -> None:
        """Pass every event to ``take``, in the thread. Cancelling it stops the thread."""
        await self._pool.run(lambda: self._write(take))

    def check_place(self) -> None:
        """Raise PoolFullError if the queue is full."""
        self._pool.check()

    def _write(self, take: Callable[[AnswerEvent], None]) -> None:
        given = self._given.options()
        # Options not used are not passed, because a custom answerer may not support them.
        used = {
            name: value for name, value in given.items() if value or name not in ("sources", "rerank", "cut")
        }
        with self.serving.collection.reading() as engine:
            events = self.serving.answerer(engine).ask_stream(
                self._given.question, model=self._model, **{**self.serving.writing, **used}
            )
            with closing(events):  # hangs up on sources it has begun to read
                for event in events:
                    stopping.check()
                    if isinstance(event, Found):
                        self.thumbnails = addresses(engine.store, event.passages)
                    take(event)


def event_stream(events: AsyncIterator[bytes] | Iterable[bytes]) -> Response:
    """Return a response of server-sent events."""
    return StreamingResponse(
        events,
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _events(request: Request, answering: Answering) -> AsyncIterator[bytes]:
    try:
        async with aclosing(events_of(request, answering)) as events:
            async for event in events:
                yield PING if event is None else _sse(*_named(event, answering.thumbnails))
    except Exception as error:
        yield _sse("error", _error_of(error))


async def events_of(request: Request, answering: Answering) -> AsyncGenerator[AnswerEvent | None, None]:
    """Yield the events of an answer, and None when none has come for a while. Ends when the client has disconnected.
    Raises what answering raises, and ApiError when it takes too long.
    """
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[AnswerEvent | None] = asyncio.Queue()

    def take(event: AnswerEvent) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    writing = asyncio.ensure_future(answering.run(take))
    writing.add_done_callback(lambda _: events.put_nowait(None))
    gone = asyncio.ensure_future(disconnected(request))
    gone.add_done_callback(lambda _: events.put_nowait(None))
    deadline = loop.time() + answering.serving.settings.answer_timeout
    try:
        while True:
            wait = min(KEEP_ALIVE_SECONDS, deadline - loop.time())
            try:
                event = await asyncio.wait_for(events.get(), max(0.0, wait))
            except TimeoutError:
                if loop.time() < deadline:
                    yield None
                    continue
                raise busy("the answer took too long", "timeout") from None
            if event is None:
                break
            yield event
        if writing.done():
            writing.result()
    finally:
        writing.cancel()
        gone.cancel()


def _named(event: AnswerEvent, thumbnails: Addresses) -> tuple[str, dict[str, Any]]:
    match event:
        case Found():
            return "found", {
                "passages": [served_hit(hit, thumbnails) for hit in event.passages],
                "searched_for": event.searched_for,
                "recall_query": event.recall_query,
                "intent": event.intent,
                "sources": [asdict(outcome) for outcome in event.sources],
                "warnings": list(event.warnings),
            }
        case Piece():
            return "piece", {"text": event.text}
        case Done():
            return "done", AskAnswer.of(event.answer, thumbnails).model_dump()


def _error_of(error: BaseException) -> dict[str, dict[str, str]]:
    answer = as_api_error(error)
    return error_body(answer.code, answer.detail)


def _sse(name: str, data: dict[str, Any]) -> bytes:
    return format_sse_event(event=name, data_str=json.dumps(data, ensure_ascii=True))
