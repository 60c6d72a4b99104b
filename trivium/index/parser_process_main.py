"""Runs in the process that parses untrusted documents, with limits of memory and CPU time, connected to the server
only by a pipe. Messages are JSON; nothing is pickled.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from trivium.chunking.portable_chunkers import portable_chunker
from trivium.common.worker_processes import limit_memory, limit_processor_time
from trivium.graph.page_graph import PageGraph
from trivium.index.graph_messages import dump, load, parts_of
from trivium.index.parsing import parse_document
from trivium.index.record_pages import RECORDS, RecordPages
from trivium.parser import ocr_cache
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.discover import Found, file_items
from trivium.parser.sources.source_items import Format, Item, LeftOut, Problem, printable_path
from trivium.settings.limits import InputLimits

if sys.platform != "win32":
    import resource

_RECORDS_A_TICK = 1_000
_NICE = 5  # searches have priority


def parse_all(pipe: Connection) -> None:
    """Serve parse requests until the pipe is closed."""
    ocr_cache.keep_nothing()
    if sys.platform != "win32":
        os.nice(_NICE)
    try:
        while True:
            _Task(pipe, load(pipe.recv_bytes())).run()
    except (EOFError, OSError):
        return


class _Task:
    """The files of one load. Each has a path, the name it was uploaded under, the number of items done, whether it
    was named by the user, and its place (:class:`~trivium.parser.sources.discover.FoundFile`).
    """

    def __init__(self, pipe: Connection, asked: Mapping[str, Any]) -> None:
        self._pipe = pipe
        self._files: list[tuple[str, str | None, int, bool, str]] = asked["files"]
        self._format: Format = asked["format"]
        self._limits = InputLimits.model_validate(asked["limits"]).of_uploads()
        self._chunker = portable_chunker(asked["chunker"])
        self._entities: str | None = asked["entities"]
        self._problems = 0
        self._unlisted = 0  # problems beyond the limit that were not reported yet

    def run(self) -> None:
        limit_memory(self._limits.worker_bytes)
        of_records: list[tuple[int, Item]] = []
        total = 0
        for number, (path, label, skip, named, place) in enumerate(self._files):
            done = 0
            for found in self._items(number, path, label, named, place):
                if isinstance(found, Item) and found.format == "records":
                    of_records.append((number, found))
                    continue
                done, total = done + 1, total + 1
                if total > self._limits.documents:
                    most = f"{self._limits.documents:,}"
                    self._problem(
                        Problem(label or path, f"more than {most} documents at once: the rest is left out")
                    )
                    break
                if done > skip:
                    self._document(found)
                    self._send("ended", number)
                self._begin(number)
        if of_records:
            try:
                self._records(of_records)
            except MemoryError:
                for _, item in of_records:
                    self._problem(Problem(item.name, self._too_much_memory))
        self._report_unlisted()
        self._send("done", _peak_memory())

    def _items(self, number: int, path: str, label: str | None, named: bool, place: str) -> Iterator[Found]:
        self._begin(number)
        try:
            for found in file_items(path, self._format, self._limits, label=label, named=named):
                if isinstance(found, LeftOut):
                    yield found
                elif isinstance(found, Problem):
                    row = found.location.removeprefix(printable_path(path))
                    yield replace(found, location=(label or printable_path(path)) + row)
                else:
                    yield replace(found, label=label, path=label or place)
        except MemoryError:
            yield Problem(label or path, self._too_much_memory)

    def _document(self, found: Found) -> None:
        if isinstance(found, LeftOut):
            self._send("left out", found.location)
            return
        if isinstance(found, Problem):
            self._problem(found)
            return
        try:
            outcome = parse_document(found, self._limits, self._chunker, self._entities)
            if isinstance(outcome, Problem):
                self._problem(outcome)
            else:
                for graph in outcome:
                    self._graph(graph)
        except MemoryError:
            self._problem(Problem(found.name, self._too_much_memory))

    def _records(self, items: Sequence[tuple[int, Item]]) -> None:
        with closing(RecordPages(self._limits, self._limits.records_bytes)) as pages:
            self._record_pages(pages, items)

    def _record_pages(self, pages: RecordPages, items: Sequence[tuple[int, Item]]) -> None:
        numbers = {RECORDS + item.source: number for number, item in items}
        for number, item in items:
            self._begin(number)
            for count, problem in enumerate(pages.read(item), start=1):
                if problem is not None:
                    self._problem(problem)
                if count % _RECORDS_A_TICK == 0:
                    self._begin(number)
        self._send("names", len(pages))
        names = list(pages.names())
        while batch := load(self._pipe.recv_bytes()):
            names.extend((name, target) for name, target in batch)
        for source, outcome in pages.graphs(Gazetteer(names), self._chunker, self._entities):
            if isinstance(outcome, Problem):
                self._problem(outcome)
            else:
                self._graph(outcome)
            self._begin(numbers[source])

    def _begin(self, number: int) -> None:
        """Start a document, with the full time limit."""
        limit_processor_time(self._limits.seconds)
        self._report_unlisted()
        self._send("begun", number)

    def _graph(self, graph: PageGraph) -> None:
        for part in parts_of(graph):
            self._send(*part)

    def _problem(self, problem: Problem) -> None:
        """Send a problem, or only count it if it would not be listed."""
        self._problems += 1
        if self._problems <= self._limits.problems:
            self._send("problem", [problem.location, problem.shortened().reason])
        else:
            self._unlisted += 1

    def _report_unlisted(self) -> None:
        if self._unlisted:
            self._send("unlisted", self._unlisted)
            self._unlisted = 0

    def _send(self, kind: str, content: Any) -> None:
        self._pipe.send_bytes(dump([kind, content]))

    @property
    def _too_much_memory(self) -> str:
        return (
            f"to parse it takes more than {self._limits.worker_bytes >> 20} MB of memory, the limit: split it"
        )


def _peak_memory() -> int:
    """Return the peak memory in bytes."""
    if sys.platform == "win32":
        return 0
    with suppress(OSError, IndexError):  # not Linux
        # ru_maxrss begins with the peak of the process that started this one, such as a server with its indexes.
        return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) << 10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10
