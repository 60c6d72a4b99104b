"""The types produced by sources: an item to read, and a problem."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from trivium.errors import InputError
from trivium.parser.documents.formats import BUILT_IN, document_formats

Format = str
"""A format that a caller can request: one of :data:`FORMATS`."""

FORMATS: tuple[str, ...] = ("auto", "nq", "records", "wikimedia", "zim", *BUILT_IN)
"""The formats of this package: ``auto`` detects the format of each file, by its content if possible."""

HUGGING_FACE, MEDIAWIKI, ARXIV = "hf:", "wiki:", "arxiv:"
WEB = ("http://", "https://")
"""How remote sources begin. What reads them is imported when there is one."""
ZIM_SIGNATURE = b"ZIM\x04"
"""How ZIM files begin."""

ItemFormat = str
"""The format of an item: one of :data:`FORMATS` without ``auto``, or ``wiki``, a response of a MediaWiki API."""

# Control characters (except tabs and line ends) and lone surrogates, which JSON can represent but stores cannot.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


_MAX_REASON = 1_000
_SHOWN = 60
"""Maximum number of characters of a key shown in an error."""


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of work: a document, or for ``records`` an entire file. Small and picklable.

    - ``location``: a path, or the name of a remote source.
    - ``offset``, ``length``: range of a row in the file, in bytes (``length`` None: to the end); ``line`` is its line
      number, from 1.
    - ``content``: the document, if a worker process could not read it itself (a row of a compressed file, a stream, an
      API response).
    - ``label``: name to display instead of the location, for example of an upload.
    - ``path``: path of a file among those that came with it (:attr:`trivium.types.Page.path`).
    - ``root``: folder outside which it may not refer to files; None if it came alone.
    - ``language``: code of its language, None if unknown.
    - ``entry``: path of the document inside an archive of documents; ``aliases`` are additional titles given by the
      archive.
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
        """The source recorded with the pages of this item."""
        source = self.location if self.label is None else self.label
        return source if self.entry is None else f"{source}, {self.entry}"

    @property
    def name(self) -> str:
        """The name of the item for display: printable, with the line number if it has one."""
        name = printable_path(self.source)
        return name if self.line is None else f"{name}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """An input that cannot be used, and the reason."""

    location: str
    reason: str

    def shortened(self) -> Problem:
        """Return the problem with a reason of limited length, because some quote the document."""
        if len(self.reason) <= _MAX_REASON:
            return self
        return Problem(self.location, f"{self.reason[:_MAX_REASON]}…")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file in a folder in an unsupported format. It was not named explicitly, so this is not a problem."""

    location: str

    @property
    def kind(self) -> str:
        """Its suffix, or its name if it has none.

        >>> LeftOut("src/Main.PY").kind, LeftOut("src/Makefile").kind, LeftOut("src/.gitignore").kind
        ('.py', 'Makefile', '.gitignore')
        """
        path = PurePath(self.location)
        return path.suffix.lower() or path.name


def check_format(format: str) -> None:
    """Raise InputError for a format that is neither one of :data:`FORMATS` nor declared by a package."""
    known = tuple(dict.fromkeys((*FORMATS, *document_formats())))
    if format not in known:
        raise InputError(f"expected a format of {', '.join(known)}, got {format!r}")


def printable_path(path: str) -> str:
    """Convert a path to valid Unicode: undecodable bytes of a file name become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def clean_text(text: str) -> str:
    """Replace control characters and lone surrogates one for one, so that offsets do not change.

    >>> clean_text("a\\x00b\\tc")
    'a b\\tc'
    """
    return _UNPRINTABLE.sub(lambda match: " " if match.group() < "\x80" else "\ufffd", text)


def some_keys(value: Mapping[str, object]) -> str:
    """List the keys of a JSON object for an error, limited in number and length.

    >>> some_keys({"b": 1, "a" * 100: 2}) == "a" * 60 + ", b"
    True
    >>> some_keys({})
    'none'
    """
    return ", ".join(name[:_SHOWN] for name in sorted(map(str, value))[:8]) or "none"
