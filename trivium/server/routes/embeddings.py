"""Vectors in the form of OpenAI's embeddings, by the embedder of the store."""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from trivium.engine import Engine
from trivium.server.errors import ApiError
from trivium.server.request_fields import Whole
from trivium.server.schemas import errors
from trivium.server.service import Serving

router = APIRouter(prefix="/v1", tags=["openai"])

_TEXTS = list[Annotated[Whole, Field(min_length=1)]]


class EmbeddingsBody(BaseModel):
    """Texts to embed. Everything else that clients send is ignored."""

    input: Annotated[
        _TEXTS,
        Field(min_length=1, max_length=2048),
        BeforeValidator(lambda given: [given] if isinstance(given, str) else given, str | _TEXTS),
    ]
    model: str = Field(description="The store's embedder, see `GET /stats`.", examples=["minilm"])
    encoding_format: Literal["float", "base64"] = Field("float", description="`base64`: of 32-bit floats.")
    dimensions: int | None = Field(None, description="No other number than the vectors have.")


class Embedding(BaseModel):
    """A unit vector. ``index`` is the place of its text."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class Embeddings(BaseModel):
    """The vectors of the texts. Tokens are not counted."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: dict[str, int] = {"prompt_tokens": 0, "total_tokens": 0}


@router.post("/embeddings", response_model=Embeddings, responses=errors(400, 404, 413, 422, 503))
async def embed(given: EmbeddingsBody, request: Request, serving: Serving) -> Response:
    """Embed texts as the passages of the store are, in the form of OpenAI's API."""
    body = await serving.read(request, lambda engine: _embedded(engine, given))
    return Response(body, media_type="application/json")


def _embedded(engine: Engine, given: EmbeddingsBody) -> bytes:
    name, size = engine.embedder.identity.name, engine.embedder.identity.dimension
    if given.model != name:
        message = (
            f"the model {given.model[:100]!r} is not known here: expected {name!r}, the store's embedder"
        )
        raise ApiError(404, "model_not_found", message)
    if given.dimensions not in (None, size):
        raise ApiError(400, "bad_request", f"dimensions: expected {size}, got {given.dimensions}")
    vectors = engine.embedder.embed(given.input)
    floats = given.encoding_format == "float"
    written = [one.tolist() if floats else b64encode(one.astype("<f4").tobytes()).decode() for one in vectors]
    data = [Embedding(index=index, embedding=one) for index, one in enumerate(written)]
    return Embeddings(data=data, model=name).model_dump_json().encode()
