"""Receives spoken questions into memory, limiting their number."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import Request

from trivium.server.errors import ApiError, busy
from trivium.server.forms import FormReader
from trivium.server.uploads import content_type_of, pieces_of
from trivium.types import MetadataValue

MAX_AT_ONCE = 8
"""Spoken questions received, waiting or being transcribed at once. Each is held in memory."""
_FORM = "multipart/form-data"
_RAW = ("audio/", "video/", "application/octet-stream", "application/ogg")
"""Content types accepted for a body that is the file itself. Browsers label recordings as audio/webm or video/webm."""


class AudioReceiver:
    """Receives spoken questions. Belongs to one event loop."""

    def __init__(self) -> None:
        self._held = 0

    @asynccontextmanager
    async def receive(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the only file of a form, or the body, and count it against the limit until the block ends. Its size
        and time have been limited before (:mod:`trivium.server.request_checks`). Raises ApiError for any other content
        and when too many are being received, and ClientGoneError.
        """
        kind = content_type_of(request)
        if kind != _FORM and not kind.startswith(_RAW):
            raise ApiError(
                415,
                "unsupported_media_type",
                f"expected audio (such as audio/wav or audio/webm) or a form with one file, got"
                f" {kind[:100] or 'no content type'}",
            )
        if self._held >= MAX_AT_ONCE:
            raise busy("more spoken questions are waiting than can be heard soon", close=True)
        self._held += 1
        try:
            yield await (_file_of_form(request) if kind == _FORM else _body(request))
        finally:
            self._held -= 1


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for piece in pieces_of(request):
        content += piece
    return bytes(content)


async def _file_of_form(request: Request) -> bytes:
    file = _File()
    form = FormReader(request.headers["content-type"], file)
    async for piece in pieces_of(request):
        form.write(piece)
    form.finish()
    return bytes(file.content)


class _File:
    """The only file of a form."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.content = bytearray()

    def begin_file(self, name: str) -> None:
        if self.names:
            raise ApiError(422, "invalid", "expected one file of audio, got more")
        self.names.append(name)

    def write(self, piece: bytes) -> None:
        self.content += piece

    def end_file(self) -> None:
        pass

    def add_metadata(self, metadata: Mapping[str, MetadataValue | None]) -> None:
        pass  # a metadata field is ignored like any other

    def set_language(self, language: str) -> None:
        pass
