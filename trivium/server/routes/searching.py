"""Ranked passages, and why they stand where they do."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from trivium.errors import StoreChangedError
from trivium.server.engine import ServingEngine
from trivium.server.errors import not_found
from trivium.server.explanation import Explanation, explain
from trivium.server.schemas import ExplainRequest, SearchAnswer, SearchRequest, errors
from trivium.server.service import Serving
from trivium.types import Hit

router = APIRouter(tags=["search"])

SCORES = "X-Trivium-Scores"
IDLE = "X-Trivium-Idle"
"""The header that says what the scores of a search are: ``log-odds`` or ``own``."""


@router.post(
    "/search",
    responses={
        200: {
            "headers": {
                SCORES: {
                    "description": "`log-odds` (0: as likely right as wrong), or `own` of the fusion or retriever.",
                    "schema": {"type": "string", "enum": ["log-odds", "own"]},
                },
                IDLE: {
                    "description": "What a view contributes that tells nothing: more speaks for a passage.",
                    "schema": {"type": "number"},
                },
            }
        },
        **errors(400, 409, 422, 503),
    },
)
async def search(
    given: SearchRequest, request: Request, response: Response, serving: Serving
) -> SearchAnswer:
    """The best passages for a question, best first."""
    serving.check_searchable()

    def work(engine: ServingEngine) -> tuple[list[Hit], bool]:
        hits = engine.search(given.question, given.k, given.retrievers, given.fusion, given.explain)
        return hits, engine.gives_log_odds(given.retrievers, given.fusion)

    hits, log_odds = await serving.read(request, work)
    response.headers[SCORES] = "log-odds" if log_odds else "own"
    response.headers[IDLE] = str(hits[0].idle if hits else 0.0)
    return SearchAnswer(hits=tuple(hits))


@router.post("/explain", responses=errors(400, 404, 409, 422, 503))
async def explain_passage(given: ExplainRequest, request: Request, serving: Serving) -> Explanation:
    """Why a passage stands where it does in a search: what each retriever contributed, its rank in each view, and the way
    through the graph that led to it."""
    serving.check_searchable()

    def work(engine: ServingEngine) -> Explanation:
        try:
            engine.store.fetch([given.uri])
        except StoreChangedError as error:
            raise not_found(f"there is no passage {given.uri!r}") from error
        return explain(engine, given.question, given.uri, given.k, given.retrievers, given.fusion)

    return await serving.read(request, work)
