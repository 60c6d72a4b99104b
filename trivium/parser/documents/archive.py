"""Safe access to zip archives (DOCX, PPTX, XLSX, EPUB), which are checked before any library opens them.

Nothing is written to disk, nested archives are never opened, and the unpacked size is measured while unpacking,
whatever sizes the archive declares.
"""

from __future__ import annotations

import io
import posixpath
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO
from urllib.parse import unquote
from xml.parsers import expat

from trivium.errors import ParseError, said
from trivium.parser.document import DamagedPartError
from trivium.settings.limits import UNPACKED_FREE, UNPACKED_UPLOAD, InputLimits

ZIP_SIGNATURE = b"PK\x03\x04"

_DIRECTORY_ENTRY = b"PK\x01\x02"
_SPARE = 10  # nested archives have entries too
_PIECE = 1 << 18
_ENCRYPTED = 0x1  # flag of a member
_XML = (".xml", ".rels", ".opf", ".ncx")


class Archive:
    """A zip archive whose directory is within the limits."""

    def __init__(self, data: bytes, limits: InputLimits) -> None:
        """Raises ParseError for a file that is not a zip archive, is encrypted or damaged, has too many members,
        declares too large an unpacked size, or has duplicate names or names that lead out of it.
        """
        self._data = data
        self._limits = limits
        self._zip = _opened(data, limits)
        self._left = _unpacked_limit(len(data), limits)
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in self._zip.infolist():
            _check_member(member)
            if member.filename in self._members:
                raise ParseError(f"the archive has two members called {member.filename[:100]!r}")
            self._members[member.filename] = member
        declared = sum(member.file_size for member in self._members.values())
        if declared > self._left:
            raise ParseError(_too_much(len(data), limits))

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """The names of its members, in archive order."""
        return list(self._members)

    def get(self, name: str) -> bytes | None:
        """Return an unpacked member; None if it is missing or damaged. For optional parts of a document."""
        try:
            return self.read(name) if name in self._members else None
        except ParseError:
            return None

    def read(self, name: str, limit: int | None = None) -> bytes:
        """Return an unpacked member of at most ``limit`` bytes (default: the limit of a document).

        Raises DamagedPartError when it is missing or damaged, ParseError when it is too large, and for markup that
        defines entities.
        """
        limit = self._limits.document_bytes if limit is None else limit
        pieces, size = [], 0
        for piece in self._pieces(name):
            size += len(piece)
            if size > limit:
                raise ParseError(
                    f"{name!r} in the archive has more than {limit:,} bytes, the limit: split it"
                )
            pieces.append(piece)
        data = b"".join(pieces)
        if name.lower().endswith(_XML):
            check_entities(data)
        return data

    def verify(self, name: str) -> None:
        """Unpack a member piece by piece without keeping it, because a library will read it from the archive itself.

        Raises the errors of :meth:`read`, except for its size; only the total size is limited.
        """
        check = _EntityCheck()
        for piece in self._pieces(name):
            check.feed(piece)

    def stream(self, name: str) -> IO[bytes]:
        """Open a member that was verified (:meth:`verify`). Raises DamagedPartError when it is missing or damaged."""
        try:
            return self._zip.open(self._members[name])
        except KeyError as error:
            raise DamagedPartError(f"the archive has no {name!r}: the document is incomplete") from error

    def beside(self, name: str) -> Callable[[str], bytes | None]:
        """Return a function that reads members by their addresses relative to the member ``name``, like
        :attr:`trivium.parser.documents.document_file.DocumentFile.beside` for files.
        """

        def read(address: str) -> bytes | None:
            target = resolved(name, address)
            return None if target is None else self.get(target)

        return read

    def _pieces(self, name: str) -> Iterator[bytes]:
        if name not in self._members:
            raise DamagedPartError(f"the archive has no {name!r}: the document is incomplete")
        try:
            with self._zip.open(self._members[name]) as file:
                while piece := file.read(_PIECE):
                    self._left -= len(piece)
                    if self._left < 0:
                        raise ParseError(_too_much(len(self._data), self._limits))
                    yield piece
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            NotImplementedError,
            RuntimeError,
            ValueError,
        ) as error:
            # RuntimeError: an encrypted member; NotImplementedError: an unknown compression method.
            raise DamagedPartError(f"{name!r} in the archive is damaged: {said(error)}") from error


def resolved(base: str, address: str) -> str | None:
    """Resolve ``address`` relative to the member ``base``; None if it leads out of the archive.

    >>> resolved("OEBPS/text/ch1.xhtml", "../images/a%20b.png#x")
    'OEBPS/images/a b.png'
    >>> resolved("content.opf", "../../etc/passwd") is None
    True
    """
    path = unquote(address.partition("#")[0].partition("?")[0])
    if not path:
        return base
    if "://" in path or "\0" in path:
        return None
    target = posixpath.normpath(posixpath.join("/" + posixpath.dirname(base), path))
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(base), path))
    return None if inside.startswith(("../", "/")) or inside == ".." else target.lstrip("/")


def check_entities(data: bytes) -> None:
    """Raise ParseError for XML that defines entities, because they can expand to any size."""
    _EntityCheck().feed(data)


class _EntityCheck:
    """Checks an XML document up to its first element, before which entities are defined."""

    def __init__(self) -> None:
        self._parser: expat.XMLParserType | None = expat.ParserCreate()
        self._parser.EntityDeclHandler = _refuse_entity
        self._parser.StartElementHandler = _stop

    def feed(self, piece: bytes) -> None:
        if self._parser is None:
            return
        try:
            self._parser.Parse(piece, False)
        except (_StopError, expat.ExpatError, LookupError, ValueError, TypeError):
            # Malformed XML and unknown encodings are handled elsewhere.
            self._parser = None


class _StopError(Exception):
    """The first element of a document has been reached."""


def _stop(_name: str, _attributes: dict[str, str]) -> None:
    raise _StopError


def _refuse_entity(*_definition: object) -> None:
    raise ParseError("its XML defines entities: expected none")


def _opened(data: bytes, limits: InputLimits) -> zipfile.ZipFile:
    if data.startswith(OLE_SIGNATURE):
        raise ParseError(f"expected a zip archive, got {describe_ole(data)}")
    if not data.startswith(ZIP_SIGNATURE):
        raise ParseError(f"expected a zip archive, got a file that begins {data[:8]!r}")
    # The whole directory is read at once, so its size is estimated first from the number of entries.
    if data.count(_DIRECTORY_ENTRY) > _SPARE * limits.members:
        raise ParseError(f"the archive has more than {limits.members:,} members, the limit")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError) as error:
        raise ParseError(f"the zip archive is damaged or cut short: {said(error)}") from error
    except Exception as error:  # a corrupt directory may raise struct.error, IndexError and others
        raise ParseError(f"the zip archive is damaged: {type(error).__name__}") from error
    if len(archive.infolist()) > limits.members:
        raise ParseError(
            f"the archive has {len(archive.infolist()):,} members, more than the limit of {limits.members:,}"
        )
    return archive


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    if member.flag_bits & _ENCRYPTED:
        raise ParseError("the archive is encrypted: save it without a password")
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or name.startswith(("/", "\\")) or name[1:2] == ":":
        raise ParseError(f"a member of the archive leads out of it: {name[:100]!r}")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise ParseError(f"a member of the archive is a symbolic link: {name[:100]!r}")


def _unpacked_limit(size: int, limits: InputLimits) -> int:
    return min(max(UNPACKED_FREE, size * limits.ratio), limits.file_bytes or UNPACKED_UPLOAD)


def _too_much(size: int, limits: InputLimits) -> str:
    megabytes = _unpacked_limit(size, limits) >> 20
    return f"the archive of {size:,} bytes unpacks to more than {megabytes} MB, the limit: split it"


OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OLD_SUFFIXES = frozenset((".doc", ".dot", ".ppt", ".pps", ".xls"))
"""Suffixes of old Office documents, whose owners are told how to convert them."""


def _name(stream: str) -> bytes:
    return stream.encode("utf-16-le")


# Names of streams; containers before their contents.
_KINDS: tuple[tuple[bytes, str], ...] = (
    (_name("EncryptedPackage"), "an encrypted document: save it without a password"),
    (_name("DRMEncryptedDataSpace"), "a document whose rights are managed: save it without protection"),
    (_name("__substg1.0_"), "an Outlook message: save it as HTML or text"),
    (_name("WordDocument"), "an old Word file (.doc): save it as .docx"),
    (_name("PowerPoint Document"), "an old PowerPoint file (.ppt): save it as .pptx"),
    (_name("Workbook"), "an old Excel file (.xls): save it as .xlsx"),
    (_name("Book"), "an old Excel file (.xls): save it as .xlsx"),
)


def describe_ole(data: bytes) -> str:
    """Describe a file that begins with :data:`OLE_SIGNATURE`, and how to convert it.

    >>> describe_ole(OLE_SIGNATURE + "WordDocument".encode("utf-16-le"))
    'an old Word file (.doc): save it as .docx'
    """
    return next(
        (kind for name, kind in _KINDS if name in data),
        "an old binary Office file: save it as .docx, .pptx or .xlsx",
    )
