"""Thumbnails of picture passages."""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from trivium.engine import Engine
from trivium.server.errors import not_found
from trivium.server.pictures import CACHE, MEDIA_TYPE, PATH, names_tag
from trivium.server.schemas import errors
from trivium.server.service import Serving

router = APIRouter(tags=["documents"])


@router.get(
    PATH + "/{uri:path}",
    response_class=Response,
    responses={
        200: {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}},
        304: {"description": "Unchanged: it matches `If-None-Match`."},
        **errors(404, 422, 503),
    },
)
async def read_thumbnail(
    uri: str,
    request: Request,
    serving: Serving,
    if_none_match: Annotated[str | None, Header(max_length=1000)] = None,
) -> Response:
    """Return the thumbnail of a passage of kind `image`, at most 320 pixels wide and high, by the uri of the passage."""

    def work(engine: Engine) -> bytes:
        for picture in engine.store.thumbnails([uri]).values():
            return picture
        raise not_found(f"there is no passage {uri!r} with a thumbnail")

    picture = await serving.read(request, work)
    tag = f'"{blake2b(picture, digest_size=16).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": CACHE}
    if if_none_match is not None and names_tag(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    # Whatever a document contained, browsers treat this as a picture: the type is fixed, and every response is
    # `nosniff`.
    return Response(picture, media_type=MEDIA_TYPE, headers=headers)
