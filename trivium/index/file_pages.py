"""Names the pages of files so that files with the same title do not replace one another, and resolves their links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Protocol

from trivium.graph.build_page_graph import linked, renamed, with_origin
from trivium.graph.link_fragments import anchor_of
from trivium.graph.page_graph import ChunkNode, PageGraph
from trivium.graph.records import PageRecord
from trivium.graph.schema import page_uri, unescape
from trivium.index.file_links import FilePaths, future_path
from trivium.index.file_locations import Places, PlaceStore, is_gone, is_same, path_alias, plain_path
from trivium.index.record_pages import RECORDS
from trivium.parser.sources.source_items import clean_text
from trivium.text.normalise import composed, normalise_name, normalise_title

_NAMES_TRIED = 8
"""Names besides its title under which a record may be stored: its file's name, with some of its folders."""
_INDEX_STEMS = frozenset(("index", "_index", "readme"))


class FileStore(PlaceStore, Protocol):
    """The part of a store that :class:`FilePages` uses."""

    def page_graphs(self, uris: Sequence[str]) -> Iterator[PageGraph]: ...

    def aliases(self) -> Sequence[str]: ...

    def page_text(self, page: str) -> str: ...

    def delete(self, pages: Sequence[str]) -> list[str]: ...


class FilePages:
    """The pages of one load that come from files.

    A file is identified by its path below the loaded folder, prefixed with that folder's name; this is an alias of
    its page. A file that is loaded again keeps its page, even if another one has the same title: the second of them
    is called ``Title (folder)``. Uploads are identified by name and title together, since many files are called
    ``report.pdf``.
    """

    def __init__(self, store: FileStore, places: Places) -> None:
        """``places`` are the files of the load that are known before the first one is added."""
        self._store = store
        self._places = places
        self._files: FilePaths | None = None
        self._came: dict[str, str] = {}  # uri -> source, of the pages of this load
        self._texts: dict[str, int] = {}
        self._paths: set[str] = set()  # of the files added so far
        self._knows_stored = False
        self.retitled: list[str] = []
        """Pages to remove because their files have another title now."""
        self.former: dict[str, str] = {}
        """uri -> previous uri, of pages whose files have another title now."""

    def settle(self, graph: PageGraph) -> PageGraph:
        """Return the page with its name in the store, resolved links and display path."""
        place = self._places.get(graph.source)
        if not graph.path:  # identified by its title
            if graph.source.startswith(RECORDS):
                graph = self._named_record(graph)
            self._came.setdefault(graph.uri, graph.source)
            if place is None:
                return graph
            stored = self._store.find_pages([graph.uri]).get(graph.uri) if _is_replacement(graph) else None
            if stored is not None and stored.path:
                return replace(graph, path=stored.path)
            return replace(graph, path=self._places.shown(graph.source, graph.uri, shared=True))
        graph = replace(graph, path=self._places.full(graph.source, graph.path))
        path = plain_path(graph.path)
        self._known_files().add(path)
        first = path not in self._paths
        self._paths.add(path)
        alias = path_alias(path)
        uploaded = self._places.is_upload(place)
        uri = self._uploaded_name(graph) if uploaded else self._name(graph, alias if first else None)
        self._came.setdefault(uri, graph.source)
        self._texts.setdefault(uri, hash(graph.text))
        if uri != graph.uri:
            graph = renamed(graph, uri)
        if first and alias != uri and not (uploaded and self._is_taken(alias, uri)):
            graph = replace(graph, aliases=tuple(sorted({*graph.aliases, alias})))
        graph = linked(graph, self._cited)
        if uploaded:
            return self._as_stored(graph)
        if place is None:
            return replace(graph, path=graph.source) if "://" in graph.source else graph
        return replace(graph, path=self._places.shown(graph.source, uri, released=self.retitled))

    def keep(self, page: PageRecord) -> None:
        """Note a stored page whose file is unchanged."""
        self._came.setdefault(page.uri, page.source)

    def _known_files(self) -> FilePaths:
        if self._files is None:
            self._files = FilePaths(plain_path(path) for path in self._places.linked())
        return self._files

    def _name(self, graph: PageGraph, alias: str | None) -> str:
        known = None if alias is None else self._stored(alias)
        if known is not None and not self._is_the_file_of(known, graph):
            known = None
        if known is not None and known.uri not in self._came:
            if known.uri == graph.uri or unescape(known.uri).startswith(f"{unescape(graph.uri)} ("):
                return known.uri
            same_name = PurePosixPath(known.path).name == PurePosixPath(graph.path).name
            if same_name or known.source == graph.source:
                self.retitled.append(known.uri)
        uri = next(uri for uri in _candidates(graph) if self._is_free(uri, graph, alias))
        if known is not None and known.uri in self.retitled:
            self.former[uri] = known.uri
        return uri

    def _is_the_file_of(self, known: PageRecord, graph: PageGraph) -> bool:
        """Whether a stored document comes from the file of a page, which may have been moved with its folder. A name
        given by a program is no file that is gone.
        """
        if known.source == graph.source:
            return True
        place = self._places.get(graph.source)
        if (place is not None and place.root is None) or known.source == known.path:
            return False
        return is_same(known.source, graph.source) or is_gone(known.source)

    def _named_record(self, graph: PageGraph) -> PageGraph:
        """Return the page of some records with a name that no document of another kind has: they would replace it. A
        text that is sent to replace a document does.
        """
        if _is_replacement(graph):
            return graph
        place = self._places.get(graph.source)
        source = graph.source.removeprefix(RECORDS)
        file = replace(graph, path=PurePosixPath(source).name if place is None else place.inner)
        title, *others = islice(_candidates(file), _NAMES_TRIED)
        stored = self._store.find_pages([title, *others])
        # Those of one load come together, so a title that came already is another's.
        is_free = title not in self._came and (
            title not in stored or stored[title].source.startswith(RECORDS)
        )
        if is_free and not any(uri in stored and self._is_theirs(uri, stored[uri], graph) for uri in others):
            return graph
        return renamed(
            graph, next(uri for uri in _candidates(file) if uri != title and self._is_own(uri, graph))
        )

    def _is_own(self, uri: str, graph: PageGraph) -> bool:
        """Whether a name besides the title is free, or that of the same records."""
        stored = self._store.find_pages([uri]).get(uri)
        return uri not in self._came and (stored is None or self._is_theirs(uri, stored, graph))

    def _is_theirs(self, uri: str, stored: PageRecord, graph: PageGraph) -> bool:
        return stored.source == graph.source and uri not in self._came

    def _uploaded_name(self, graph: PageGraph) -> str:
        """Return the uri of an upload. A document that replaces another by its title is sent under that title and
        keeps it.
        """
        if path_alias(graph.path) == graph.uri and graph.uri not in self._came:
            return graph.uri
        return next(uri for uri in _candidates(graph) if self._is_free(uri, graph, None))

    def _stored(self, alias: str) -> PageRecord | None:
        uri = self._store.resolve([alias]).get(alias)
        return None if uri is None else self._store.find_pages([uri]).get(uri)

    def _is_taken(self, alias: str, uri: str) -> bool:
        stored = self._stored(alias)
        return stored is not None and stored.uri != uri

    def _is_free(self, uri: str, graph: PageGraph, alias: str | None) -> bool:
        """Whether no other document has this name. Documents with equal text, beyond a title, are the same document."""
        if uri in self._came:
            if uri not in self._texts and graph.has_body:
                self._texts[uri] = hash(self._store.page_text(uri))
            return graph.has_body and self._texts[uri] == hash(graph.text)
        if uri in self.retitled:
            return True
        stored = self._store.find_pages([uri]).get(uri)
        if stored is None:
            return True
        if stored.source == graph.source and self._is_of(stored, graph, alias):
            return True
        return graph.has_body and self._store.page_text(uri) == graph.text

    def _is_of(self, stored: PageRecord, graph: PageGraph, alias: str | None) -> bool:
        """Whether a document with the same source comes from the same file. A relative source (``README.md``) depends
        on the working directory, so the paths are compared.
        """
        if alias is None or PurePosixPath(graph.source).is_absolute():
            return True
        (page,) = self._store.page_graphs([stored.uri])
        name = alias.rpartition("/")[2]
        paths = [known for known in page.aliases if known.rpartition("/")[2] == name and known != name]
        ends = (f"/{known}".endswith(f"/{alias}") or f"/{alias}".endswith(f"/{known}") for known in paths)
        return not paths or any(ends)

    def _as_stored(self, graph: PageGraph) -> PageGraph:
        """Return an uploaded page. If the collection has the same text from a file, it remains the document of that
        file, as does a document that is replaced by its title.
        """
        stored = self._store.find_pages([graph.uri]).get(graph.uri)
        if stored is not None and stored.path and stored.source != graph.source:
            if graph.text and self._store.page_text(graph.uri) == graph.text:
                return with_origin(graph, stored.source, stored.path, graph.modified or stored.modified)
            if path_alias(graph.path) == graph.uri:
                return replace(graph, path=stored.path)
        return replace(graph, path=self._places.shown(graph.source, graph.uri))

    def _cited(self, chunk: ChunkNode, graph: PageGraph) -> Iterator[tuple[str, str]]:
        """Iterate over the aliases of the files that a chunk's addresses refer to, with their anchors."""
        own = plain_path(graph.path)
        files = self._known_files()
        for address in chunk.references:
            address = composed(clean_text(address))
            path = files.find(address, own)
            if path is None and not self._knows_stored:
                self._learn_stored(files)
                path = files.find(address, own)
            path = path or future_path(address, own)
            if path is not None and path != own:
                yield path_alias(path), anchor_of(address)
            elif path is None and address.startswith("[["):
                for title in self._titled(address):
                    yield title, anchor_of(address)

    def _titled(self, address: str) -> Iterator[str]:
        """Iterate over the titles that a wiki link names if it is not a file. The page may be loaded later."""
        title = page_uri(normalise_title(address[2:-2].partition("#")[0]))
        if title and len(title) < _MAX_TITLE:
            yield title

    def _learn_stored(self, files: FilePaths) -> None:
        """Add the paths of files loaded earlier. Not called if all links are to files of this load."""
        self._knows_stored = True
        for name in self._store.aliases():
            if "/" in name or "." in name:
                files.add(name)


_MAX_TITLE = 500


def _is_replacement(graph: PageGraph) -> bool:
    """Whether records were sent as the new text of the document that they are named after."""
    return graph.source.startswith(RECORDS) and path_alias(graph.source.removeprefix(RECORDS)) == graph.uri


def _candidates(graph: PageGraph) -> Iterator[str]:
    """Iterate over possible names: the title; the title with its folder or file name, then with more of its path;
    then with a number.
    """
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
