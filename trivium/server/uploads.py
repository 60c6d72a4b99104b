"""Streams the documents of requests to disk, limiting their number and size."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, TypeVar

from fastapi import Request
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from trivium.common.files import folder_to_disk, is_full_disk, to_disk
from trivium.parser.sources.source import clean_text
from trivium.server.errors import ApiError, ClientGoneError, busy, disk_full
from trivium.server.forms import FormReader
from trivium.server.job_table import Change, Kind, NoJobsError
from trivium.server.jobs import Jobs
from trivium.server.jobs_folder import Spool
from trivium.server.schemas import Record, Records
from trivium.text.languages import check_language
from trivium.text.normalise import plain
from trivium.types import MetadataValue

R = TypeVar("R")

MAX_AT_ONCE = 8
"""Maximum number of uploads received at once."""
MAX_JSON_BYTES = 8 << 20
"""Maximum size of a JSON upload; parsed, it may take fifty times as much memory. The files of a form are not parsed
here.
"""
_MAX_NAME_CHARACTERS = 200
METADATA = "metadata.json"
"""File in the folder of an upload that contains the metadata given for the documents."""
LANGUAGE = "language"
"""File in the folder of an upload that contains the language code of the documents."""
_FORM = {
    "multipart/form-data": "multipart/form-data with files",
    "application/json": "application/json with records",
}


class Upload:
    """Files in the folder of the job that will load them. They are numbered, so names sent by clients never become
    paths.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.names: list[str] = []
        """The names of the files, in the order received."""
        self.size = 0
        """Total size in bytes."""
        self.taken = False
        """Whether a job has taken over the files."""
        self._file: BinaryIO | None = None
        folder.mkdir(mode=0o700)

    @property
    def identifier(self) -> str:
        """The id of the job."""
        return self._folder.name

    @property
    def body(self) -> Path:
        """Path of a body that is not a form."""
        return self._folder / "body"

    def begin_file(self, name: str) -> None:
        """Begin a new file."""
        self._file = (self._folder / str(len(self.names))).open("xb")
        self.names.append(_file_name(name, len(self.names) + 1))

    def write(self, piece: bytes) -> None:
        """Append to the current file."""
        assert self._file is not None
        self._file.write(piece)
        self.size += len(piece)

    def end_file(self) -> None:
        """Finish the current file. It is durable when this returns."""
        assert self._file is not None
        to_disk(self._file)
        self.close()

    def close(self) -> None:
        """Close a file that was begun."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def add_file(self, name: str, content: bytes) -> None:
        """Add a complete file."""
        self.begin_file(name)
        self.write(content)
        self.end_file()

    def add_metadata(self, metadata: Mapping[str, MetadataValue | None]) -> None:
        """Set metadata for all files."""
        self._say(METADATA, json.dumps(dict(metadata), sort_keys=True).encode("ascii"))

    def set_language(self, language: str) -> None:
        """Set the language of all files. Raises InputError for an unknown one."""
        self._say(LANGUAGE, check_language(language).encode("ascii"))

    def _say(self, name: str, content: bytes) -> None:
        with (self._folder / name).open("wb") as file:
            file.write(content)
            to_disk(file)

    def add_records(self, records: list[Record]) -> None:
        """Add records as one file."""
        # The own keys last: metadata called "text" is not the text.
        lines = [
            json.dumps({**(record.meta or {}), "title": record.title, "text": record.text})
            for record in records
        ]
        self.add_file("records.jsonl", "\n".join(lines).encode("ascii"))

    def keep(self) -> None:
        """Make the folder and its entries durable."""
        folder_to_disk(self._folder)
        folder_to_disk(self._folder.parent)

    def change(self, kind: Kind, uri: str | None = None) -> Change:
        """Create the change that loads the files."""
        return Change(self.identifier, kind, uri, tuple(self.names), self.size)


class Uploads:
    """Receives the documents of requests. Belongs to one event loop."""

    def __init__(self, spool: Spool, jobs: Jobs, limit: int) -> None:
        """``limit`` is the maximum number of bytes of all uploads being received, waiting or processed."""
        self._spool = spool
        self._jobs = jobs
        self._limit = limit
        self._receiving = 0
        self._reserved = 0
        self._parsing = asyncio.Semaphore(1)  # parsed JSON takes a multiple of its size

    @asynccontextmanager
    async def receive(self, request: Request) -> AsyncIterator[Upload]:
        """Receive the documents of a request: the files of a form, or records.

        The files are durable, and are removed when the block ends unless a job has ``taken`` them. Raises ApiError when
        there are none, or for unexpected or too much content.
        """
        kind = content_type_of(request)
        if kind not in _FORM:
            raise ApiError(
                415,
                "unsupported_media_type",
                f"expected {' or '.join(_FORM.values())}, got {kind[:100] or 'no content type'}",
            )
        with self._place():
            queued = await asyncio.to_thread(self._queued)
            with self._reserving(queued) as reserve, _full_disk_is_told():
                length = request.headers.get("content-length", "")
                reserve(int(length[:20]) if length.isdecimal() else 0)
                upload = Upload(self._spool.upload(Change.new_id()))
                try:
                    await self._save(request, kind, upload, reserve)
                    await settled(upload.keep)
                    yield upload
                finally:
                    upload.close()
                    if not upload.taken:
                        self._spool.discard(upload.identifier)

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self._receiving >= MAX_AT_ONCE:
            raise busy("as many uploads as can be received at once are being received", close=True)
        self._receiving += 1
        try:
            yield
        finally:
            self._receiving -= 1

    def _queued(self) -> int:
        """Return the bytes of the queued jobs. Raises ApiError if no further job would be accepted, before its
        documents are sent.
        """
        if not self._jobs.open():
            raise NoJobsError
        if self._jobs.full:
            raise busy("more changes are waiting than can be made soon", close=True)
        return self._jobs.size

    @contextmanager
    def _reserving(self, queued: int) -> Iterator[Callable[[int], None]]:
        """Reserve space for one upload beside the bytes already ``queued``. The yielded function is called with the
        size received so far.
        """
        taken = 0

        def reserve(size: int) -> None:
            nonlocal taken
            more = max(0, size - taken)
            if queued + self._reserved + more > self._limit:
                raise busy("more documents wait than there is room for", close=True)
            taken += more
            self._reserved += more

        try:
            yield reserve
        finally:
            self._reserved -= taken

    async def _save(
        self,
        request: Request,
        kind: str,
        upload: Upload,
        reserve: Callable[[int], None],
    ) -> None:
        read = 0
        if kind == "multipart/form-data":
            form = FormReader(request.headers["content-type"], upload)
            async for piece in pieces_of(request):
                read += len(piece)
                reserve(read)
                await settled(lambda piece=piece: form.write(piece))  # type: ignore[misc]
            form.finish()
            return
        with upload.body.open("xb") as body:
            async for piece in pieces_of(request):
                read += len(piece)
                reserve(read)
                if read > MAX_JSON_BYTES:
                    raise ApiError(
                        413,
                        "too_large",
                        f"JSON may have {MAX_JSON_BYTES:,} bytes at most: send more as a form with a file of records",
                        {"Connection": "close"},
                    )
                await settled(lambda piece=piece: body.write(piece))  # type: ignore[misc]
        async with self._parsing:
            await settled(lambda: _save_records(upload))


async def settled(work: Callable[[], R]) -> R:
    """Run ``work`` in a thread and return its result. It is awaited even if the request is cancelled meanwhile."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def pieces_of(request: Request) -> AsyncIterator[bytes]:
    """Yield the body as it arrives. Raises ApiError when it takes too long or is too large, and ClientGoneError."""
    try:
        async for piece in request.stream():
            if piece:
                yield piece
    except ClientDisconnect:
        raise ClientGoneError from None


@contextmanager
def _full_disk_is_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if not is_full_disk(error):
            raise
        raise disk_full() from error


def _save_records(upload: Upload) -> None:
    """Save the records of a body."""
    content = upload.body.read_bytes()
    upload.body.unlink()
    try:
        records = Records.model_validate_json(content).records
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        message = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}" for fault in faults[:5]
        )
        malformed = any(fault["type"] == "json_invalid" for fault in faults)
        if malformed:
            raise ApiError(400, "malformed", f"the body is not JSON: {message}") from None
        raise ApiError(422, "invalid", message) from None
    upload.add_records(records)


def content_type_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _file_name(given: str, number: int) -> str:
    """Return the last component of a file name of any operating system, printable and without direction marks, because
    a name displayed as ``evilexe.html`` could end differently. A name of only dots, which would be a folder, is
    replaced.
    """
    name = plain(clean_text(PureWindowsPath(PurePosixPath(given).name).name))
    name = name.replace("\n", " ").strip()[:_MAX_NAME_CHARACTERS]
    return name if name.strip(". ") else f"document {number}"
