"""Thumbnails of picture passages."""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from trivium.engine import Engine
from trivium.server.errors import not_found
from trivium.server.pictures import MEDIA_TYPE, PATH
from trivium.server.schemas import errors
from trivium.server.service import Serving

router = APIRouter(tags=["documents"])

_CACHE = "private, no-cache"
"""Browsers must revalidate the picture: another one may come to have the same uri, and documents may require a key."""


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

    return picture_response(await serving.read(request, work), MEDIA_TYPE, if_none_match)


def picture_response(picture: bytes, media_type: str, if_none_match: str | None) -> Response:
    """Return a picture, or 304 if the client has it. Whatever a document contained, browsers treat this as a picture:
    the type is fixed, and every response is ``nosniff``.
    """
    tag = f'"{blake2b(picture, digest_size=16).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": _CACHE}
    if if_none_match is not None and _names_tag(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(picture, media_type=media_type, headers=headers)


def _names_tag(if_none_match: str, tag: str) -> bool:
    """Whether an ``If-None-Match`` header matches a tag. Weak comparison is used because proxies weaken tags.

    >>> _names_tag('"a", W/"b"', '"b"'), _names_tag("*", '"b"'), _names_tag('"a"', '"b"')
    (True, True, False)
    """
    named = [part.strip().removeprefix("W/") for part in if_none_match.split(",")]
    return "*" in named or tag in named
