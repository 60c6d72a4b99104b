"""From sources to a loaded store: parse in parallel, build, write in order.

Pages reach the store in the order of the sources, whatever worker finishes first, so the same sources make the
same store. A page that cannot be parsed (or that takes its worker process down with it) becomes a
:class:`Problem`; the others go on. Every batch is one transaction: an interrupted run keeps the batches before
it, and the same command again finishes the work.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from itertools import islice

from trivium.errors import TriviumError
from trivium.graph.build import build
from trivium.graph.model import PageGraph
from trivium.graph.schema import Hop, unescape
from trivium.graph.store import GraphStore, WriteReport
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.base import Format, Item, Problem
from trivium.parser.sources.discover import discover
from trivium.parser.sources.read import read
from trivium.parser.sources.records import Record, read_records, records_to_pages

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total)."""

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


Loaded = list[PageGraph] | Problem


def load(
    sources: Sequence[str],
    store: GraphStore,
    *,
    format: Format = "auto",  # noqa: A002 - the name users type
    workers: int | None = None,
    progress: Progress | None = None,
) -> IngestReport:
    """Parse sources and write them to the store.

    Raises InputError when a source matches nothing, StoreError when the store refuses. ``workers`` defaults to
    the number of cores.
    """
    report = IngestReport()
    items: list[Item] = []
    for found in discover(sources, format):
        if isinstance(found, Problem):
            report.problems.append(found)
        else:
            items.append(found)
    documents = [item for item in items if item.format != "records"]
    records = [item for item in items if item.format == "records"]
    merge = _Merge(store, report)
    _load_documents(documents, merge, workers or os.cpu_count() or 1, progress)
    _load_records(records, store, merge, progress)
    return report


class _Merge:
    """Writes pages in batches and settles which of several copies of one page stays."""

    def __init__(self, store: GraphStore, report: IngestReport) -> None:
        self._store = store
        self.report = report
        self._seen: dict[str, tuple[int, str]] = {}
        self._batch: dict[str, PageGraph] = {}
        self._aliases: dict[str, set[str]] = {}

    def add(self, graph: PageGraph) -> None:
        """Take one page: the higher revision wins, then the earlier source; a loser still gives its aliases."""
        revision = -1 if graph.revision is None else graph.revision
        known = self._seen.get(graph.uri)
        if known is not None:
            self._aliases.setdefault(graph.uri, set()).update(graph.aliases)
            kept = known[1] if revision <= known[0] else graph.source
            dropped = graph.source if revision <= known[0] else known[1]
            self.report.duplicates.append(Duplicate(graph.uri, kept, dropped))
            if revision <= known[0]:
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
            self._batch.clear()
        if self._aliases:
            self._store.add_aliases({page: sorted(names) for page, names in self._aliases.items()})
            self._aliases.clear()


def _load_documents(
    items: Sequence[Item], merge: _Merge, workers: int, progress: Progress | None
) -> None:
    done = 0
    outcomes = (
        map(_load_item, items) if workers == 1 or len(items) < _WORTH_A_POOL else _in_pool(items, workers)
    )
    for outcome in outcomes:
        if isinstance(outcome, Problem):
            merge.report.problems.append(outcome)
        else:
            for graph in outcome:
                merge.add(graph)
        done += 1
        if progress is not None:
            progress("parse", done, len(items))
    merge.flush()


def _load_item(item: Item) -> Loaded:
    """One document as graphs, or why not. Runs in a worker process."""
    try:
        return [build(page) for page in read(item)]
    except TriviumError as error:
        return Problem(item.name, str(error))
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return Problem(item.name, f"{type(error).__name__}: {error}")


def _load_items(items: Sequence[Item]) -> list[Loaded]:
    return [_load_item(item) for item in items]


def _in_pool(items: Sequence[Item], workers: int) -> Iterator[Loaded]:
    """Outcomes in the order of the items. A task whose worker dies is tried again item by item, each in a
    process of its own, so that only the item that kills it is lost."""
    tasks = list(_slices(items, _ITEMS_A_TASK))
    start = 0
    while start < len(tasks):
        broken = False
        with _pool(workers) as pool:
            waiting: deque[Future[list[Loaded]]] = deque()
            submitted = start
            try:
                while start < len(tasks):
                    # A bounded window keeps memory flat when the store is slower than the parsers.
                    while submitted < len(tasks) and len(waiting) < 4 * workers:
                        waiting.append(pool.submit(_load_items, tasks[submitted]))
                        submitted += 1
                    yield from waiting.popleft().result()
                    start += 1
            except BrokenProcessPool:
                broken = True
            finally:
                for future in waiting:
                    future.cancel()
        if broken:
            for item in tasks[start]:
                yield _alone(item)
            start += 1


def _alone(item: Item) -> Loaded:
    try:
        with _pool(1) as pool:
            return pool.submit(_load_item, item).result()
    except BrokenProcessPool:
        return Problem(item.name, "the parser process died on this document")


def _pool(workers: int) -> ProcessPoolExecutor:
    # Not fork: the parent may hold threads (embedder, index) whose locks a forked child would inherit.
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def _slices(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def _load_records(
    items: Sequence[Item], store: GraphStore, merge: _Merge, progress: Progress | None
) -> None:
    """Records link to every title there is, so they are read last, and those already stored are read again
    when new titles have come. Records of one title are one page, whatever files they stand in."""
    by_title: dict[str, tuple[str, list[Record]]] = {}
    for item in items:
        records, problems = read_records(item.location)
        merge.report.problems.extend(problems)
        for record in records:
            _, known = by_title.setdefault(record.title, (RECORDS + item.location, []))
            if all(record.text != other.text for other in known):
                known.append(record)
    stored = [(uri, source) for uri, source, _, _ in store.pages() if source.startswith(RECORDS)]
    if not by_title and not stored:
        return
    gazetteer = Gazetteer([*((title, title) for title in sorted(by_title)), *store.names()])
    for done, (source, records) in enumerate(by_title.values(), start=1):
        merge.add(_record_page(records, source, gazetteer))
        if progress is not None:
            progress("records", done, len(by_title))
    merge.flush()
    before = merge.report.replaced
    for uri, source in stored:
        if not merge.has(uri):
            chunks = store.fetch(store.expand([uri], Hop.BELOW)[uri])
            records = [Record(title=unescape(uri), text=chunk.text) for chunk in chunks]
            merge.add(_record_page(records, source, gazetteer))
    merge.flush()
    merge.report.relinked = merge.report.replaced - before


def _record_page(records: Sequence[Record], source: str, gazetteer: Gazetteer) -> PageGraph:
    (page,) = records_to_pages(records, gazetteer)
    return build(replace(page, source=source))
