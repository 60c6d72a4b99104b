"""State of the server and its store."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from trivium.server.errors import ApiError
from trivium.server.metrics import CONTENT_TYPE
from trivium.server.schemas import errors
from trivium.server.service import Serving
from trivium.server.wellbeing import Problem, Wellbeing

router = APIRouter(tags=["state"])


class Health(BaseModel):
    """Whether the process does its work: `ok`, or `failing` with what only a restart mends."""

    status: Literal["ok", "failing"]
    problems: list[Problem] | None = None


class Readiness(BaseModel):
    """Whether questions can be answered now: the store is open, the embedder loaded, the index current. (While documents
    are being added it is not, and questions are answered from what was there before.) `problems` is everything that is
    wrong, also what does not keep questions from being answered."""

    ready: bool
    store: bool
    embedder: bool
    index_current: bool
    problem: str | None = Field(description="What keeps the store, or its last change, from being shown.")
    problems: list[Problem]


class SpeechState(BaseModel):
    """Whether `POST /transcribe` and `POST /speak` can be asked: whether what they need is installed."""

    transcribe: bool
    speak: bool
    seconds: float = Field(description="How long a spoken question may last.")


class Stats(BaseModel):
    """What the store holds, and how the server is set."""

    nodes: dict[str, int]
    relationships: dict[str, int]
    aliases: int
    embedder: str | None
    embedder_version: str | None
    dimension: int | None
    embedded: int
    to_embed: int
    chunker: str | None
    schema_version: int
    model: str | None = Field(description="The language model that answers; null where passages are quoted.")
    models: list[str] = Field(
        description="What a question may name as its `model`, the usual one first: language models, and `none`, which"
        " quotes the passages."
    )
    collection: str = Field(
        description="Tells this store from others: the same as long as it stays in its place."
    )
    speech: SpeechState
    review: bool = Field(description="Whether there are candidate questions to review (`GET /review`).")
    waiting: dict[str, int] = Field(description="Requests running and waiting, by pool.")


def _wellbeing(request: Request) -> Wellbeing:
    return cast(Wellbeing, request.app.state.wellbeing)


Watched = Annotated[Wellbeing, Depends(_wellbeing)]
"""A parameter of a route that knows how the server is."""


@router.get("/health", responses={503: {"model": Health}}, response_model_exclude_none=True)
async def health(response: Response, wellbeing: Watched) -> Health:
    """Whether the process does its work, as far as it can tell without waiting; 503 where only a restart helps."""
    problems = wellbeing.fatal()
    if not problems:
        return Health(status="ok")
    response.status_code = 503
    return Health(status="failing", problems=problems)


@router.get("/ready", responses={503: {"model": Readiness}})
async def ready(response: Response, serving: Serving, wellbeing: Watched) -> Readiness:
    """Whether questions can be answered; 503 where not."""
    collection, processes = serving.collection, serving.processes
    answer = Readiness(
        ready=collection.embedded and (processes is None or processes.ready),
        store=collection.ready,
        embedder=collection.embedded,
        index_current=collection.ready and collection.current,
        problem=collection.problem,
        problems=wellbeing.problems(),
    )
    if not answer.ready:
        response.status_code = 503
    return answer


@router.get("/stats", responses=errors(503))
async def stats(serving: Serving) -> Stats:
    """Counts of the store."""
    serving.check_ready()
    info = serving.collection.info
    identity = info.embedder
    return Stats(
        nodes=dict(info.nodes),
        relationships=dict(info.relationships),
        aliases=info.aliases,
        embedder=None if identity is None else identity.name,
        embedder_version=None if identity is None else identity.version,
        dimension=None if identity is None else identity.dimension,
        embedded=info.embedded,
        to_embed=info.to_embed,
        chunker=info.chunker,
        schema_version=info.schema_version,
        model=None if serving.model is None else serving.model.name,
        models=list(serving.models),
        collection=serving.name,
        speech=SpeechState(
            transcribe=serving.speech.hears, speak=serving.speech.speaks, seconds=serving.speech.seconds
        ),
        review=serving.reviews,
        waiting={
            pool.name: pool.taken
            for pool in (serving.searching, serving.answering, serving.speaking, serving.drawing)
        },
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(serving: Serving) -> Any:
    """Metrics for Prometheus."""
    return Response(serving.metrics.text(), media_type=CONTENT_TYPE)


@router.get("/favicon.ico", include_in_schema=False)
async def favicon() -> None:
    """There is none; browsers ask for it."""
    raise ApiError(404, "not_found", "there is no icon")
