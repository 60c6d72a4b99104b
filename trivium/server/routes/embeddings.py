"""Vectors in the form of OpenAI's embeddings, by the embedder of the store."""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Request
from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from trivium.embedding.embedder import Embedder
from trivium.server.errors import ApiError
from trivium.server.request_fields import Whole
from trivium.server.schemas import errors
from trivium.server.service import Serving

router = APIRouter(prefix="/v1", tags=["openai"])

_TEXTS = list[Annotated[Whole, Field(min_length=1)]]
_as_list = BeforeValidator(lambda given: [given] if isinstance(given, str) else given, str | _TEXTS)


class EmbeddingsBody(BaseModel):
    """Texts to embed. Everything else that clients send is ignored."""

    input: Annotated[_TEXTS, Field(min_length=1, max_length=2048), _as_list]
    model: str = Field(description="The store's embedder, see `GET /stats`.", examples=["minilm"])
    encoding_format: Literal["float", "base64"] = Field("float", description="`base64`: of 32-bit floats.")
    dimensions: int | None = Field(None, description="No other number than the vectors have.")


@router.post("/embeddings", responses=errors(400, 404, 413, 422, 503))
async def embed(given: EmbeddingsBody, request: Request, serving: Serving) -> Any:
    """Embed texts as the store's passages are, as unit vectors in the form of OpenAI's API. Tokens are not counted."""
    body = await serving.read(request, lambda engine: _embedded(engine.embedder, given))
    return Response(body, media_type="application/json")


def _embedded(embedder: Embedder, given: EmbeddingsBody) -> bytes:
    name, size = embedder.identity.name, embedder.identity.dimension
    if given.model != name:
        raise ApiError(404, "model_not_found", f"unknown model {given.model[:100]!r}: expected {name!r}")
    if given.dimensions not in (None, size):
        raise ApiError(400, "bad_request", f"dimensions: expected {size}, got {given.dimensions}")
    vectors: list[Any] = list(embedder.embed(given.input))
    if given.encoding_format == "base64":
        vectors = [b64encode(vector.astype("<f4").tobytes()).decode() for vector in vectors]
    data = [{"object": "embedding", "index": place, "embedding": one} for place, one in enumerate(vectors)]
    body = {"object": "list", "data": data, "model": name, "usage": {"prompt_tokens": 0, "total_tokens": 0}}
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
