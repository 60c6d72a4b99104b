"""Reads files, their lines and the elements of their JSON arrays, plain or packed (gzip, bzip2, xz), within limits.
Failures become InputError.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zlib
from bz2 import BZ2Decompressor
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from lzma import LZMADecompressor, LZMAError
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from trivium.errors import InputError, said
from trivium.settings.limits import DEFAULT_LIMITS, UNPACKED_FREE, InputLimits

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
_SUFFIXES = (".gz", ".bz2", ".xz")
_XZ_MEMORY = 256 << 20  # bytes; an xz file may demand gigabytes to be unpacked
_MEGABYTE = 1 << 20
_PIECE = 1 << 18
# Shorter JSON cannot contain a relevant number of values.
_FEW_VALUES = 4 << 20
_decode = json.JSONDecoder().raw_decode


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
    """Return how a file is packed, according to its first bytes: ``gzip``, ``bzip2`` or ``xz``; None if it is not.
    Raises InputError when it cannot be read.
    """
    with _errors_as_input_error(), path.open("rb") as file:
        head = file.read(6)
    return next((name for signature, name in _PACKED.items() if head.startswith(signature)), None)


def unpacked_name(name: str) -> str:
    """Return the name of a file without the suffix of its packing.

    >>> unpacked_name("notes.md.xz"), unpacked_name("notes.md")
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
        raise _too_deep() from error
    except ValueError as error:
        raise InputError(f"the JSON is malformed or cut short: {error}") from error


def read_array(path: Path, limits: InputLimits = DEFAULT_LIMITS) -> Iterator[object]:
    """Yield the elements of a JSON array, keeping only the current element in memory.

    Raises InputError when the file cannot be read, is not an array, or an element is malformed or exceeds the limit of
    a document. The elements after a malformed one cannot be determined.
    """
    with opened(path, limits) as file:
        text = _Text(file)
        if text.next() != "[":
            raise InputError("expected a JSON array")
        text.at += 1
        more = text.next() != "]"
        while more:
            yield text.value(limits)
            after = text.next()
            if after not in (",", "]"):
                raise InputError(
                    "the JSON is malformed or cut short: expected a comma or ] after an element, got "
                    + (repr(after) if after else "the end")
                )
            more = after == ","
            text.at += more
        text.at += 1
        if rest := text.next():
            raise InputError(f"the JSON is malformed: expected the end after the array, got {rest!r}")


class _Text:
    """The text of a file, decoded incrementally; ``at`` is the position in the ``buffer``."""

    def __init__(self, file: BinaryIO) -> None:
        self.buffer = ""
        self.at = 0
        self._file = file
        self._ended = False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()

    def next(self) -> str:
        """Return the next non-space character without consuming it; empty at the end."""
        while True:
            while self.at < len(self.buffer) and self.buffer[self.at] in " \t\r\n":
                self.at += 1
            if self.at < len(self.buffer) or not self._read(_PIECE):
                return self.buffer[self.at : self.at + 1]

    def value(self, limits: InputLimits) -> object:
        """Parse the JSON value at the position, and advance."""
        self.next()
        while True:
            size = len(self.buffer) - self.at
            if size > _FEW_VALUES:
                _check_values(sum(self.buffer.count(mark, self.at) for mark in ",[{"), limits)
            try:
                value, end = _decode(self.buffer, self.at)
            except RecursionError as error:
                raise _too_deep() from error
            except ValueError as error:
                if size > limits.document_bytes:
                    raise InputError(
                        f"an element of the JSON array is malformed, or longer than {in_megabytes(limits.document_bytes)}"
                    ) from error
                # A value truncated by the end of the buffer looks malformed. The buffer is doubled each time, so the
                # total time is linear.
                if not self._read(max(_PIECE, size)):
                    raise InputError(f"the JSON is malformed or cut short: {error}") from error
                continue
            if end == len(self.buffer) and self._read(_PIECE):
                continue  # a number may continue
            self.at = end
            return cast(object, value)

    def _read(self, size: int) -> bool:
        """Read more text into the buffer, and drop consumed text. Returns False at the end."""
        if self._ended:
            return False
        data = self._file.read(size)
        self._ended = not data
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            raise InputError(f"expected UTF-8, got byte 0x{error.object[error.start]:02x}") from error
        self.buffer = self.buffer[self.at :] + text
        self.at = 0
        return bool(text) or not self._ended


def _check_values(count: int, limits: InputLimits) -> None:
    if count > limits.values:
        raise InputError(f"the JSON has about {count:,} values, more than the limit of {limits.values:,}")


def _too_deep() -> InputError:
    return InputError("the JSON is nested too deeply")


class _Unpacked(io.RawIOBase):
    """A packed file, uncompressed up to its limits."""

    def __init__(self, path: Path, packing: str, limits: InputLimits) -> None:
        self._packed = path.open("rb")
        self._file = (
            gzip.GzipFile(fileobj=self._packed) if packing == "gzip" else _Streams(self._packed, packing)
        )
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


class _Streams:
    """The streams of a bzip2 or xz file, one after the other, uncompressed. ``lzma.open`` has no limit on memory."""

    def __init__(self, packed: BinaryIO, packing: str) -> None:
        self._packed = packed
        self._new: Callable[[], BZ2Decompressor | LZMADecompressor] = (
            BZ2Decompressor if packing == "bzip2" else partial(LZMADecompressor, memlimit=_XZ_MEMORY)
        )
        self._stream = self._new()

    def read1(self, size: int) -> bytes:
        while True:
            if self._stream.eof:
                rest = self._stream.unused_data.lstrip(b"\0") or self._packed.read(_PIECE)
                if not rest:
                    return b""
                self._stream = self._new()
            else:
                rest = self._packed.read(_PIECE) if self._stream.needs_input else b""
                if self._stream.needs_input and not rest:
                    raise EOFError("it ends too early")
            if data := self._stream.decompress(rest, size):
                return data

    def close(self) -> None:
        """Close nothing: the file is its owner's."""


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
    except (EOFError, zlib.error, gzip.BadGzipFile, LZMAError) as error:
        raise InputError(f"the packed file is damaged or cut short: {said(error)}") from error
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}") from error
