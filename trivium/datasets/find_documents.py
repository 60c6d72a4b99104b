"""Finds documents of a store by the names used in question files: a path, or the end of one.

A question file may contain ``company/structure.md`` whether the folder ``handbook`` or ``handbook/content`` was
indexed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath

from trivium.graph.protocols import PageReader
from trivium.graph.records import PageRecord
from trivium.graph.schema import unescape
from trivium.parser.sources.title_text_records import DOCUMENT_ID
from trivium.text.normalise import composed

_AT_ONCE = 10_000
"""Number of pages listed at once; only their paths are kept."""
_MAX_HINTS = 20
"""Maximum number of names for which similar ones are suggested, which is slow in a large store."""
_ALIKE = 0.75
"""Minimum similarity of two file names, from 0 to 1 (:mod:`difflib`)."""
_RECORDS = "records:"

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """The origin of a page: its path among the files it came with, if any, and its source, split into components."""

    uri: str
    path: _Path
    source: _Path

    @property
    def name(self) -> _Path:
        return self.path or self.source


class Documents:
    """The names of the documents of a store. Names are compared component by component, case-sensitively. ``ids`` has
    the id of each page in a benchmark, or its title where it has none.
    """

    def __init__(self, store: PageReader) -> None:
        self.ids: dict[str, str] = {}
        self._by_id: dict[str, list[str]] = {}
        self._by_file: dict[str, list[_Place]] = {}
        self._similar: dict[str, str | None] = {}
        for page in _every_page(store):
            self.ids[page.uri] = unescape(page.uri)
            if DOCUMENT_ID in page.metadata:
                self.ids[page.uri] = str(page.metadata[DOCUMENT_ID])
                self._by_id.setdefault(self.ids[page.uri], []).append(page.uri)
            place = _Place(page.uri, _parts(page.path), _parts(page.source.removeprefix(_RECORDS)))
            for file in {parts[-1] for parts in (place.path, place.source) if parts}:
                self._by_file.setdefault(file, []).append(place)

    def named(self, name: str) -> tuple[str, ...]:
        """Return the pages of the documents with this name, sorted: those with exactly this path; else those whose path
        or source ends with it; else those whose path is the longest end of it.
        """
        wanted = _parts(name)
        among = self._by_file.get(wanted[-1], []) if wanted else []
        found = (
            [place for place in among if place.name == wanted]
            or [place for place in among if _ends(place.path, wanted) or _ends(place.source, wanted)]
            or _longest([place for place in among if _ends(wanted, place.name)])
        )
        return tuple(sorted(place.uri for place in found))

    def with_id(self, name: str) -> tuple[str, ...]:
        """Return the pages of the document with this id in a benchmark."""
        return tuple(self._by_id.get(name, ()))

    def similar(self, name: str) -> str | None:
        """Suggest the path of a document for an unknown name; None if none is similar."""
        if name not in self._similar and len(self._similar) < _MAX_HINTS:
            self._similar[name] = self._most_similar(_parts(name))
        return self._similar.get(name)

    def _most_similar(self, wanted: _Path) -> str | None:
        if not wanted:
            return None
        files = {file.casefold(): file for file in sorted(self._by_file)}
        close = get_close_matches(wanted[-1].casefold(), files, n=1, cutoff=_ALIKE)
        if not close:
            return None
        file = files[close[0]]
        paths = sorted({"/".join(place.path) or file for place in self._by_file[file]})
        return get_close_matches("/".join(wanted), paths, n=1, cutoff=0.0)[0]


def _every_page(store: PageReader) -> Iterator[PageRecord]:
    pages = store.pages(None, _AT_ONCE)
    while pages:
        yield from pages
        pages = store.pages(pages[-1].uri, _AT_ONCE) if len(pages) == _AT_ONCE else []


def _parts(path: str) -> _Path:
    """Split a path into components, in composed Unicode form, because some systems store file names decomposed."""
    return tuple(part for part in PurePosixPath(composed(path)).parts if part != "/")


def _ends(path: _Path, end: _Path) -> bool:
    return 0 < len(end) <= len(path) and path[-len(end) :] == end


def _longest(places: Sequence[_Place]) -> list[_Place]:
    most = max((len(place.name) for place in places), default=0)
    return [place for place in places if len(place.name) == most]
