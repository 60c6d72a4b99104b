"""Pages of the PDF files that documents were read from."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from trivium.engine import Engine
from trivium.errors import ParseError
from trivium.parser.documents.render_pdf_page import MEDIA_TYPE, DrawnPage
from trivium.server.errors import not_found
from trivium.server.original_pages import NoOriginalError, Original, original_of
from trivium.server.routes.documents import known_document
from trivium.server.routes.thumbnails import picture_response
from trivium.server.schemas import errors
from trivium.server.service import Service, Serving, unless_gone

router = APIRouter(tags=["documents"])

PICTURES = "/page-images"

PageNumber = Annotated[int, Query(ge=1, le=100_000, description="The page, from 1.")]


class PageMark(BaseModel):
    """A rectangle on a page, as fractions of its width and height from the upper left corner."""

    left: float
    top: float
    width: float
    height: float


class ShownPage(BaseModel):
    """A page of the file that a document was read from. If it cannot be shown, `image` is null and `reason` explains
    why. `marks` are the rectangles of the passage, one per line.
    """

    page: int
    pages: int | None = Field(description="Number of pages of the document.")
    image: str | None = Field(examples=["/page-images/Annual%20report?page=3"])
    width: float | None = Field(description="In points, like `height`.")
    height: float | None
    marks: list[PageMark]
    reason: str | None


@router.get("/originals/{document:path}", responses=errors(404, 422, 501, 503))
async def read_original(
    document: str,
    request: Request,
    serving: Serving,
    page: PageNumber = 1,
    passage: Annotated[str | None, Query(max_length=4000, description="The uri of a passage on it.")] = None,
) -> ShownPage:
    """Return whether a page of the PDF file of a document can be shown, the address of its picture, and the places of a
    passage on it.
    """
    uri, original = await _original(document, request, serving, page, passage)
    try:
        drawn = await _draw(request, serving, original)
    except NoOriginalError as error:
        return ShownPage(
            page=page, pages=None, image=None, width=None, height=None, marks=[], reason=str(error)
        )
    return ShownPage(
        page=page,
        pages=drawn.pages,
        image=f"{PICTURES}/{quote(uri, safe='')}?page={page}",
        width=drawn.width,
        height=drawn.height,
        marks=[
            PageMark(left=left, top=top, width=width, height=height)
            for left, top, width, height in drawn.marks
        ],
        reason=None,
    )


@router.get(
    PICTURES + "/{document:path}",
    response_class=Response,
    responses={
        200: {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}},
        **errors(404, 422, 501, 503),
    },
)
async def read_page_image(
    document: str,
    request: Request,
    serving: Serving,
    page: PageNumber = 1,
) -> Response:
    """Return a page of the PDF file of a document as a picture, at most 1,600 pixels wide and high."""
    _, original = await _original(document, request, serving, page, None)
    try:
        picture = (await _draw(request, serving, original)).picture
    except NoOriginalError as error:
        raise not_found(str(error)) from error
    return picture_response(picture, MEDIA_TYPE)


async def _original(
    document: str, request: Request, serving: Service, page: int, passage: str | None
) -> tuple[str, Original]:
    def find(engine: Engine) -> tuple[str, Original | None]:
        uri = known_document(engine, document)
        return uri, original_of(engine, uri, page, passage)

    uri, original = await serving.read(request, find)
    if original is None:
        raise not_found(f"{document!r} was not read from a PDF file: only pages of these are shown")
    return uri, original


async def _draw(request: Request, serving: Service, original: Original) -> DrawnPage:
    """Draw a page. Raises NoOriginalError, also when the file cannot be drawn."""
    try:
        return await unless_gone(
            request,
            serving.drawing.run(lambda: serving.originals.draw(original)),
            serving.settings.timeout,
        )
    except ParseError as error:
        raise NoOriginalError(f"The page cannot be shown: {error}.") from error
