"""Documents of a request, kept in temporary files until they are loaded."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, TypeVar

from fastapi import Request
from pydantic import BaseModel, Field, ValidationError
from starlette.datastructures import UploadFile

from trivium.parser.sources.base import clean_text
from trivium.server.errors import ApiError
from trivium.server.schemas import Given, Record, Records

T = TypeVar("T", bound=BaseModel)

MAX_FILES = 500
_MAX_FIELDS = 10
_MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Upload:
    """Files in a folder of their own. ``names``: the names they were uploaded under, by path."""

    folder: Path
    names: dict[str, str]

    @property
    def paths(self) -> list[str]:
        """The files, in the order they came."""
        return list(self.names)

    def discard(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder, ignore_errors=True)


class _Text(Given):
    text: str = Field(min_length=1)


async def receive_documents(request: Request) -> Upload:
    """The files of a form, or records. Raises ApiError where there are none, or something else came."""
    kind = _content_type(request)
    if kind == "multipart/form-data":
        return await _receive_form(request)
    if kind == "application/json":
        given = await _parsed(request, Records)
        return await asyncio.to_thread(_save_records, given.records)
    raise _unsupported(kind, "multipart/form-data with files, or application/json with records")


async def receive_one(request: Request, title: str) -> Upload:
    """The HTML or text of the document of that title. Raises ApiError where something else came."""
    kind = _content_type(request)
    if kind == "text/html":
        body = await request.body()
        return await asyncio.to_thread(_save, [(title, body)])
    if kind == "application/json":
        given = await _parsed(request, _Text)
        return await asyncio.to_thread(_save_records, [Record(title=title, text=given.text)])
    raise _unsupported(kind, "text/html, or application/json with text")


async def _receive_form(request: Request) -> Upload:
    async with request.form(max_files=MAX_FILES, max_fields=_MAX_FIELDS) as form:
        files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
        if not files:
            raise ApiError(422, "invalid", "files: expected at least one file, got none")
        named = [(_file_name(file.filename, n), file.file) for n, file in enumerate(files, start=1)]
        return await asyncio.to_thread(_save, named)


def _save(named: Iterable[tuple[str, bytes | BinaryIO]]) -> Upload:
    """Save files under numbers: names that were sent never become paths."""
    folder = Path(tempfile.mkdtemp(prefix="trivium-upload-"))
    upload = Upload(folder, {})
    try:
        for number, (name, content) in enumerate(named):
            path = folder / str(number)
            with path.open("wb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    shutil.copyfileobj(content, file)
            upload.names[str(path)] = name
    except BaseException:
        upload.discard()
        raise
    return upload


def _save_records(records: Iterable[Record]) -> Upload:
    lines = [json.dumps({"title": record.title, "text": record.text}) for record in records]
    return _save([("records.jsonl", "\n".join(lines).encode("ascii"))])


async def _parsed(request: Request, model: type[T]) -> T:
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        message = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}" for fault in faults[:5]
        )
        malformed = any(fault["type"] == "json_invalid" for fault in faults)
        if malformed:
            raise ApiError(400, "malformed", f"the body is not JSON: {message}") from None
        raise ApiError(422, "invalid", message) from None


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _unsupported(kind: str, expected: str) -> ApiError:
    return ApiError(
        415, "unsupported_media_type", f"expected {expected}, got {kind[:100] or 'no content type'}"
    )


def _file_name(given: str | None, number: int) -> str:
    """The last part of a name as some browser's system writes it, printable."""
    name = clean_text(PureWindowsPath(PurePosixPath(given or "").name).name).strip()
    return name[:_MAX_NAME_CHARACTERS] or f"document {number}"
