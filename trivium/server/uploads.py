"""Streams the documents of requests to disk, limiting their number and size."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, TypeVar

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from trivium.common.safe_files import folder_to_disk, is_full_disk, to_disk
from trivium.errors import InputError
from trivium.metadata import parse_object
from trivium.parser.sources.source_items import clean_text
from trivium.server.errors import ApiError, busy, disk_full, unsupported
from trivium.server.job_table import Change, NoJobsError
from trivium.server.jobs import Jobs
from trivium.server.jobs_folder import Spool
from trivium.text.languages import check_language
from trivium.text.normalise import plain
from trivium.types import MetadataValue

R = TypeVar("R")

MAX_AT_ONCE = 8
"""Maximum number of uploads received at once."""
MAX_FILES = 500
_MAX_FIELDS = 10
_MAX_FIELD_BYTES = 1 << 20
_MAX_LANGUAGE_CHARACTERS = 20
"""Maximum length of an invalid language code repeated in an error."""
_MAX_NAME_CHARACTERS = 200
METADATA = "metadata.json"
"""File in the folder of an upload that contains the metadata given for the documents."""
LANGUAGE = "language"
"""File in the folder of an upload that contains the language code of the documents."""


class _FormParser(MultiPartParser):
    """Starlette's parser of forms, whose files are on disk (in ``TMPDIR``) from this size on."""

    spool_max_size = 64 << 10


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
        folder.mkdir(mode=0o700)

    def add_file(self, name: str, content: BinaryIO) -> None:
        """Add a file. It is durable when this returns."""
        with (self._folder / str(len(self.names))).open("xb") as file:
            shutil.copyfileobj(content, file)
            self.size += file.tell()
            to_disk(file)
        self.names.append(_file_name(name, len(self.names) + 1))

    def add_metadata(self, metadata: Mapping[str, MetadataValue | None]) -> None:
        """Set metadata for all files."""
        self._say(METADATA, json.dumps(dict(metadata), sort_keys=True))

    def set_language(self, language: str) -> None:
        """Set the language of all files. Raises InputError for an unknown one."""
        self._say(LANGUAGE, check_language(language))

    def _say(self, name: str, content: str) -> None:
        with (self._folder / name).open("wb") as file:
            file.write(content.encode("ascii"))
            to_disk(file)

    def keep(self) -> None:
        """Make the folder and its entries durable."""
        folder_to_disk(self._folder)
        folder_to_disk(self._folder.parent)

    def change(self) -> Change:
        """Create the change that loads the files."""
        return Change(self._folder.name, "add", names=tuple(self.names), size=self.size)


class Uploads:
    """Receives the documents of requests. Belongs to one event loop."""

    def __init__(self, spool: Spool, jobs: Jobs, limit: int) -> None:
        """While jobs with more than ``limit`` bytes wait, nothing is received."""
        self._spool = spool
        self._jobs = jobs
        self._limit = limit
        self._places = asyncio.Semaphore(MAX_AT_ONCE)

    @asynccontextmanager
    async def receive(self, request: Request) -> AsyncIterator[Upload]:
        """Receive the files of a form (``multipart/form-data``). The field ``meta`` contains their metadata and
        ``language`` the code of their language.

        The files are durable, and are removed when the block ends unless a job has ``taken`` them. Raises ApiError when
        there are none, or for unexpected or too much content.
        """
        kind = content_type_of(request)
        if kind != "multipart/form-data":
            raise unsupported(kind, "multipart/form-data with files")
        if self._places.locked():
            raise busy("as many uploads as can be received at once are being received", close=True)
        async with self._places:
            await asyncio.to_thread(self._check_queue)
            with _full_disk_is_told():
                form = await _form_of(request)
                identifier = Change.new_id()
                upload: Upload | None = None
                try:
                    upload = await settled(lambda: _saved(form, self._spool.upload(identifier)))
                    yield upload
                finally:
                    await form.close()
                    if upload is None or not upload.taken:
                        self._spool.discard(identifier)

    def _check_queue(self) -> None:
        """Raise ApiError or NoJobsError if no further job would be accepted, before its documents are sent."""
        if not self._jobs.open():
            raise NoJobsError
        queue = self._jobs.queue
        if queue.waiting >= self._jobs.limit or queue.bytes > self._limit:
            raise busy("more changes are waiting than can be made soon", close=True)


async def _form_of(request: Request) -> FormData:
    try:
        return await _FormParser(
            request.headers,
            request.stream(),
            max_files=MAX_FILES,
            max_fields=_MAX_FIELDS,
            max_part_size=_MAX_FIELD_BYTES,
        ).parse()
    except MultiPartException as error:
        raise ApiError(400, "bad_request", f"the form cannot be read: {error.message}") from error


def _saved(form: FormData, folder: Path) -> Upload:
    upload = Upload(folder)
    for name, value in form.multi_items():
        try:
            if isinstance(value, UploadFile):
                upload.add_file(value.filename or "", value.file)
            elif name == "meta":
                upload.add_metadata(parse_object(value))
            elif name == "language":
                upload.set_language(value[:_MAX_LANGUAGE_CHARACTERS])
        except InputError as error:
            raise ApiError(422, "invalid", f"{name}: {error}") from error
    if not upload.names:
        raise ApiError(422, "invalid", "files: expected at least one file, got none")
    upload.keep()
    return upload


async def settled(work: Callable[[], R]) -> R:
    """Run ``work`` in a thread and return its result. It is awaited even if the request is cancelled meanwhile."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


@contextmanager
def _full_disk_is_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if not is_full_disk(error):
            raise
        raise disk_full() from error


def content_type_of(request: Request) -> str:
    """Return the media type of a request's body without its parameters; empty if it names none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _file_name(given: str, number: int) -> str:
    """Return the last component of a file name of any operating system, printable and without direction marks, because
    a name displayed as ``evilexe.html`` could end differently. A name of only dots, which would be a folder, is
    replaced.
    """
    name = plain(clean_text(PureWindowsPath(PurePosixPath(given).name).name))
    name = name.replace("\n", " ").strip()[:_MAX_NAME_CHARACTERS]
    return name if name.strip(". ") else f"document {number}"
