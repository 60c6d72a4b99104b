"""From sources to a loaded store: parse in parallel, build, write in order.

Pages reach the store in the order of the sources, whatever worker finishes first, so the same sources make the
same store. A page that cannot be parsed (or that takes its worker process down with it) becomes a
:class:`Problem`; the others go on. Every batch is one transaction: an interrupted run keeps the batches before
it, and the same command again finishes the work.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Protocol

from trivium.common.iteration import batched
from trivium.common.progress import StageProgress
from trivium.errors import ConfigurationError, TriviumError
from trivium.graph.build import build
from trivium.graph.model import PageGraph
from trivium.graph.protocols import GraphReader, GraphWriter, PageReader
from trivium.graph.records import WriteReport
from trivium.graph.schema import Hop, unescape
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.base import Format, Item, Problem
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.records import Record, read_records, records_to_pages, relinked
from trivium.types import Chunk, ChunkKind, Page

RECORDS = "records:"
_ITEMS_A_TASK = 8
_PAGES_A_WRITE = 100
# A pool pays for its start (about a second) from this many documents on.
_WORTH_A_POOL = 100


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A page that came more than once: ``kept`` and ``dropped`` are the sources."""

    page: str
    kept: str
    dropped: str


@dataclass(slots=True)
class IngestReport:
    """What a load did, in pages, and what went wrong."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    relinked: int = 0
    skipped: list[str] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def count(self, written: WriteReport) -> None:
        """Add one write's outcome."""
        self.added += written.added
        self.replaced += written.replaced
        self.unchanged += written.unchanged
        self.skipped.extend(written.skipped)


class LoadStore(GraphReader, PageReader, GraphWriter, Protocol):
    """What loading needs of a store: it writes pages, and reads those whose records get new links."""


Loaded = list[PageGraph] | Problem


def load(
    sources: Sequence[str],
    store: LoadStore,
    *,
    format: Format = "auto",
    workers: int | None = None,
    progress: StageProgress | None = None,
    names: Mapping[str, str] | None = None,
) -> IngestReport:
    """Parse sources and write them to the store. ``names`` says by path what files are called, where that is not their
    path.

    Raises InputError when a source matches nothing, StoreError when the store refuses. ``workers`` defaults to
    the number of cores. From a hundred documents on they are parsed in processes of their own, which import the
    calling script: it has to keep its own work under ``if __name__ == "__main__":``.
    """
    report = IngestReport()
    found = _Found(_named(discover(sources, format), names or {}), report)
    merge = _Merge(store, report)
    _load_documents(found, merge, workers or os.cpu_count() or 1, progress)
    _load_records(found.records, store, merge, progress)
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

    def __init__(self, found: Iterator[Item | Problem], report: IngestReport) -> None:
        self.records: list[Item] = []
        self._documents = self._sort(found, report)
        self._listed: deque[Item] = deque()
        self.count = 0
        for item in self._documents:
            self._listed.append(item)
            if _is_row(item) and len(self._listed) >= _WORTH_A_POOL:
                break

    def _sort(self, found: Iterator[Item | Problem], report: IngestReport) -> Iterator[Item]:
        for item in found:
            if isinstance(item, Problem):
                report.problems.append(item)
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

    def __init__(self, store: GraphWriter, report: IngestReport) -> None:
        self._store = store
        self.report = report
        self._seen: dict[str, tuple[int, str]] = {}
        self._batch: dict[str, PageGraph] = {}
        self._written: set[str] = set()
        self._aliases: dict[str, set[str]] = {}

    def add(self, graph: PageGraph) -> None:
        """Take one page: the higher revision wins, then the earlier source; a loser still gives its aliases."""
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
        if len(self._batch) >= _PAGES_A_WRITE:
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
        if self._aliases:
            self._store.add_aliases({page: sorted(names) for page, names in self._aliases.items()})
            self._aliases.clear()


def _load_documents(found: _Found, merge: _Merge, workers: int, progress: StageProgress | None) -> None:
    few = found.count < _WORTH_A_POOL
    outcomes = map(_load_item, found) if workers == 1 or few else _in_pool(found, workers)
    for done, outcome in enumerate(outcomes, start=1):
        if isinstance(outcome, Problem):
            merge.report.problems.append(outcome)
        else:
            for graph in outcome:
                merge.add(graph)
        if progress is not None:
            progress("parse", done, found.count)
    merge.flush()


def _load_item(item: Item) -> Loaded:
    """One document as graphs, or why not. Runs in a worker process."""
    try:
        return [build(page) for page in read(item)]
    except TriviumError as error:
        return Problem(item.name, str(error).removeprefix(f"{item.name}: "))
    except Exception as error:  # whatever a document does to a parser, it is this document's problem
        return Problem(item.name, f"{type(error).__name__}: {error}")


def _load_items(items: Sequence[Item]) -> list[Loaded]:
    return [_load_item(item) for item in items]


def _in_pool(items: Iterable[Item], workers: int) -> Iterator[Loaded]:
    """Outcomes in the order of the items. When a worker dies, the tasks under way are done again item by item,
    each in a process of its own, so that only the item that kills it is lost.

    Raises ConfigurationError where no worker can be started at all."""
    tasks = batched(items, _ITEMS_A_TASK)
    # A bounded window keeps memory flat when the store is slower than the parsers.
    window = 4 * workers
    under_way: deque[list[Item]] = deque(islice(tasks, window))
    while under_way:
        with _pool(workers) as pool:
            futures: deque[Future[list[Loaded]]] = deque()
            try:
                futures.extend(pool.submit(_load_items, task) for task in under_way)
                while under_way:
                    yield from futures[0].result()
                    futures.popleft()
                    under_way.popleft()
                    for task in islice(tasks, 1):
                        under_way.append(task)
                        futures.append(pool.submit(_load_items, task))
            except BrokenProcessPool:
                _check_workers()
                for item in chain.from_iterable(under_way):
                    yield _alone(item)
                under_way = deque(islice(tasks, window))
            finally:
                for future in futures:
                    future.cancel()


def _check_workers() -> None:
    """A pool that breaks on nothing at all is no document's fault."""
    try:
        with _pool(1) as pool:
            pool.submit(os.getpid).result()
    except BrokenProcessPool as error:
        raise ConfigurationError(
            "parser processes cannot be started: a script that builds a store needs the lines that do so under"
            "  if __name__ == '__main__':  since its workers import it; or build with workers=1"
        ) from error


def _alone(item: Item) -> Loaded:
    try:
        with _pool(1) as pool:
            return pool.submit(_load_item, item).result()
    except BrokenProcessPool:
        return Problem(item.name, "the parser process died on this document")


def _pool(workers: int) -> ProcessPoolExecutor:
    # Not fork: the parent may hold threads (embedder, index) whose locks a forked child would inherit.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End this worker when the process that started it has ended, be it killed: nobody else would end it, since workers
    wait for tasks on a pipe that each of them keeps open."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, name="end with parent", daemon=True).start()


def _load_records(
    items: Sequence[Item], store: LoadStore, merge: _Merge, progress: StageProgress | None
) -> None:
    """Records link to every title there is, so they are read last, and those already stored are read again
    when new titles have come. Records of one title are one page, whatever files they stand in."""
    by_title: dict[str, tuple[str, list[Record]]] = {}
    for item in items:
        records, problems = read_records(item.location, item.name)
        merge.report.problems.extend(problems)
        for record in records:
            _, same_title = by_title.setdefault(record.title, (RECORDS + item.source, []))
            if all(record.text != other.text for other in same_title):
                same_title.append(record)
    stored = [(uri, source) for uri, source, _, _ in store.pages() if source.startswith(RECORDS)]
    if not by_title and not stored:
        return
    gazetteer = Gazetteer([*((title, title) for title in sorted(by_title)), *store.names()])
    for done, (source, records) in enumerate(by_title.values(), start=1):
        merge.add(_record_page(records, source, gazetteer))
        if progress is not None:
            progress("records", done, len(by_title))
    merge.flush()
    if by_title or merge.report.added or merge.report.replaced:
        merge.report.relinked = _relink(
            [(uri, source) for uri, source in stored if not merge.has(uri)], store, gazetteer
        )


def _relink(stored: Sequence[tuple[str, str]], store: LoadStore, gazetteer: Gazetteer) -> int:
    """Look for names in records that are stored already; returns how many pages found new ones."""
    # Asked once and before anything is written: each write makes the store's arrays stale.
    chunks = store.expand([uri for uri, _ in stored], Hop.BELOW)
    merge = _Merge(store, IngestReport())
    for uri, source in stored:
        merge.add(build(relinked(_stored_records(store, uri, source, chunks[uri]), gazetteer)))
    merge.flush()
    return merge.report.replaced


def _record_page(records: Sequence[Record], source: str, gazetteer: Gazetteer) -> PageGraph:
    (page,) = records_to_pages(records, gazetteer)
    return build(replace(page, source=source))


def _stored_records(store: GraphReader, uri: str, source: str, chunks: Sequence[str]) -> Page:
    records = tuple(
        Chunk(ChunkKind(record.kind), record.text, record.start, record.end) for record in store.fetch(chunks)
    )
    return Page(unescape(uri), store.page_text(uri), records, source=source)
