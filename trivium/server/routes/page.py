"""The page for people."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse

router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parent.parent / "page"
"""Its files: all of them are public."""


@router.get("/")
async def index() -> FileResponse:
    """The page; what it shows it asks the API for."""
    return FileResponse(FOLDER / "index.html", headers={"Cache-Control": "no-cache"})
