"""The state of the server and its store."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from trivium.errors import TriviumError
from trivium.server.errors import ApiError
from trivium.server.health import HealthChecks, Problem
from trivium.server.metrics import CONTENT_TYPE
from trivium.server.schemas import errors
from trivium.server.service import Serving

router = APIRouter(tags=["state"])

_STORE_SECONDS = 2.0
"""How long the metrics wait for the counts of the store. Those of before stay if it takes longer."""


class Health(BaseModel):
    """Whether the process works: `ok`, or `failing` with problems that need a restart."""

    status: Literal["ok", "failing"]
    problems: list[Problem] | None = None


class Readiness(BaseModel):
    """Whether questions can be answered now: the store is open, the embedder is loaded, and the index is current.
    (While documents are being added the index is not current, and questions are answered from the previous state.)
    `problems` lists everything that is wrong, including problems that do not prevent answers.
    """

    ready: bool
    store: bool
    embedder: bool
    index_current: bool
    problem: str | None = Field(description="Why the store, or its last change, cannot be shown.")
    problems: list[Problem]


class SpeechState(BaseModel):
    """Whether `POST /transcribe` and `POST /speak` are available, that is, whether their dependencies are installed."""

    transcribe: bool
    speak: bool
    seconds: float = Field(description="Maximum duration of a spoken question.")


class Stats(BaseModel):
    """Counts of the store, and settings of the server."""

    nodes: dict[str, int]
    relationships: dict[str, int]
    aliases: int
    embedder: str | None
    embedder_version: str | None
    dimension: int | None
    embedded: int
    to_embed: int
    chunker: str | None
    default_fusion: str | None = Field(
        description="The fusion of questions that name none; null if it cannot be used."
    )
    schema_version: int
    model: str | None = Field(description="The default language model; null if passages are quoted.")
    models: list[str] = Field(
        description="Values for `model` of a question, the default first: language models, and `none`, which quotes the"
        " passages."
    )
    collection: str = Field(
        description="Identifies the store; constant as long as its location does not change."
    )
    speech: SpeechState
    waiting: dict[str, int] = Field(description="Number of running and waiting requests, by pool.")


async def _health(request: Request) -> HealthChecks:
    return cast(HealthChecks, request.app.state.health)


Checks = Annotated[HealthChecks, Depends(_health)]
"""Dependency of routes that need the server's health."""


@router.get("/health", responses={503: {"model": Health}}, response_model_exclude_none=True)
async def health(response: Response, checks: Checks) -> Health:
    """Return whether the process works, as far as can be told without waiting; 503 if it needs a restart."""
    problems = checks.fatal()
    if not problems:
        return Health(status="ok")
    response.status_code = 503
    return Health(status="failing", problems=problems)


@router.get("/ready", responses={503: {"model": Readiness}})
async def ready(response: Response, serving: Serving, checks: Checks) -> Readiness:
    """Return whether questions can be answered; 503 if not."""
    collection, processes = serving.collection, serving.processes
    answer = Readiness(
        ready=collection.embedded and (processes is None or processes.ready),
        store=collection.ready,
        embedder=collection.embedded,
        index_current=collection.ready and collection.current,
        problem=collection.problem,
        problems=checks.problems(),
    )
    if not answer.ready:
        response.status_code = 503
    return answer


@router.get("/stats", responses=errors(503))
async def stats(serving: Serving) -> Stats:
    """Return the counts of the store."""
    serving.check_ready()
    collection = serving.collection
    info, fusion = await asyncio.to_thread(lambda: (collection.info, collection.default_fusion))
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
        default_fusion=fusion,
        schema_version=info.schema_version,
        model=None if serving.model is None else serving.model.name,
        models=list(serving.models),
        collection=serving.name,
        speech=SpeechState(
            transcribe=serving.speech.hears, speak=serving.speech.speaks, seconds=serving.speech.seconds
        ),
        waiting={pool.name: pool.taken for pool in serving.pools},
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(serving: Serving) -> Any:
    """Return metrics for Prometheus."""
    collection = serving.collection
    if collection.ready:
        # A store that does not answer must not keep the other metrics from who looks for the reason.
        with suppress(TriviumError, TimeoutError):
            info = asyncio.to_thread(lambda: collection.info)
            serving.metrics.store_counted(await asyncio.wait_for(info, _STORE_SECONDS))
    return Response(serving.metrics.text(), media_type=CONTENT_TYPE)


@router.get("/favicon.ico", include_in_schema=False)
async def favicon() -> None:
    """There is no icon, but browsers request it."""
    raise ApiError(404, "not_found", "there is no icon")
