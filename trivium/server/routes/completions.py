"""Answers in the form of OpenAI's chat completions, so that any client of that API can chat with a store."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.sse import format_sse_event
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from trivium.answering.answer_layout import UNSUPPORTED
from trivium.answering.citation_marks import uncited, without_marks
from trivium.answering.events import Done, Piece
from trivium.graph.schema import headings_of
from trivium.server.errors import ApiError, as_api_error, openai_body
from trivium.server.logs import request_id
from trivium.server.request_fields import MAX_QUESTION_CHARACTERS
from trivium.server.routes.asking import PING, Answering, begin, event_stream, events_of, whole_answer
from trivium.server.schemas import MAX_ANSWER_CHARACTERS, MAX_TURNS, AskAnswer, AskBody, errors
from trivium.server.service import Serving
from trivium.server.thumbnail_links import ServedCitation

router = APIRouter(prefix="/v1", tags=["openai"])

MODEL = "trivium"
"""The name of the only model: the store, answered by the server's default language model, or quoted."""
_MARK = re.compile(r"^(`{3,})[^`\n]*$.*?(?:^\1$|\Z)|\[(\d{1,9})\]", re.MULTILINE | re.DOTALL)
"""A block of code, which has no citations, or a citation."""


class Message(BaseModel):
    """A message of the conversation. Only those of `user` and `assistant` are read, and only their text."""

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """All of its text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(part["text"]) for part in self.content or () if part.get("text"))


class ChatBody(BaseModel):
    """A conversation whose last message is the question. Everything else that clients send is ignored: what a model may
    do is decided by the server.
    """

    messages: list[Message] = Field(min_length=1)
    model: str = Field(MODEL, description="`trivium`; nothing else is known here.")
    stream: bool | None = None
    stream_options: dict[str, Any] | None = Field(None, description="`include_usage`")

    def asked(self) -> AskBody:
        """Return the question with the turns before it, the last of them, and cut where they are longer than turns may
        be. Raises ApiError and RequestValidationError.
        """
        *before, last = self.messages
        if last.role != "user":
            message = f"messages: expected one of the role user at the end, got {last.role[:100]!r}"
            raise ApiError(400, "bad_request", message)
        history: list[dict[str, str]] = []
        question = ""
        for said in before:
            if said.role == "user":
                question = said.text.strip()[:MAX_QUESTION_CHARACTERS]
            elif said.role == "assistant" and question:
                history.append({"question": question, "answer": said.text[:MAX_ANSWER_CHARACTERS]})
                question = ""
        try:
            return AskBody.model_validate({"question": last.text, "history": history[-MAX_TURNS:]})
        except ValidationError as error:
            raise RequestValidationError([{**one, "loc": ("messages",)} for one in error.errors()]) from error


@router.get("/models")
async def list_models() -> dict[str, Any]:
    """Return the only model, the store, in the form of OpenAI's API."""
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}
    return {"object": "list", "data": [model]}


@router.post(
    "/chat/completions",
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        **errors(400, 403, 404, 409, 413, 422, 502, 503),
    },
)
async def complete(given: ChatBody, request: Request, serving: Serving) -> Any:
    """Answer the last message from the collection, in the form of OpenAI's API: complete, or in chunks. The content is
    Markdown. Its citations are annotations (`url_citation`), of which `start_index` to `end_index` (exclusive) are the
    characters of a mark like `[1]`; a stream has them once, after the text.
    """
    if given.model != MODEL:
        message = f"the model {given.model[:100]!r} is not known here: expected {MODEL!r}"
        raise ApiError(404, "model_not_found", message)
    asked, reply = given.asked(), _Reply(request, given)
    if given.stream and not serving.quotes(serving.model):
        return event_stream(_written(request, await begin(asked, request, serving), reply))
    whole = await whole_answer(asked, request, serving)
    answer = AskAnswer.model_validate_json(bytes(whole.body)) if isinstance(whole, Response) else whole
    if given.stream:
        return event_stream([reply.first(), *reply.last(answer, "", _content(answer))])
    return reply.whole(answer)


class _Reply:
    """A completion, or its chunks."""

    def __init__(self, request: Request, given: ChatBody) -> None:
        self._base = str(request.base_url)
        self._head = {"id": f"chatcmpl-{request_id.get()}", "created": int(time.time()), "model": MODEL}
        self._with_usage = (given.stream_options or {}).get("include_usage")

    def whole(self, answer: AskAnswer) -> dict[str, Any]:
        content = _content(answer)
        cited = cited_in(content, answer.citations, self._base)
        message = {"role": "assistant", "content": content, "annotations": cited}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": _usage(answer)}

    def first(self) -> bytes:
        return self.chunk(role="assistant", content="")

    def chunk(self, finish_reason: str | None = None, **delta: Any) -> bytes:
        return self._chunk(choices=[{"index": 0, "delta": delta, "finish_reason": finish_reason}])

    def last(self, answer: AskAnswer, sent: str, rest: str) -> Iterator[bytes]:
        """Yield the rest of a text of which some was ``sent``, and the citations of all of it."""
        yield self.chunk(content=rest, annotations=cited_in(sent + rest, answer.citations, self._base))
        yield self.chunk("stop")
        if self._with_usage:
            yield self._chunk(choices=[], usage=_usage(answer))
        yield b"data: [DONE]\n\n"

    def _chunk(self, **fields: Any) -> bytes:
        return _data({**self._head, "object": "chat.completion.chunk", **fields})


async def _written(request: Request, answering: Answering, reply: _Reply) -> AsyncIterator[bytes]:
    sent = ""
    yield reply.first()
    try:
        async with aclosing(events_of(request, answering)) as events:
            async for event in events:
                match event:
                    case None:
                        yield PING
                    case Piece():
                        sent += event.text
                        yield reply.chunk(content=event.text)
                    case Done():
                        answer = AskAnswer.of(event.answer, {})
                        for chunk in reply.last(answer, sent, _rest(sent, answer)):
                            yield chunk
    except Exception as error:
        yield _data(openai_body(as_api_error(error)))


def _data(body: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(body, ensure_ascii=True))


def _usage(answer: AskAnswer) -> dict[str, int]:
    return {**asdict(answer.usage), "total_tokens": answer.usage.total}


def _content(answer: AskAnswer) -> str:
    """Return the answer as Markdown, and below it what other documents say instead."""
    return "\n\n".join([answer.markdown, *(f"> {uncited(str(other))}" for other in answer.disagreements)])


def _rest(sent: str, answer: AskAnswer) -> str:
    """Return what follows the text that a stream has sent: what is not in the documents; or, if something else is the
    answer after all, that.
    """
    if not sent.strip():
        return _content(answer)
    if not sent.strip().startswith(answer.answer.strip()):
        warned = "".join(f"*({warning})*\n\n" for warning in answer.warnings)
        return f"\n\n---\n\n{warned}{_content(answer)}"
    unsupported = [
        " ".join(without_marks(answer.answer[said.start : said.end]).split())
        for said in answer.statements
        if answer.form is None and not said.supported
    ]
    return f"\n\n*({UNSUPPORTED}: {' '.join(unsupported)})*" if unsupported else ""


def cited_in(content: str, citations: Sequence[ServedCitation], base: str) -> list[dict[str, Any]]:
    """Return the citations of a text, one for each mark of a passage in ``citations``. Links lead to the web page that a
    passage is from, or to the passage on the page of the server, whose address is ``base``.
    """
    by_number = {citation["number"]: citation for citation in citations}
    marks = [mark for mark in _MARK.finditer(content) if mark[2] and int(mark[2]) in by_number]
    return [_annotation(mark, by_number[int(mark[2])], base) for mark in marks]


def _annotation(mark: re.Match[str], citation: ServedCitation, base: str) -> dict[str, Any]:
    live, document = citation["live"], citation["document"]
    if live is not None:
        address = live["address"]
    elif document.startswith(("https://", "http://")):
        address = document
    else:
        address = f"{base}#source={quote(citation['uri'], safe='')}"
    cited = {"url": address, "title": " > ".join(headings_of(citation["section"]))}
    return {
        "type": "url_citation",
        "url_citation": {**cited, "start_index": mark.start(), "end_index": mark.end()},
    }
