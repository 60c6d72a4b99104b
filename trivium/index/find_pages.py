"""Finds pages by what users write: a title, an alias, a source file, or nearly one of these."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import PurePath
from typing import Protocol
from unicodedata import normalize

from trivium.errors import InputError
from trivium.graph.page_facts import each_page
from trivium.graph.protocols import GraphReader, PageReader
from trivium.graph.records import PageRecord
from trivium.graph.schema import page_uri, unescape
from trivium.index.file_locations import absolute
from trivium.index.record_pages import RECORDS
from trivium.text.normalise import (
    composed,
    has_lone_surrogate,
    normalise_name,
    normalise_title,
    without_parenthesis,
)

_MAX_COMPARED = 50_000
"""Maximum number of titles compared with an unknown one: enough for about a second."""
_SUGGESTED = 3
_FEW_FILES = 20
"""For up to this many files pages are looked for by their file names."""


class NamedPages(GraphReader, PageReader, Protocol):
    """The part of a store that finding pages uses."""


def find_named(store: NamedPages, names: Sequence[str]) -> list[str]:
    """Return the uris of the pages named by title, alias, uri or source file (as given or as shown in hits; all pages
    of that file). Raises InputError for an unknown name, with the nearest ones.
    """
    for name in names:
        if has_lone_surrogate(name):
            raise InputError(f"expected a title in UTF-8, got {name!r}")
    uris = {name: (page_uri(normalise_title(name)), name) for name in names}
    resolved = store.resolve(list(dict.fromkeys(uri for forms in uris.values() for uri in forms)))
    present = store.find_pages(list(resolved.values()))
    found: dict[str, None] = {}
    unknown = []
    for name in names:
        uri = next((resolved[form] for form in uris[name] if resolved.get(form) in present), None)
        if uri is None:
            unknown.append(name)
        else:
            found[uri] = None
    if unknown:
        by_source = _of_sources(store, [name for name in unknown if _is_file_name(name)])
        lost = [name for name in unknown if not by_source.get(name)]
        if lost:
            hints = [hint for name in lost if (hint := _suggest(store, name))]
            raise InputError("; ".join([f"no such page in the store: {', '.join(lost)}", *hints]))
        for name in unknown:
            found.update(dict.fromkeys(by_source[name]))
    return list(found)


def _is_file_name(name: str) -> bool:
    return "/" in name or os.sep in name or bool(PurePath(name).suffix)


def _of_sources(store: PageReader, files: Sequence[str]) -> dict[str, list[str]]:
    """Map the names of files to the uris of the pages that come from them, or are displayed under them."""
    if not files:
        return {}
    wanted: dict[str, list[str]] = {}
    for file in files:
        for form in {composed(file), composed(absolute(file))}:
            wanted.setdefault(form, []).append(file)
    found: dict[str, dict[str, None]] = {file: {} for file in files}
    few = len(files) <= _FEW_FILES
    for page in _that_may_come_from(store, wanted) if few else each_page(store):
        source = page.source.removeprefix(RECORDS)
        for form in (source, absolute(source), *([page.path] if page.path else [])):
            for file in wanted.get(composed(form), ()):
                found[file][page.uri] = None
    return {file: list(uris) for file, uris in found.items()}


def _that_may_come_from(store: PageReader, files: Collection[str]) -> Iterator[PageRecord]:
    """Iterate over the pages of files with the same names, which are few, and those displayed under these paths."""
    # Some systems decompose the letters of file names.
    spelled = [normalize(form, file) for file in files for form in ("NFC", "NFD")]
    names = dict.fromkeys(PurePath(file).name for file in spelled)
    pages = {
        page.uri: page
        for page in store.pages_of_files([form for name in names for form in (name, f"{RECORDS}{name}")])
    }
    pages.update((page.uri, page) for page in store.pages_at(spelled))
    for uri in sorted(pages):
        yield pages[uri]


def _suggest(store: NamedPages, name: str) -> str:
    """Return ``did you mean ...?`` with titles similar to an unknown one; empty if there are none."""
    key = normalise_name(normalise_title(name))
    near = list(store.lookup_names([key]).values()) if key else []
    near = list(store.find_pages(near))
    if not near:
        titles: dict[str, str] = {}
        for title, uri in islice(store.names(), _MAX_COMPARED):
            for form in (title, without_parenthesis(title)):
                titles.setdefault(normalise_name(form), uri)
        near = list(dict.fromkeys(titles[form] for form in get_close_matches(key, titles, _SUGGESTED)))
    return f"did you mean {' or '.join(unescape(uri) for uri in near)}?" if near else ""
