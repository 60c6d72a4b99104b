"""Finds the picture files displayed by pages of the same folder: their text becomes part of these pages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePath
from urllib.parse import unquote

from trivium.errors import InputError
from trivium.parser.documents.formats import BUILT_IN, PICTURE_SUFFIXES
from trivium.parser.sources.read_files import read_document
from trivium.settings.limits import InputLimits

_HTML = BUILT_IN["html"].suffixes
_PAGES = (*BUILT_IN["markdown"].suffixes, *_HTML)
_ADDRESS = re.compile(
    rb"""(?:\]\(\s{0,9}<?|\bsrc\s{0,9}=\s{0,9}["']?|!\[\[|\]:\s{0,9}<?)"""
    rb"""([^\s"'()<>\[\]|?#=]{1,500}\.(?:png|jpe?g|gif|webp|bmp|tiff?))(?![\w.-])""",
    re.IGNORECASE,
)


def shown_pictures(paths: Iterable[str], limits: InputLimits) -> frozenset[str]:
    """Return the pictures among the files that the Markdown and HTML files refer to. A site-absolute address
    ``/images/a.png`` matches every picture whose path ends with it.
    """
    paths = list(paths)
    pictures = {os.path.normpath(path): path for path in paths if path.lower().endswith(PICTURE_SUFFIXES)}
    if not pictures:
        return frozenset()
    relative: set[str] = set()
    absolute: set[str] = set()
    for path in paths:
        if path.lower().endswith(_PAGES):
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
    except (InputError, OSError):  # reported when the file is read
        return set()
    if path.lower().endswith(_HTML):
        from trivium.parser.html.site import is_wiki

        if is_wiki(data):  # the pictures of wiki pages are not used
            return set()
    found = set(_ADDRESS.findall(data))
    return {unquote(address.decode("utf-8", "replace")) for address in found}


def _ends_in(path: str, endings: set[str]) -> bool:
    if not endings:
        return False
    parts = PurePath(path).parts
    return any("/".join(parts[start:]) in endings for start in range(len(parts)))
