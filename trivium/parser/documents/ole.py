"""Recognises files in Microsoft's compound format (OLE), which is not supported, for error messages."""

from __future__ import annotations

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
