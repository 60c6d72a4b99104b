"""Which picture files are shown by pages of the same folder: their text is part of these pages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePath
from urllib.parse import unquote

from trivium.errors import InputError
from trivium.limits import InputLimits
from trivium.parser.documents.formats import PICTURE_SUFFIXES
from trivium.parser.site import is_wiki
from trivium.parser.sources.files import read_document

_MARKDOWN = (".md", ".markdown", ".mdx")
_HTML = (".html", ".htm", ".xhtml")
_ADDRESS = re.compile(
    rb"""(?:\]\(\s{0,9}<?|\bsrc\s{0,9}=\s{0,9}["']?|!\[\[|\]:\s{0,9}<?)"""
    rb"""([^\s"'()<>\[\]|?#=]{1,500}\.(?:png|jpe?g|gif|webp|bmp|tiff?))(?![\w.-])""",
    re.IGNORECASE,
)


def shown_pictures(paths: Iterable[str], limits: InputLimits) -> frozenset[str]:
    """Of the given files the pictures that given pages name, in Markdown or HTML; those of an encyclopaedia are read
    without their pictures. An address ``/images/a.png``, which begins at the root of a site, is that of every picture
    whose path ends so."""
    paths = list(paths)
    pictures = {os.path.normpath(path): path for path in paths if path.lower().endswith(PICTURE_SUFFIXES)}
    if not pictures:
        return frozenset()
    relative: set[str] = set()
    absolute: set[str] = set()
    for path in paths:
        if path.lower().endswith(_MARKDOWN + _HTML):
            for address in _addresses(path, limits):
                if address.startswith("/"):
                    absolute.add(address.lstrip("/"))
                else:
                    relative.add(os.path.normpath(Path(path).parent / address))
    return frozenset(
        path for normal, path in pictures.items() if normal in relative or _ends_in(normal, absolute)
    )


def _addresses(path: str, limits: InputLimits) -> set[str]:
    try:
        data = read_document(Path(path), limits)
    except (InputError, OSError):  # said when it is read
        return set()
    found = set() if path.lower().endswith(_HTML) and is_wiki(data) else set(_ADDRESS.findall(data))
    return {unquote(address.decode("utf-8", "replace")) for address in found}


def _ends_in(path: str, endings: set[str]) -> bool:
    if not endings:
        return False
    parts = PurePath(path).parts
    return any("/".join(parts[start:]) in endings for start in range(len(parts)))
