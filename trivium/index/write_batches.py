"""Writes the pages of a load in batches, each in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from trivium.graph.build_page_graph import with_metadata
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import GraphReader, GraphWriter, PageReader, TextSearch
from trivium.graph.records import PageRecord
from trivium.index.document_languages import LANGUAGE, Localiser
from trivium.index.file_pages import FilePages
from trivium.index.link_mentions import adopted, marked
from trivium.index.load_report import Duplicate, IngestReport
from trivium.index.recognise_names import LINKED
from trivium.text.languages import ENGLISH
from trivium.types import MetadataValue

_PAGES_A_WRITE = 100
_BYTES_A_WRITE = 64 << 20

PageCheck = Callable[[PageGraph], None]
"""Called with every page before it is written. An error it raises ends the load."""

BeforeReplacing = Callable[[Sequence[PageGraph]], None]
"""Called with the pages of each write before it."""


class LoadStore(GraphReader, TextSearch, PageReader, GraphWriter, Protocol):
    """The part of a store that loading uses: it writes pages, and reads those whose records get new links."""

    @property
    def location(self) -> str: ...

    def set_languages(self, languages: str | None) -> None: ...

    def set_links_pending(self, pending: bool) -> None: ...

    def set_entities(self, recogniser: str | None) -> None: ...


class Merge:
    """Writes pages in batches and decides which of several copies of a page is kept."""

    def __init__(
        self,
        store: LoadStore,
        report: IngestReport,
        check: PageCheck | None,
        localiser: Localiser,
        metadata: Mapping[str, MetadataValue | None] | None = None,
        chunker: str | None = None,
        before_replacing: BeforeReplacing | None = None,
        entities: str | None = None,
    ) -> None:
        self.files: FilePages | None = None
        """Names the pages of files; None if there are no files."""
        self.before_changes: Callable[[], None] = nothing
        """Called once, before the first write of new or changed pages."""
        self._changed = False
        self._store = store
        self._metadata = metadata or {}
        self._was_empty = next(iter(store.pages(limit=1)), None) is None
        self._localiser = localiser
        self._check = check
        self._chunker = chunker
        self._before_replacing = before_replacing
        self._size = 0  # approximate size of the batch in bytes
        self.report = report
        self.seen: dict[str, tuple[int, str]] = {}
        """Revision and source of each page, by uri."""
        self._batch: dict[str, PageGraph] = {}
        self._written: set[str] = set()
        self._aliases: dict[str, set[str]] = {}
        self.names: set[str] = set()  # titles and aliases added
        self._entities = entities
        self.named: set[tuple[str, str]] = set()
        """The recognised names of pages that were added, replaced or removed."""

    def add(self, graph: PageGraph) -> None:
        """Add a page. The copy with the higher revision is kept, then the one from the earlier source; the other's
        aliases are added to it.
        """
        if self.files is not None:
            graph = self.files.settle(graph)
        self.report.differing.update(graph.differing)
        if graph.missing:
            self.report.read_in_part(graph.source, graph.missing)
        graph = self._with_metadata(graph)
        graph = self._localiser.localise(graph)
        if self._check is not None:
            self._check(graph)
        graph = marked(graph, named=self._entities is not None)
        self.names.update((graph.uri, *graph.aliases))
        revision = -1 if graph.revision is None else graph.revision
        earlier = self.seen.get(graph.uri)
        if earlier is not None:
            self._aliases.setdefault(graph.uri, set()).update(graph.aliases)
            kept = earlier[1] if revision <= earlier[0] else graph.source
            dropped = graph.source if revision <= earlier[0] else earlier[1]
            self.report.duplicates.append(Duplicate(graph.uri, kept, dropped))
            if revision <= earlier[0]:
                return
        self.seen[graph.uri] = (revision, graph.source)
        self._batch[graph.uri] = graph
        self._size += _size_of(graph)
        if len(self._batch) >= _PAGES_A_WRITE or self._size >= _BYTES_A_WRITE:
            self.flush()

    def _with_metadata(self, graph: PageGraph) -> PageGraph:
        """Return the page with the metadata that the user gave, now or in an earlier load."""
        said: dict[str, MetadataValue | None] = {}
        if not self._was_empty:
            former = graph.uri if self.files is None else self.files.former.get(graph.uri, graph.uri)
            record = self._store.find_pages([former]).get(former)
            if record is not None:
                said = {key: record.metadata[key] for key in record.given}
        said |= self._metadata
        known = {key: value for key, value in said.items() if value is not None}
        return with_metadata(graph, known) if known else graph

    def keep(self, page: PageRecord) -> None:
        """Leave a stored page as it is, as if it had been read again."""
        self.seen[page.uri] = (-1 if page.revision is None else page.revision, page.source)
        self._localiser.pages[str(page.metadata.get(LANGUAGE, ENGLISH))] += 1
        self.report.unchanged += 1
        if self.files is not None:
            self.files.keep(page)

    def has(self, page: str) -> bool:
        """Whether the page was added in this load."""
        return page in self.seen

    def flush(self) -> None:
        """Write the current batch."""
        pages = adopted(list(self._batch.values()), self._store)
        retitled = [] if self.files is None else self.files.retitled
        known = [] if self._was_empty else [page.uri for page in pages]
        stored = self._store.find_pages(known) if known else {}
        differing = [p for p in pages if p.uri not in stored or stored[p.uri].content_hash != p.content_hash]
        if not self._changed and (retitled or differing):
            self._changed = True
            self.before_changes()
        if self._entities is not None:
            if self._store.entities is None and any(page.format not in LINKED for page in pages):
                self._store.set_entities(self._entities)
            gone = [*retitled, *(page.uri for page in differing if page.uri in stored)]
            self.named |= names_of([*differing, *self._store.page_graphs(gone)])
        if retitled:
            self.report.retitled.extend(self._store.delete(retitled))
            retitled.clear()
        if pages:
            self._localiser.remember_new()
            if self._before_replacing is not None:
                self._before_replacing(pages)
            self.report.replace(p.uri for p in differing if p.uri in stored and p.uri not in self._written)
            self.report.count(self._store.write(pages, self._chunker))
            # Replacing a page that was written by this load is not counted as a replacement.
            self.report.replaced -= len(self._written & self._batch.keys())
            self._written.update(self._batch)
            self._batch.clear()
            self._size = 0
        if self._aliases:
            self._store.add_aliases({page: sorted(names) for page, names in self._aliases.items()})
            self._aliases.clear()


def names_of(graphs: Iterable[PageGraph]) -> set[tuple[str, str]]:
    """Return the names recognised in pages: uris and kinds."""
    return {(name.uri, name.kind) for graph in graphs for chunk in graph.chunks for name in chunk.names}


def _size_of(graph: PageGraph) -> int:
    """Return the approximate size of a page in bytes."""
    return 3 * len(graph.text) + 1_000 * (len(graph.chunks) + len(graph.sections))


def nothing() -> None:
    """Do nothing."""
