"""Files as bytes and as lines: plain, gzip or bzip2 by their first bytes, with a limit on the line."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from trivium.errors import said
from trivium.parser.sources.source_items import Problem, printable_path

LINE_LIMIT = 1 << 20
"""Bytes of the longest line that is read; abstracts of DBpedia stay far below."""

_GZIP, _BZIP2 = b"\x1f\x8b", b"BZh"
_LINES_A_REPORT = 10_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its end; ``number`` counts from 1."""

    number: int
    data: bytes


class OpenFile:
    """A file being read: ``data`` is unpacked, ``position`` counts bytes of the file as it lies on disk."""

    def __init__(self, path: Path, raw: BinaryIO, data: BinaryIO) -> None:
        self.name = printable_path(str(path))
        self.data = data
        self._raw = raw

    @property
    def position(self) -> int:
        """Bytes of the file that have been read."""
        return self._raw.tell()


@contextmanager
def opened(path: Path, problem: Callable[[Problem], None]) -> Iterator[OpenFile]:
    """The file, unpacked. When it cannot be read (any further) the reason is reported and the block ends."""
    name = printable_path(str(path))
    try:
        with ExitStack() as stack:
            raw = cast(BinaryIO, stack.enter_context(path.open("rb")))
            head = raw.read(3)
            raw.seek(0)
            data = raw
            if head.startswith(_GZIP):
                data = cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=raw)))
            elif head.startswith(_BZIP2):
                data = cast(BinaryIO, stack.enter_context(bz2.BZ2File(raw)))
            yield OpenFile(path, raw, data)
    except EOFError:
        problem(Problem(name, "the file is cut short; what was there is used"))
    except zlib.error as error:
        problem(Problem(name, f"the file is damaged: {said(error)}; what came before is used"))
    except OSError as error:
        problem(Problem(name, f"the file cannot be read (on): {error.strerror or error}"))


def lines(
    file: OpenFile, problem: Callable[[Problem], None], advance: Callable[[int], None]
) -> Iterator[Line]:
    """The lines of a file; one beyond the limit is reported and left out. ``advance`` takes bytes read."""
    number = 0
    while data := file.data.readline(LINE_LIMIT):
        number += 1
        if number % _LINES_A_REPORT == 0:
            advance(file.position)
        if len(data) == LINE_LIMIT and not data.endswith(b"\n"):
            problem(Problem(f"{file.name}, line {number}", f"the line is longer than {LINE_LIMIT >> 20} MB"))
            while len(data) == LINE_LIMIT and not data.endswith(b"\n"):
                data = file.data.readline(LINE_LIMIT)
        else:
            yield Line(number, data)
