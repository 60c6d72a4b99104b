"""Reads files and their lines, plain or gzipped, with size limits; failures become InputError."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from trivium.errors import InputError

DOCUMENT_LIMIT = 64 << 20
"""Limit for a document or row, in bytes (unpacked)."""

FILE_LIMIT = 1 << 30
"""Limit for a JSON array, in bytes, which is read whole; larger collections have to be JSON Lines."""

_GZIP = b"\x1f\x8b"
_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its ``number``, from 1; its ``offset`` and ``length`` in bytes (unpacked); and its bytes
    without the line end. ``data`` is None when the line is longer than the limit."""

    number: int
    offset: int
    length: int
    data: bytes | None


def is_gzipped(path: Path) -> bool:
    """Whether the file is gzipped, judged by its first bytes. Raises InputError when it cannot be read."""
    with _errors_as_input_error(), path.open("rb") as file:
        return file.read(2) == _GZIP


def read_document(path: Path, limit: int = DOCUMENT_LIMIT) -> bytes:
    """The whole file, unpacked. Raises InputError when it cannot be read or is longer than ``limit``
    bytes."""
    with opened(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"the file is larger than {limit // _MEGABYTE} MB, the limit; split it first")
    return data


def read_head(path: Path, size: int) -> bytes:
    """The first ``size`` bytes, unpacked. Raises InputError when they cannot be read."""
    with opened(path) as file:
        return file.read(size)


def read_slice(path: Path, offset: int, length: int) -> bytes:
    """``length`` bytes of a plain file from ``offset``. Raises InputError when there are fewer."""
    with _errors_as_input_error(), path.open("rb") as file:
        file.seek(offset)
        data = file.read(length)
    if len(data) < length:
        raise InputError(f"the file ends {length - len(data)} bytes early: it was changed in the meantime")
    return data


def read_lines(path: Path, limit: int = DOCUMENT_LIMIT) -> Iterator[Line]:
    """The lines of a file without blank ones, read one at a time.

    Raises InputError when the file cannot be read, or not to its end, for example because it is cut short.
    """
    number = offset = 0
    with opened(path) as file:
        while data := file.readline(limit + 1):
            number += 1
            start, offset = offset, offset + len(data)
            if len(data) > limit and not data.endswith(b"\n"):
                while rest := file.readline(_MEGABYTE):
                    offset += len(rest)
                    if rest.endswith(b"\n"):
                        break
                yield Line(number, start, offset - start, None)
            elif data.strip():
                yield Line(number, start, len(data), data.rstrip(b"\r\n"))


def parse_json(data: bytes) -> object:
    """The JSON value. Raises InputError that states what is wrong (encoding, syntax, depth)."""
    try:
        return cast(object, json.loads(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8, got byte 0x{data[error.start]:02x} at {error.start}") from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"the JSON is malformed or cut short: {error}") from error


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file for reading, unpacked when it is gzipped; failures inside the block become InputError."""
    with _errors_as_input_error():
        if is_gzipped(path):
            with gzip.open(path, "rb") as unpacked:
                yield cast(BinaryIO, unpacked)
        else:
            with path.open("rb") as plain:
                yield plain


@contextmanager
def _errors_as_input_error() -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"the gzip file is damaged or cut short: {error}") from error
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}") from error
