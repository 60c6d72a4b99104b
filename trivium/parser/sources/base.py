"""The types that sources produce: an item to read, and a problem."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from trivium.errors import InputError
from trivium.parser.documents.formats import DOCUMENT_FORMATS

Format = str
"""A format a caller can request: one of :data:`FORMATS`."""

FORMATS: tuple[str, ...] = ("auto", "html", "nq", "records", "wikimedia", "zim", *DOCUMENT_FORMATS)
"""``auto`` recognises each file, by its content where that tells."""

ItemFormat = str
"""The format of an item: as :data:`FORMATS` without ``auto``, and ``wiki``, a response of a MediaWiki API."""

# Control characters (tab and line ends aside) and lone surrogates, which JSON can contain but stores cannot.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


_MAX_REASON = 1_000
_SHOWN = 60
"""How much of a key an error shows."""


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of work: a document, or for ``records`` a whole file. Small and picklable.

    ``location`` is a path, or the name of a remote source. ``offset`` and ``length`` locate a row in the file, in
    bytes (``length`` None: to the end); ``line`` is its line number, from 1. ``content`` holds the document when a
    worker process could not read it itself (a row of a compressed file, a stream, an API response). ``label`` is the
    name to show instead of the location, for example of an upload. ``path`` is where a file lies among those that came
    with it (:attr:`trivium.types.Page.path`), and ``root`` the folder outside of which it may name nothing; None where it
    came alone. ``language`` is the code of the language that it is in, None when unknown. ``entry`` is the path of the
    document inside an archive that holds many, and ``aliases`` are further titles that the archive gives it.
    """

    format: ItemFormat
    location: str
    offset: int = 0
    length: int | None = None
    line: int | None = None
    content: bytes | None = None
    label: str | None = None
    path: str = ""
    root: str | None = None
    language: str | None = None
    entry: str | None = None
    aliases: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The source that is recorded with the pages of this item."""
        source = self.location if self.label is None else self.label
        return source if self.entry is None else f"{source}, {self.entry}"

    @property
    def name(self) -> str:
        """The name of the item for display: printable, with its line number if it has one."""
        name = printable_path(self.source)
        return name if self.line is None else f"{name}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """An input that cannot be used: where it is, and why."""

    location: str
    reason: str

    def shortened(self) -> Problem:
        """The same with a reason of bounded length: some quote the document."""
        if len(self.reason) <= _MAX_REASON:
            return self
        return Problem(self.location, f"{self.reason[:_MAX_REASON]}…")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file of a folder that is of no format that is read: nobody asked for it by name, so that it is no problem."""

    location: str

    @property
    def kind(self) -> str:
        """Its suffix; its name where it has none.

        >>> LeftOut("src/Main.PY").kind, LeftOut("src/Makefile").kind, LeftOut("src/.gitignore").kind
        ('.py', 'Makefile', '.gitignore')
        """
        path = PurePath(self.location)
        return path.suffix.lower() or path.name


def check_format(format: str) -> None:
    """Raise InputError for a format that is not one of :data:`FORMATS`."""
    if format not in FORMATS:
        raise InputError(f"expected a format of {', '.join(FORMATS)}, got {format!r}")


def printable_path(path: str) -> str:
    """A path as valid Unicode text: undecodable bytes of a file name become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def clean_text(text: str) -> str:
    """The text with control characters and lone surrogates replaced one for one, so that offsets do not change.

    >>> clean_text("a\\x00b\\tc")
    'a b\\tc'
    """
    return _UNPRINTABLE.sub(lambda match: " " if match.group() < "\x80" else "\ufffd", text)


def some_keys(value: Mapping[str, object]) -> str:
    """The keys of a JSON object for an error, some of many and the beginnings of long ones.

    >>> some_keys({"b": 1, "a" * 100: 2}) == "a" * 60 + ", b"
    True
    >>> some_keys({})
    'none'
    """
    return ", ".join(name[:_SHOWN] for name in sorted(map(str, value))[:8]) or "none"
