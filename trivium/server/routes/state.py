"""The state of the server and its store."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from trivium.server.health import Problem, problems
from trivium.server.metrics import CONTENT_TYPE
from trivium.server.schemas import errors
from trivium.server.service import Serving
from trivium.speech.protocols import MAX_SECONDS

router = APIRouter(tags=["state"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """Whether questions can be answered now: the store is open, and the embedder is loaded. (While documents are being
    added the index is not current, and questions are answered from the previous state.) `problems` lists everything
    that is wrong, including problems that do not prevent answers.
    """

    ready: bool
    index_current: bool
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


@router.get("/health")
async def health() -> Health:
    """Return that the process answers."""
    return Health()


@router.get("/ready", responses={503: {"model": Readiness}})
async def ready(response: Response, serving: Serving) -> Readiness:
    """Return whether questions can be answered; 503 if not."""
    collection, processes = serving.collection, serving.processes
    answer = Readiness(
        ready=collection.embedded and (processes is None or processes.answering > 0),
        index_current=collection.ready and collection.current,
        problems=problems(serving),
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
        speech=SpeechState(transcribe=serving.speech.hears, speak=serving.speech.speaks, seconds=MAX_SECONDS),
        waiting={pool.name: pool.taken for pool in serving.pools},
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(serving: Serving) -> Any:
    """Return metrics for Prometheus."""
    return Response(serving.metrics.text(), media_type=CONTENT_TYPE)
