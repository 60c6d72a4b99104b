"""ZIM files, in which Kiwix distributes Wikipedia and other sites: one item per page, with the titles that redirect to
it.

Listing a file reads its directory twice, redirects first; only their positions are kept (8 bytes each). Pages are
uncompressed when they are parsed. https://wiki.openzim.org/wiki/ZIM_file_format
"""

from __future__ import annotations

import importlib
import posixpath
import re
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from trivium.errors import InputError, MissingExtraError, said
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.html import parse_html
from trivium.parser.html.link_targets import article_title, canonical_host, link_target
from trivium.parser.sources.read_files import in_megabytes
from trivium.parser.sources.source_items import Item, Problem, clean_text, printable_path
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import Page

FORMAT = "zim"

_OF_WIKIS = b"mwoffliner"
"""Name of the program that creates the files of MediaWikis, whose pages are known by title; those of other sites by
path.
"""
_OLD_PAGES = "A/"
"""Prefix of pages in files created before 2021; everything else is below another letter there."""
_MOST_ALIASES = 1_000
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)


def items(path: str, limits: InputLimits = DEFAULT_LIMITS) -> Iterator[Item | Problem]:
    """Yield one item per page of a file, ordered by path. Raises InputError when it is damaged, and MissingExtraError
    without the package ``libzim``.
    """
    with _damage():
        archive = _open(path)
        redirects = _Redirects(archive)
        of_wiki = _is_of_wiki(archive)
        for position in range(archive.entry_count):
            entry = archive._get_entry_by_id(position)
            if entry.is_redirect or not _is_page(archive, entry.path):
                continue
            page = entry.get_item()
            if page.mimetype.partition(";")[0].strip().lower() != "text/html":
                continue
            name = clean_text(entry.path)
            if page.size > limits.document_bytes:
                limit = in_megabytes(limits.document_bytes)
                reason = f"the page is {in_megabytes(page.size)} long, more than the limit of {limit}"
                yield Problem(f"{printable_path(path)}, {name}", reason)
                continue
            aliases = tuple(clean_text(title) for title in redirects.titles(position))
            yield Item(FORMAT, path, entry=entry.path, path="" if of_wiki else name, aliases=aliases)


def to_page(item: Item, limits: InputLimits = DEFAULT_LIMITS) -> Page:
    """Return the page of an item. A MediaWiki page gets the title it states, with its path and redirects as aliases; a
    page of another site is read like a file of a site. Raises InputError.
    """
    assert item.entry is not None
    with _damage():
        archive = _open(item.location)
        html = bytes(archive.get_entry_by_path(item.entry).get_item().content)
        if not _is_of_wiki(archive):
            file = DocumentFile(html, source=item.name, path=item.path)
            return replace(parse_html(html, source=item.name, limits=limits, file=file), format="html")
        name, host = _name(archive, item.entry), _host(archive)
    title = normalise_title(clean_text(name))
    page = parse_html(
        html, source=item.name, title=title, limits=limits, resolve_link=link_resolver(item.entry, host)
    )
    others = dict.fromkeys((*page.aliases, title, *map(normalise_title, item.aliases)))
    return replace(
        page, aliases=tuple(alias for alias in others if alias and alias != page.title), format=FORMAT
    )


def link_resolver(entry: str, host: str) -> Callable[[str], str | None]:
    """Return a function that maps a link of a page to the title it leads to. ``entry`` is the path of the page. Links
    within the file are relative; links to pages not contained in it lead to the original ``host``.

    >>> resolve = link_resolver("AC/DC", "en.wikipedia.org")
    >>> resolve("../Red_planet#Moons"), resolve("Live"), resolve("https://en.wikipedia.org/wiki/Mars"), resolve("#Live")
    ('Red planet', 'AC/Live', 'Mars', None)
    >>> resolve = link_resolver("A/Mars", "")
    >>> resolve("../A/Phobos"), resolve("../I/mars.png")
    ('Phobos', None)
    """
    folder = posixpath.dirname(entry)
    old = entry.startswith(_OLD_PAGES)

    def resolve(href: str) -> str | None:
        if href.startswith(("#", "/")) or _ADDRESS.match(href):
            return link_target(href, host)
        path = posixpath.normpath(posixpath.join(folder, unquote(re.split("[?#]", href, maxsplit=1)[0])))
        if path.startswith(".."):
            return None
        if old:
            return article_title(path.removeprefix(_OLD_PAGES)) if path.startswith(_OLD_PAGES) else None
        return article_title(path)

    return resolve


class _Redirects:
    """The redirects of a file, as positions, sorted by target."""

    def __init__(self, archive: Any) -> None:
        origins, targets = array("i"), array("i")
        for position in range(archive.entry_count):
            entry = archive._get_entry_by_id(position)
            if entry.is_redirect and _is_page(archive, entry.path):
                origins.append(position)
                targets.append(entry.get_redirect_entry()._index)
        order = np.argsort(targets, kind="stable")
        self._archive = archive
        self._origins = np.asarray(origins, dtype=np.int32)[order]
        self._targets = np.asarray(targets, dtype=np.int32)[order]

    def titles(self, position: int) -> list[str]:
        """Return the titles that redirect to the page at a position, up to a maximum."""
        first, last = np.searchsorted(self._targets, (position, position + 1))
        origins = self._origins[first : min(last, first + _MOST_ALIASES)].tolist()
        return [self._archive._get_entry_by_id(origin).title for origin in origins]


def _open(path: str) -> Any:
    """Return the archive, which is cached until the file changes."""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}") from error
    return _opened(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=1)
def _opened(path: str, _changed: int, _size: int) -> Any:
    try:
        reader: Any = importlib.import_module("libzim.reader")
    except ImportError as error:
        raise MissingExtraError("reading ZIM files", "zim") from error
    return reader.Archive(Path(path))


def _is_of_wiki(archive: Any) -> bool:
    return "Scraper" in archive.metadata_keys and _OF_WIKIS in archive.get_metadata("Scraper").lower()


def _host(archive: Any) -> str:
    """Return the original site of a file; empty if unknown."""
    source = (
        archive.get_metadata("Source").decode("utf-8", "replace") if "Source" in archive.metadata_keys else ""
    )
    return canonical_host(source.partition("//")[2].partition("/")[0] or source.strip())


def _is_page(archive: Any, path: str) -> bool:
    """Whether a path is that of a page. Files in the new format contain only content here; other entries have other
    types.
    """
    return bool(archive.has_new_namespace_scheme) or path.startswith(_OLD_PAGES)


def _name(archive: Any, path: str) -> str:
    return path if archive.has_new_namespace_scheme else path.removeprefix(_OLD_PAGES)


@contextmanager
def _damage() -> Iterator[None]:
    """Translate the library's errors on a damaged file to InputError."""
    try:
        yield
    except (RuntimeError, KeyError, IndexError) as error:
        raise InputError(f"the ZIM file is damaged or cut short: {said(error)}") from error
