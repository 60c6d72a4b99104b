"""What readers think of answers, kept beside the store as a file of questions."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field

from trivium.engine import Engine
from trivium.errors import StoreChangedError
from trivium.server.errors import ApiError, not_found
from trivium.server.request_fields import QuestionText, Uri, Whole
from trivium.server.schemas import Given, errors
from trivium.server.service import Serving

router = APIRouter(tags=["ask"])


class Feedback(Given):
    """What a reader thinks of an answer."""

    question: QuestionText = Field(description="The question that was searched for.")
    good: bool
    reason: Annotated[Whole, Field(max_length=1000)] = ""
    passages: list[Uri] = Field(max_length=30, description="The passages (chunks) that the answer cites.")


@router.post("/feedback", status_code=204, responses=errors(400, 404, 413, 422, 503))
async def keep_feedback(given: Feedback, request: Request, serving: Serving) -> None:
    """Keep what a reader thinks of an answer, of a good one with its passages as gold, as `trivium evaluate` takes it."""

    def work(engine: Engine) -> None:
        try:
            chunks = engine.store.fetch(given.passages if given.good else [])
        except StoreChangedError:
            raise not_found("a passage: it is none of the collection, or was replaced") from None
        gold = [{"title": chunk.page, "text": chunk.body} for chunk in chunks]
        row = given.model_dump() | ({"gold_passages": gold} if gold else {})
        try:
            with serving.feedback.open("ab", buffering=0) as file:
                file.write(f"{json.dumps(row)}\n".encode())
        except OSError as error:
            raise ApiError(503, "read_only", f"the opinion could not be kept: {error.strerror}") from error

    await serving.read(request, work)
