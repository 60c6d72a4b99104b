"""Pages that are files: what each is called, so that files of one title do not replace one another, and which pages their
links lead to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Protocol

from trivium.graph.anchors import anchor_of
from trivium.graph.build import linked, renamed
from trivium.graph.model import ChunkNode, PageGraph
from trivium.graph.records import PageRecord
from trivium.graph.schema import page_uri, unescape
from trivium.index.file_links import FilePaths, future_path
from trivium.parser.sources.base import clean_text
from trivium.text import composed, normalise_name, normalise_title

_INDEX_STEMS = frozenset(("index", "_index", "readme"))


class FileStore(Protocol):
    """What this needs of a store."""

    def resolve(self, titles: Sequence[str]) -> dict[str, str]: ...

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]: ...

    def names(self) -> Iterator[tuple[str, str]]: ...

    def page_text(self, page: str) -> str: ...

    def delete(self, pages: Sequence[str]) -> list[str]: ...


class FilePages:
    """The pages of one load that are files.

    A file is known by its path, which is an alias of its page. A file that comes again keeps its page, also where another
    one has the same title: the second of them is called ``Title (folder)``.
    """

    def __init__(self, store: FileStore, paths: Iterable[str] = ()) -> None:
        """``paths``: of all files of the load, as far as they are known when it begins."""
        self._store = store
        self._files = FilePaths(plain_path(path) for path in paths if path)
        self._came: dict[str, str] = {}  # uri -> source, of the pages of this load
        self._texts: dict[str, int] = {}
        self._paths: set[str] = set()  # of the files that came
        self._knows_stored = False
        self.retitled: list[str] = []
        """Pages to remove: their files have another title now."""
        self.former: dict[str, str] = {}
        """uri -> what the page was called before, of pages whose files have another title now."""

    def settle(self, graph: PageGraph) -> PageGraph:
        """The page under the name that it has in the store, with its links."""
        if not graph.path:
            self._came.setdefault(graph.uri, graph.source)
            return graph
        path = plain_path(graph.path)
        self._files.add(path)
        first = path not in self._paths
        self._paths.add(path)
        alias = path_alias(graph.path)
        uri = self._name(graph, alias if first else None)
        self._came.setdefault(uri, graph.source)
        self._texts.setdefault(uri, hash(graph.text))
        if uri != graph.uri:
            graph = renamed(graph, uri)
        if first and alias != uri:
            graph = replace(graph, aliases=tuple(sorted({*graph.aliases, alias})))
        return linked(graph, self._cited)

    def _name(self, graph: PageGraph, alias: str | None) -> str:
        known = None if alias is None else self._stored(alias)
        if known is not None and known.uri not in self._came:
            if known.uri == graph.uri or unescape(known.uri).startswith(f"{unescape(graph.uri)} ("):
                return known.uri
            if known.path == graph.path:
                self.retitled.append(known.uri)
        uri = next(uri for uri in _candidates(graph) if self._is_free(uri, graph))
        if known is not None and known.uri in self.retitled:
            self.former[uri] = known.uri
        return uri

    def _stored(self, alias: str) -> PageRecord | None:
        uri = self._store.resolve([alias]).get(alias)
        return None if uri is None else self._store.find_pages([uri]).get(uri)

    def _is_free(self, uri: str, graph: PageGraph) -> bool:
        """Whether no other document is called so; one of the same text is the same document, unless
        neither has any."""
        if uri in self._came:
            return bool(graph.text) and self._texts.get(uri) == hash(graph.text)
        if uri in self.retitled:
            return True
        stored = self._store.find_pages([uri]).get(uri)
        if stored is None or stored.source == graph.source:
            return True
        return bool(graph.text) and self._store.page_text(uri) == graph.text

    def _cited(self, chunk: ChunkNode, graph: PageGraph) -> Iterator[tuple[str, str]]:
        """The files that a chunk's addresses lead to, by their aliases, with the anchors in them."""
        own = plain_path(graph.path)
        for address in chunk.references:
            address = composed(clean_text(address))
            path = self._files.find(address, own)
            if path is None and not self._knows_stored:
                self._learn_stored()
                path = self._files.find(address, own)
            path = path or future_path(address, own)
            if path is not None and path != own:
                yield path_alias(path), anchor_of(address)
            elif path is None and address.startswith("[["):
                for title in self._titled(address):
                    yield title, anchor_of(address)

    def _titled(self, address: str) -> Iterator[str]:
        """What a wiki link names that is no file: a title, of a page that may still come."""
        title = page_uri(normalise_title(address[2:-2].partition("#")[0]))
        if title and len(title) < _MAX_TITLE:
            yield title

    def _learn_stored(self) -> None:
        """The paths of the files that were loaded before. Not asked for where all links lead to files of this load."""
        self._knows_stored = True
        for name, uri in self._store.names():
            if name != unescape(uri) and ("/" in name or "." in name):
                self._files.add(name)


_MAX_TITLE = 500


def plain_path(path: str) -> str:
    """A path as it is compared: the letters of some file systems are decomposed, and names may hold anything."""
    return composed(clean_text(path)).replace("\n", " ")


def path_alias(path: str) -> str:
    """The uri that leads to the page of a file."""
    return page_uri(plain_path(path))


def _candidates(graph: PageGraph) -> Iterator[str]:
    """The title; then with what tells the file from others of that title: its folder or name, then more of its path; then
    with a number."""
    yield graph.uri
    title = unescape(graph.uri)
    path = PurePosixPath(graph.path)
    names = [*path.parts[:-1]]
    if path.stem.lower() not in _INDEX_STEMS and normalise_name(path.stem) != normalise_name(title):
        names.append(path.stem)
    names = [normalise_title(name) for name in names]
    for start in range(len(names) - 1, -1, -1):
        yield page_uri(normalise_title(f"{title} ({'/'.join(names[start:])})"))
    number = 2
    while True:
        yield page_uri(f"{title} ({number})")
        number += 1
