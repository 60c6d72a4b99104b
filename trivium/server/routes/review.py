"""The review of candidate questions. Present only if the server was started with some."""

from __future__ import annotations

import logging
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request

from trivium.errors import InputError
from trivium.server.errors import ApiError, not_found
from trivium.server.reviewing import ReviewDecision, Reviewing, ReviewOutcome, ReviewState
from trivium.server.schemas import errors

router = APIRouter(tags=["review"])

_log = logging.getLogger(__name__)


def _reviewing(request: Request) -> Reviewing:
    return cast(Reviewing, request.app.state.review)


Review = Annotated[Reviewing, Depends(_reviewing)]


@router.get("/review", responses=errors(409))
def read_review(review: Review) -> ReviewState:
    """Return the candidate questions with their passages, and the progress of the review."""
    try:
        return review.state()
    except InputError as error:
        raise _unreadable(error) from error


@router.post("/review", responses=errors(400, 404, 409, 413, 422))
def decide(given: ReviewDecision, review: Review) -> ReviewOutcome:
    """Accept or reject a question, undo a decision, or change the wording. Saved immediately. Needs a key with the
    scope write.
    """
    try:
        outcome = review.decide(given)
    except InputError as error:
        raise _unreadable(error) from error
    if outcome is None:
        raise not_found("there is no such question to decide on")
    return outcome


def _unreadable(error: InputError) -> ApiError:
    _log.error("the review cannot go on: %s", error)  # the message contains file names, which are not exposed
    return ApiError(
        409, "conflict", "these questions cannot be decided on now: another program may be reviewing them"
    )
