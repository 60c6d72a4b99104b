"""From sources to a loaded store: parse in parallel, build, write in order.

Pages reach the store in the order of the sources, whatever worker finishes first, so the same sources make the
same store. A page that cannot be parsed (or that takes its worker process down with it) becomes a
:class:`Problem`; the others go on. Every batch is one transaction: an interrupted run keeps the batches before
it, and the same command again finishes the work.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from trivium.common.progress import StageProgress
from trivium.graph.build import build
from trivium.graph.model import PageGraph
from trivium.graph.protocols import GraphReader, GraphWriter, PageReader
from trivium.graph.records import WriteReport
from trivium.graph.schema import Hop, unescape
from trivium.index.isolation import ParserProcess
from trivium.index.parsing import parse_in_pool, parse_item
from trivium.index.record_pages import RECORDS, RecordPages
from trivium.limits import DEFAULT_LIMITS, InputLimits
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.base import Format, Item, Problem
from trivium.parser.sources.discover import discover, expand
from trivium.parser.sources.records import relinked
from trivium.types import Chunk, ChunkKind, Page

_PAGES_A_WRITE = 100
_BYTES_A_WRITE = 64 << 20
# A pool pays for its start (about a second) from this many documents on.
_WORTH_A_POOL = 100

PageCheck = Callable[[PageGraph], None]
"""Called with every page before it is written; what it raises ends the load."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A page that came more than once: ``kept`` and ``dropped`` are the sources."""

    page: str
    kept: str
    dropped: str


@dataclass(slots=True)
class IngestReport:
    """What a load did, in pages, and what went wrong. The first problems are listed (as many as the limits say),
    ``unlisted`` counts the others."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    relinked: int = 0
    skipped: list[str] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: int = 0

    def problem(self, found: Problem | None, limit: int) -> None:
        """Add a problem; with ``limit`` of them, or None in its place, it is only counted."""
        if found is not None and len(self.problems) < limit:
            self.problems.append(found.shortened())
        else:
            self.unlisted += 1

    def count(self, written: WriteReport) -> None:
        """Add one write's outcome."""
        self.added += written.added
        self.replaced += written.replaced
        self.unchanged += written.unchanged
        self.skipped.extend(written.skipped)


class LoadStore(GraphReader, PageReader, GraphWriter, Protocol):
    """What loading needs of a store: it writes pages, and reads those whose records get new links."""


def load(
    sources: Sequence[str],
    store: LoadStore,
    *,
    format: Format = "auto",
    workers: int | None = None,
    progress: StageProgress | None = None,
    names: Mapping[str, str] | None = None,
    limits: InputLimits = DEFAULT_LIMITS,
    isolated: ParserProcess | None = None,
    check: PageCheck | None = None,
) -> IngestReport:
    """Parse sources and write them to the store. ``names`` says by path what files are called, where that is not their
    path. ``check`` is called with every page before it is written; what it raises ends the load.

    Raises InputError when a source matches nothing, StoreError when the store refuses. ``workers`` defaults to
    the number of cores. From a hundred documents on they are parsed in processes of their own, which import the
    calling script: it has to keep its own work under ``if __name__ == "__main__":``. With ``isolated`` they are parsed in
    that one process, always, within its limits of memory and time: for files of people who are not trusted.
    """
    report = IngestReport()
    merge = _Merge(store, report, check)
    if isolated is not None:
        _load_isolated(isolated, sources, store, merge, format, limits, names or {}, progress)
        return report
    found = _Found(_named(discover(sources, format, limits), names or {}), report, limits)
    _load_documents(found, merge, workers or os.cpu_count() or 1, limits, progress)
    _load_records(found.records, store, merge, limits, progress)
    return report


def _named(found: Iterator[Item | Problem], names: Mapping[str, str]) -> Iterator[Item | Problem]:
    for item in found:
        if isinstance(item, Problem):
            yield replace(item, location=names.get(item.location, item.location))
        else:
            yield replace(item, label=names.get(item.location))


class _Found:
    """The documents among what was found, one by one; records are put aside and problems reported.

    Files are listed at once, so that a progress bar knows how many there are. Of the rows of a file or a remote source
    only the first are: to count them all means to read them all. The others are taken when it is their turn.
    """

    def __init__(self, found: Iterator[Item | Problem], report: IngestReport, limits: InputLimits) -> None:
        self.records: list[Item] = []
        self._documents = self._sort(found, report, limits)
        self._listed: deque[Item] = deque()
        self.count = 0
        for item in self._documents:
            self._listed.append(item)
            if _is_row(item) and len(self._listed) >= _WORTH_A_POOL:
                break

    def _sort(
        self, found: Iterator[Item | Problem], report: IngestReport, limits: InputLimits
    ) -> Iterator[Item]:
        for item in found:
            if isinstance(item, Problem):
                report.problem(item, limits.problems)
            elif item.format == "records":
                self.records.append(item)
            else:
                self.count += 1
                yield item

    def __iter__(self) -> Iterator[Item]:
        while self._listed:
            yield self._listed.popleft()
        yield from self._documents


def _is_row(item: Item) -> bool:
    return item.line is not None or item.content is not None


class _Merge:
    """Writes pages in batches and settles which of several copies of one page stays."""

    def __init__(self, store: GraphWriter, report: IngestReport, check: PageCheck | None = None) -> None:
        self._store = store
        self._check = check
        self._size = 0  # of the batch, about, in bytes
        self.report = report
        self._seen: dict[str, tuple[int, str]] = {}
        self._batch: dict[str, PageGraph] = {}
        self._written: set[str] = set()
        self._aliases: dict[str, set[str]] = {}

    def add(self, graph: PageGraph) -> None:
        """Take one page: the higher revision wins, then the earlier source; a loser still gives its aliases."""
        if self._check is not None:
            self._check(graph)
        revision = -1 if graph.revision is None else graph.revision
        earlier = self._seen.get(graph.uri)
        if earlier is not None:
            self._aliases.setdefault(graph.uri, set()).update(graph.aliases)
            kept = earlier[1] if revision <= earlier[0] else graph.source
            dropped = graph.source if revision <= earlier[0] else earlier[1]
            self.report.duplicates.append(Duplicate(graph.uri, kept, dropped))
            if revision <= earlier[0]:
                return
        self._seen[graph.uri] = (revision, graph.source)
        self._batch[graph.uri] = graph
        self._size += 3 * len(graph.text) + 1_000 * (len(graph.chunks) + len(graph.sections))
        if len(self._batch) >= _PAGES_A_WRITE or self._size >= _BYTES_A_WRITE:
            self.flush()

    def has(self, page: str) -> bool:
        """Whether the page came in this load."""
        return page in self._seen

    def flush(self) -> None:
        """Write what has gathered."""
        if self._batch:
            self.report.count(self._store.write(list(self._batch.values())))
            # A better copy of a page that this load has written already replaces nothing that was there before.
            self.report.replaced -= len(self._written & self._batch.keys())
            self._written.update(self._batch)
            self._batch.clear()
            self._size = 0
        if self._aliases:
            self._store.add_aliases({page: sorted(names) for page, names in self._aliases.items()})
            self._aliases.clear()


def _load_documents(
    found: _Found, merge: _Merge, workers: int, limits: InputLimits, progress: StageProgress | None
) -> None:
    few = found.count < _WORTH_A_POOL
    outcomes = (
        (parse_item(item, limits) for item in found)
        if workers == 1 or few
        else parse_in_pool(found, workers, limits)
    )
    for done, outcome in enumerate(outcomes, start=1):
        if isinstance(outcome, Problem):
            merge.report.problem(outcome, limits.problems)
        else:
            for graph in outcome:
                merge.add(graph)
        if progress is not None:
            progress("parse", done, found.count)
    merge.flush()


def _load_records(
    items: Sequence[Item],
    store: LoadStore,
    merge: _Merge,
    limits: InputLimits,
    progress: StageProgress | None,
) -> None:
    """Records link to every title there is, so they are read last, and those already stored are read again
    when new titles have come."""
    pages = RecordPages(limits)
    for item in items:
        for problem in pages.read(item):
            if problem is not None:
                merge.report.problem(problem, limits.problems)
    changed = bool(pages or merge.report.added or merge.report.replaced)
    stored = _stored_record_pages(store) if changed else []
    if not pages and not stored:
        return
    gazetteer = Gazetteer([*pages.names(), *store.names()])
    for done, (_, outcome) in enumerate(pages.graphs(gazetteer), start=1):
        if isinstance(outcome, Problem):
            merge.report.problem(outcome, limits.problems)
        else:
            merge.add(outcome)
        if progress is not None:
            progress("records", done, len(pages))
    merge.flush()
    _relink_others(stored, store, merge, gazetteer)


def _load_isolated(
    parser: ParserProcess,
    sources: Sequence[str],
    store: LoadStore,
    merge: _Merge,
    format: Format,
    limits: InputLimits,
    names: Mapping[str, str],
    progress: StageProgress | None,
) -> None:
    """Files, parsed by a process apart."""
    paths: list[str] = []
    for found in (found for source in sources for found in expand(source)):
        if isinstance(found, Problem):
            merge.report.problem(found, limits.problems)
        else:
            paths.append(found)

    def beat(done: int) -> None:
        if progress is not None:
            progress("parse", done, max(done, len(paths)))

    came = False

    def titles() -> Iterator[tuple[str, str]]:
        nonlocal came
        came = True
        merge.flush()
        yield from store.names()

    for outcome in parser.parse(paths, names, format, limits, titles, beat):
        if isinstance(outcome, PageGraph):
            merge.add(outcome)
        else:
            merge.report.problem(outcome, limits.problems)
    merge.flush()
    if came or merge.report.added or merge.report.replaced:
        stored = _stored_record_pages(store)
        if any(not merge.has(uri) for uri, _ in stored):
            _relink_others(stored, store, merge, Gazetteer(store.names()))


def _stored_record_pages(store: LoadStore) -> list[tuple[str, str]]:
    """(uri, source) of the pages that records made."""
    return [(uri, source) for uri, source, _, _ in store.pages() if source.startswith(RECORDS)]


def _relink_others(
    stored: Sequence[tuple[str, str]], store: LoadStore, merge: _Merge, gazetteer: Gazetteer
) -> None:
    """Look for the names that are new in the records that were stored before this load."""
    others = [(uri, source) for uri, source in stored if not merge.has(uri)]
    merge.report.relinked = _relink(others, store, gazetteer)


def _relink(stored: Sequence[tuple[str, str]], store: LoadStore, gazetteer: Gazetteer) -> int:
    """Look for names in records that are stored already; returns how many pages found new ones."""
    # Asked once and before anything is written: each write makes the store's arrays stale.
    chunks = store.expand([uri for uri, _ in stored], Hop.BELOW)
    merge = _Merge(store, IngestReport())
    for uri, source in stored:
        merge.add(build(relinked(_stored_records(store, uri, source, chunks[uri]), gazetteer)))
    merge.flush()
    return merge.report.replaced


def _stored_records(store: GraphReader, uri: str, source: str, chunks: Sequence[str]) -> Page:
    records = tuple(
        Chunk(ChunkKind(record.kind), record.text, record.start, record.end) for record in store.fetch(chunks)
    )
    return Page(unescape(uri), store.page_text(uri), records, source=source)
