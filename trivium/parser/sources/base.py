"""A unit of work, and a complaint."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Literal

Format = Literal["auto", "html", "nq", "records"]
"""What a caller may ask for; ``auto`` recognises each file by its content."""

ItemFormat = Literal["html", "nq", "records", "wiki"]
"""What one item is. ``wiki`` is an answer of a MediaWiki API."""

# Control characters (tab and line ends aside) and lone surrogates, which JSON can carry and no store can.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of work: a document, or for ``records`` a whole file. Small and picklable.

    ``location`` is a path, or the name of a remote source. ``offset`` and ``length`` are bytes of a row
    within the file (``length`` None: to the end) and ``line`` its 1-based line number. ``content`` holds
    the document where a worker could not read it again by itself (a row of a compressed file, a stream, an
    API's answer). ``label`` is what it is called where that is not its location, as of an upload.
    """

    format: ItemFormat
    location: str
    offset: int = 0
    length: int | None = None
    line: int | None = None
    content: bytes | None = None
    label: str | None = None

    @property
    def source(self) -> str:
        """What pages remember they came from."""
        return self.location if self.label is None else self.label

    @property
    def name(self) -> str:
        """The item as people see it: printable, with the line where there is one."""
        name = printable_path(self.source)
        return name if self.line is None else f"{name}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was given and cannot be used: where it is and why."""

    location: str
    reason: str


def printable_path(path: str) -> str:
    """A path as text that every store and terminal takes: undecodable bytes of a file name become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def clean_text(text: str) -> str:
    """The text with control characters and lone surrogates replaced, one for one, so that offsets stay.

    >>> clean_text("a\\x00b\\tc")
    'a b\\tc'
    """
    return _UNPRINTABLE.sub(lambda found: " " if found.group() < "\x80" else "\ufffd", text)
