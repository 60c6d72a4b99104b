"""Ranked passages, and explanations of their ranks."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from trivium.server.explanation import Explanation
from trivium.server.question_kinds import SCORES
from trivium.server.schemas import ExplainBody, SearchAnswer, SearchBody, errors
from trivium.server.service import Serving

router = APIRouter(tags=["search"])


@router.post(
    "/search",
    response_model=SearchAnswer,
    responses={
        200: {
            "headers": {
                SCORES: {
                    "description": "Scale of the scores: `log-odds` (0: as likely relevant as not), or `own` of the"
                    " fusion or retriever.",
                    "schema": {"type": "string", "enum": ["log-odds", "own"]},
                },
            }
        },
        **errors(400, 403, 409, 413, 422, 503),
    },
)
async def search(given: SearchBody, request: Request, serving: Serving) -> Response:
    """Return the best passages for a question, best first."""
    serving.check_searchable(given.views)
    given = given.model_copy(update={"sources": serving.live.sources_of(given.sources)})
    return await serving.answer(request, "search", given)


@router.post("/explain", response_model=Explanation, responses=errors(400, 404, 409, 413, 422, 503))
async def explain_passage(given: ExplainBody, request: Request, serving: Serving) -> Response:
    """Explain the rank of a passage in a search: the contribution of each retriever, its rank in each of them, and the
    path through the graph that led to it.
    """
    serving.check_searchable(given.retrievers)
    return await serving.answer(request, "explain", given)
