"""Reads files, their lines and their JSON, plain or packed (gzip, bzip2), within limits. Failures become InputError."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from bz2 import BZ2File
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from trivium.errors import InputError, said
from trivium.limits import DEFAULT_LIMITS, UNPACKED_FREE, InputLimits

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2"}
_SUFFIXES = (".gz", ".bz2")
_MEGABYTE = 1 << 20
_PIECE = 1 << 18
# Shorter JSON cannot contain a relevant number of values.
_FEW_VALUES = 4 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its ``number``, from 1; its ``offset`` and ``length`` in bytes (uncompressed); and its bytes
    without the line end. ``data`` is None if the line exceeds the limit.
    """

    number: int
    offset: int
    length: int
    data: bytes | None


def packed_as(path: Path) -> str | None:
    """Return how a file is packed, according to its first bytes: ``gzip`` or ``bzip2``; None if it is not.
    Raises InputError when it cannot be read.
    """
    with _errors_as_input_error(), path.open("rb") as file:
        head = file.read(6)
    return next((name for signature, name in _PACKED.items() if head.startswith(signature)), None)


def unpacked_name(name: str) -> str:
    """Return the name of a file without the suffix of its packing.

    >>> unpacked_name("notes.md.gz"), unpacked_name("notes.md")
    ('notes.md', 'notes.md')
    """
    return name[: name.rindex(".")] if name.lower().endswith(_SUFFIXES) else name


def read_document(path: Path, limits: InputLimits = DEFAULT_LIMITS) -> bytes:
    """Return the whole file, uncompressed. Raises InputError when it cannot be read or exceeds the document limit."""
    limit = limits.document_bytes
    with opened(path, limits) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"the file is larger than {in_megabytes(limit)}, the limit; split it first")
    return data


def read_head(path: Path, size: int) -> bytes:
    """Return the first ``size`` bytes, uncompressed. Raises InputError when they cannot be read."""
    with opened(path) as file:
        return file.read(size)


def read_slice(path: Path, offset: int, length: int) -> bytes:
    """Return ``length`` bytes of a plain file from ``offset``. Raises InputError when there are fewer."""
    with _errors_as_input_error(), path.open("rb") as file:
        file.seek(offset)
        data = file.read(length)
    if len(data) < length:
        raise InputError(f"the file ends {length - len(data)} bytes early: it was changed in the meantime")
    return data


def read_lines(path: Path, limits: InputLimits = DEFAULT_LIMITS) -> Iterator[Line]:
    """Yield the non-blank lines of a file, read one at a time.

    Raises InputError when the file cannot be read completely, for example because it is truncated.
    """
    with opened(path, limits) as file:
        yield from lines_of(file, limits)


def lines_of(file: IO[bytes], limits: InputLimits = DEFAULT_LIMITS) -> Iterator[Line]:
    """Yield the lines of an open file like :func:`read_lines`."""
    number = offset = 0
    limit = limits.document_bytes
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


def bytes_read(file: BinaryIO) -> int:
    """Return how far an open file was read, in bytes on disk."""
    raw = getattr(file, "raw", None)
    return raw.packed_position() if isinstance(raw, _Unpacked) else file.tell()


def too_long(what: str, length: int, limits: InputLimits) -> str:
    """Return the reason for rejecting a row or line of this length."""
    limit = in_megabytes(limits.document_bytes)
    return f"the {what} is {in_megabytes(length)} long, more than the limit of {limit}"


def in_megabytes(size: int) -> str:
    """Format a number of bytes."""
    return f"{size / _MEGABYTE:.3g} MB" if size < 1000 * _MEGABYTE else f"{size // _MEGABYTE} MB"


def parse_json(data: bytes, limits: InputLimits = DEFAULT_LIMITS) -> object:
    """Parse a JSON value. Raises InputError that states the problem (encoding, syntax, depth, too many values)."""
    if len(data) > _FEW_VALUES:
        _check_values(data.count(b",") + data.count(b"[") + data.count(b"{"), limits)
    try:
        return cast(object, json.loads(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8, got byte 0x{data[error.start]:02x} at {error.start}") from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"the JSON is malformed or cut short: {error}") from error


def read_array(path: Path, limits: InputLimits = DEFAULT_LIMITS) -> list[object]:
    """Return the elements of a JSON array. Raises InputError when the file cannot be read, exceeds the document limit, is
    malformed, or is not an array.
    """
    value = parse_json(read_document(path, limits), limits)
    if not isinstance(value, list):
        raise InputError(f"expected a JSON array, got a JSON {type(value).__name__}")
    return value


def _check_values(count: int, limits: InputLimits) -> None:
    if count > limits.values:
        raise InputError(f"the JSON has about {count:,} values, more than the limit of {limits.values:,}")


class _Unpacked(io.RawIOBase):
    """A packed file, uncompressed up to its limits."""

    def __init__(self, path: Path, packing: str, limits: InputLimits) -> None:
        self._packed = path.open("rb")
        self._file = gzip.GzipFile(fileobj=self._packed) if packing == "gzip" else BZ2File(self._packed)
        self._left = max(UNPACKED_FREE, path.stat().st_size * limits.ratio)
        self._reason = f"{limits.ratio} times its size"
        if limits.file_bytes is not None and limits.file_bytes < self._left:
            self._left, self._reason = limits.file_bytes, in_megabytes(limits.file_bytes)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read1(len(buffer))  # data before damage is returned
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"the file unpacks to more than {self._reason}, the limit: split it, or unpack it first"
            )
        buffer[: len(data)] = data
        return len(data)

    def packed_position(self) -> int:
        """Return how much of the compressed file was read."""
        return self._packed.tell()

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


@contextmanager
def opened(path: Path, limits: InputLimits = DEFAULT_LIMITS) -> Iterator[BinaryIO]:
    """Open a file for reading, uncompressing it if it is packed. Failures inside the block become InputError, and so does
    exceeding the limits of unpacking.
    """
    with _errors_as_input_error():
        packing = packed_as(path)
        if packing is not None:
            with io.BufferedReader(_Unpacked(path, packing, limits), _PIECE) as unpacked:
                yield cast(BinaryIO, unpacked)
        else:
            with path.open("rb") as plain:
                yield plain


@contextmanager
def _errors_as_input_error() -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"the packed file is damaged or cut short: {said(error)}") from error
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}") from error
