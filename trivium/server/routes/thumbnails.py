"""Thumbnails of picture passages."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from trivium.engine import Engine
from trivium.server.errors import not_found
from trivium.server.schemas import errors
from trivium.server.service import Serving
from trivium.server.thumbnail_links import MEDIA_TYPE, PATH

router = APIRouter(tags=["documents"])


@router.get(
    PATH + "/{uri:path}",
    response_class=Response,
    responses={
        200: {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}},
        **errors(404, 422, 503),
    },
)
async def read_thumbnail(uri: str, request: Request, serving: Serving) -> Response:
    """Return the thumbnail of a passage of kind `image`, at most 320 pixels wide and high, by the uri of the passage."""

    def work(engine: Engine) -> bytes:
        for picture in engine.store.thumbnails([uri]).values():
            return picture
        raise not_found(f"there is no passage {uri!r} with a thumbnail")

    return picture_response(await serving.read(request, work), MEDIA_TYPE)


def picture_response(picture: bytes, media_type: str) -> Response:
    """Return a picture. Whatever a document contained, browsers treat this as a picture: the type is fixed, and every
    response is ``nosniff``. They keep none: another one may come to have the same uri, and documents may require a key.
    """
    return Response(picture, media_type=media_type, headers={"Cache-Control": "no-store"})
