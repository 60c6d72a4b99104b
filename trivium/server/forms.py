"""Streams the files of a form (``multipart/form-data``) to a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from trivium.errors import InputError
from trivium.metadata import parse_object
from trivium.server.errors import ApiError
from trivium.types import MetadataValue

MAX_FILES = 500
_MAX_FIELDS = 10
_MAX_FIELD_BYTES = 1 << 20
_MAX_HEADER_BYTES = 8 << 10
_MAX_LANGUAGE_CHARACTERS = 20
"""Maximum length of an invalid language code repeated in an error."""


class Files(Protocol):
    """Receives the files of a form one by one; :class:`~trivium.server.uploads.Upload` implements it."""

    names: list[str]
    """The names of the files as sent."""

    def begin_file(self, name: str) -> None:
        """Begin a new file."""
        ...

    def write(self, piece: bytes) -> None:
        """Append to the current file."""
        ...

    def end_file(self) -> None:
        """Finish the current file."""
        ...

    def add_metadata(self, metadata: Mapping[str, MetadataValue | None]) -> None:
        """Set metadata for all files."""
        ...

    def set_language(self, language: str) -> None:
        """Set the language of all files. Raises InputError for an unknown one."""
        ...


class FormReader:
    """Parses a form incrementally and passes its files to an upload. The field ``meta`` contains their metadata and
    ``language`` the code of their language; other fields are skipped.
    """

    def __init__(self, content_type: str, upload: Files) -> None:
        """Raises ApiError when the content type has no boundary."""
        _, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if not boundary:
            raise _malformed("the form's content type names no boundary")
        self._upload = upload
        self._name = b""
        self._disposition = b""
        self._header = b""
        self._is_file = False
        self._field_bytes = 0
        self._fields = 0
        self._ended = False
        self._field: bytearray | None = None
        self._field_name = b""
        callbacks: Any = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._begin_content,
            "on_part_data": self._content,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }
        try:
            self._parser = MultipartParser(boundary, callbacks)
            # The parser's own limit is half of this, and its error is less specific.
            self._parser.max_header_size = 2 * _MAX_HEADER_BYTES
        except FormParserError as error:
            raise _malformed(f"the form cannot be read: {error}") from error

    def write(self, piece: bytes) -> None:
        """Parse the next piece. Raises ApiError when it is malformed or exceeds a limit, and OSError."""
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise _malformed(f"the form cannot be read: {error}") from error

    def finish(self) -> None:
        """Finish the form. Raises ApiError when it is incomplete or has no file."""
        if not self._ended:
            raise _malformed("the form ends in the middle")
        if not self._upload.names:
            raise ApiError(422, "invalid", "files: expected at least one file, got none")

    def _begin_part(self) -> None:
        self._disposition = self._name = self._header = b""
        self._is_file = False
        self._field_bytes = 0

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name = _longer(self._name, data[start:end])

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._header = _longer(self._header, data[start:end])

    def _end_header(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = self._header
        self._name = self._header = b""

    def _begin_content(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"name" not in options:
            raise _malformed("every part of a form needs a name")
        self._is_file = b"filename" in options
        if self._is_file:
            if len(self._upload.names) >= MAX_FILES:
                raise _malformed(f"expected {MAX_FILES} files at most")
            self._upload.begin_file(options[b"filename"].decode("utf-8", "replace"))
        else:
            self._field_name = options[b"name"]
            self._field = bytearray() if self._field_name in (b"meta", b"language") else None
            self._fields += 1
            if self._fields > _MAX_FIELDS:
                raise _malformed(f"expected {_MAX_FIELDS} fields at most besides the files")

    def _content(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._upload.write(data[start:end])
            return
        self._field_bytes += end - start
        if self._field_bytes > _MAX_FIELD_BYTES:
            raise _malformed(f"expected {_MAX_FIELD_BYTES:,} bytes at most in a field")
        if self._field is not None:
            self._field += data[start:end]

    def _end_part(self) -> None:
        if self._is_file:
            self._upload.end_file()
        elif self._field is not None:
            said, name = self._field.decode("utf-8", "replace"), self._field_name.decode("ascii")
            try:
                if name == "meta":
                    self._upload.add_metadata(parse_object(said))
                else:
                    self._upload.set_language(said[:_MAX_LANGUAGE_CHARACTERS])
            except InputError as error:
                raise ApiError(422, "invalid", f"{name}: {error}") from error

    def _end(self) -> None:
        self._ended = True


def _longer(header: bytes, piece: bytes) -> bytes:
    if len(header) + len(piece) > _MAX_HEADER_BYTES:
        raise _malformed(f"expected {_MAX_HEADER_BYTES:,} bytes at most in a header of a part")
    return header + piece


def _malformed(message: str) -> ApiError:
    return ApiError(400, "bad_request", message)
