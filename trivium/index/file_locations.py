"""Locations of the files of a load: the paths by which links find them, and the paths that are displayed."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from trivium.common.iteration import batched
from trivium.graph.page_facts import each_page
from trivium.graph.records import PageRecord
from trivium.graph.schema import page_uri
from trivium.index.record_pages import RECORDS
from trivium.parser.sources.source_items import Item, clean_text, printable_path
from trivium.parser.sources.title_text_records import FORMAT as RECORDS_FORMAT
from trivium.text.normalise import composed

_AT_ONCE = 1_000
_FEW = 20
"""Loads with more files than this read all paths of the store at once."""


class PlaceStore(Protocol):
    """The part of a store that :class:`Places` uses."""

    def resolve(self, titles: Sequence[str]) -> dict[str, str]: ...

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]: ...

    def pages(self, after: str | None = None, limit: int | None = None) -> Sequence[PageRecord]: ...

    def pages_at(self, paths: Sequence[str]) -> Sequence[PageRecord]: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a load. ``inner`` is its path below the loaded folder, ``root`` the absolute path of that folder;
    None for uploads, which have no folder.
    """

    inner: str
    root: str | None

    def paths(self) -> Iterator[str]:
        """Iterate over the path below the folder, then the path with the folder's name, then with more of the
        folder's path. Infinite for uploads, which are numbered.
        """
        yield self.inner
        if self.root is not None:
            yield from (f"{prefix}/{self.inner}" for prefix in prefixes(self.root))
            return
        path = PurePosixPath(self.inner)
        number = 2
        while True:
            yield f"{path.stem} ({number}){path.suffix}"
            number += 1


@dataclass(frozen=True, slots=True)
class _Owner:
    """The document that a display path belongs to."""

    source: str
    uri: str


class Places:
    """The files of a load.

    For links and for identification, the path of a file starts with the name of the loaded folder
    (``docs/setup.md``). The displayed path is the one below that folder (``setup.md``), unless another document has
    it.
    """

    def __init__(self, store: PlaceStore, *, by_name: bool = False) -> None:
        """With ``by_name`` files that have no folder are identified by their names alone, as others by their paths."""
        self._store = store
        self._by_name = by_name
        self._places: dict[str, Place] = {}
        self._linked: dict[str, str] = {}  # source -> path including the folder's name, of link targets
        self._by_root: dict[str, list[str]] = {}
        self._prefixes: dict[str, str] = {}  # root -> prefix of its files' paths
        self._owners: dict[str, _Owner | None] = {}  # by display path, of those that were looked up
        self._knows_owners = False  # whether all display paths were read

    def expect_item(self, item: Item) -> None:
        """Register an item of the load if it comes from a file."""
        if item.label is not None:
            self.expect(item.label, item.label, None)
        elif item.root is not None:
            self.expect(item.source, item.path, item.root, linked=item.format != RECORDS_FORMAT)
        elif item.path:
            self._linked[item.source] = item.path

    def expect(self, source: str, path: str, root: str | None, *, linked: bool = True) -> None:
        """Register a file of the load, given by the ``source`` of its pages, at ``path`` including the name of the
        folder ``root``; root is None for uploads.
        """
        source = printable_path(source)
        if source in self._places:
            return
        inner = composed(path)
        if root is not None:
            root = printable_path(str(Path(root).resolve()))
            inner = composed(path.removeprefix(f"{PurePosixPath(root).name}/"))
            self._by_root.setdefault(root, []).append(inner)
        self._places[source] = Place(inner, root)
        if linked:
            self._linked[source] = path

    def get(self, source: str) -> Place | None:
        """Return the file that pages with this source come from; None if there is none."""
        return self._places.get(source.removeprefix(RECORDS))

    def is_upload(self, place: Place | None) -> bool:
        """Whether a file is identified by its name and title together, since many files are called ``report.pdf``."""
        return place is not None and place.root is None and not self._by_name

    def linked(self) -> Iterator[str]:
        """Iterate over the paths of all files that links can refer to."""
        return (self.full(source, path) for source, path in self._linked.items())

    def full(self, source: str, path: str) -> str:
        """Return the path by which links find a file: ``path``, prefixed with more of its folder's path if another
        folder of that name was loaded.
        """
        place = self._places.get(source)
        if place is None or not place.root:
            return path
        prefix = self._prefix(place.root)
        return f"{prefix}/{place.inner}" if prefix else path

    def shown(self, source: str, uri: str, *, released: Container[str] = (), shared: bool = False) -> str:
        """Return the display path of a page from a file. With ``shared``, pages of one file may have the same path.
        Paths of the ``released`` pages are available.
        """
        source = source.removeprefix(RECORDS)
        place = self._places[source]
        own: str | None = None
        path = place.inner
        for path in place.paths():
            owner = self._owner(path)
            if owner is None or owner.uri == uri or owner.uri in released:
                break
            if shared and is_same(owner.source, source):
                break
            if own is None:
                record = self._store.find_pages([uri]).get(uri)
                own = "" if record is None else record.path
            if path == own:
                break
        if self._owners.get(path) is None:
            self._owners[path] = _Owner(source, uri)
        return path

    def _prefix(self, root: str) -> str:
        if root not in self._prefixes:
            taken = set(self._prefixes.values())
            free = (p for p in prefixes(root) if p not in taken and not self._is_anothers(p, root))
            self._prefixes[root] = next(free, root.strip("/"))
        return self._prefixes[root]

    def _is_anothers(self, prefix: str, root: str) -> bool:
        """Whether another folder that still exists has a file with the same path."""
        for inners in batched(self._by_root[root], _AT_ONCE):
            found = self._store.resolve([path_alias(f"{prefix}/{inner}") for inner in inners])
            for page in self._store.find_pages(list(found.values())).values():
                outside = not absolute(page.source).startswith(f"{root.rstrip('/')}/")
                if outside and not is_gone(page.source):
                    return True
        return False

    def _owner(self, path: str) -> _Owner | None:
        """Return the document that a display path belongs to. Small loads query the store path by path."""
        if len(self._places) > _FEW and not self._knows_owners:
            self._knows_owners = True
            for page in each_page(self._store):
                self._note(page)
        if path not in self._owners and not self._knows_owners:
            self._owners[path] = None
            for page in self._store.pages_at([path]):
                self._note(page)
        return self._owners.get(path)

    def _note(self, page: PageRecord) -> None:
        if page.path and self._owners.get(page.path) is None:
            self._owners[page.path] = _Owner(page.source.removeprefix(RECORDS), page.uri)


def prefixes(root: str) -> Iterator[str]:
    """Iterate over the name of a folder, then with more and more of its path.

    >>> list(prefixes("/home/ada/docs"))
    ['docs', 'ada/docs', 'home/ada/docs']
    """
    parts = PurePosixPath(root).parts[1:]
    return ("/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))


def is_same(source: str, other: str) -> bool:
    """Whether two sources are the same file."""
    return source == other or absolute(source) == absolute(other)


def is_gone(source: str) -> bool:
    """Whether the file of a document no longer exists. It may have been moved with its folder."""
    try:
        return not os.path.lexists(source.removeprefix(RECORDS))
    except ValueError:  # a null character
        return True


def absolute(path: str) -> str:
    """Return the absolute path with symbolic links of folders resolved, as a canonical form."""
    try:
        folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - the file itself may be a link, and gone
        return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
    except ValueError:  # a null character
        return path


def plain_path(path: str) -> str:
    """Return a path in a form for comparison, since some file systems decompose letters and names may contain
    anything.
    """
    return composed(clean_text(path)).replace("\n", " ")


def path_alias(path: str) -> str:
    """Return the uri that resolves to the page of a file."""
    return page_uri(plain_path(path))
