"""Loads documents that a separate process parses (:mod:`trivium.index.parser_process`), and continues after documents
that crash it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from trivium.common.iteration import batched
from trivium.common.worker_processes import WorkerLostError
from trivium.graph.page_graph import PageGraph
from trivium.index.graph_messages import Joined, dump, load
from trivium.parser.sources.source_items import Format, LeftOut, Problem, printable_path
from trivium.settings.limits import InputLimits

if TYPE_CHECKING:
    from trivium.index.parser_process import ParserProcess
    from trivium.parser.sources.discover import FoundFile

_BEAT_SECONDS = 0.1
_MAX_KILLED = 10
"""Number of documents per load that may crash the process; after that the rest of the load is skipped."""
_CLOCK = 3.0
"""Wall-clock limit of a document, as a multiple of its CPU time limit."""
_MAX_KILLED_BY_FILE = 2
_START_SECONDS = 60.0
_NAMES_A_MESSAGE = 1_000

Names = Callable[[], Iterable[tuple[str, str]]]
Outcome = PageGraph | Problem | LeftOut | None
"""A page, a document that could not be read, a skipped file of an unsupported format, or None for one of those that
are only counted.
"""


@dataclass(slots=True)
class _File:
    path: str
    label: str | None
    named: bool
    place: str
    done: int = 0  # number of its items that were completed
    killed: int = 0  # number of processes it has crashed
    lost: bool = False

    @property
    def name(self) -> str:
        return printable_path(self.path) if self.label is None else self.label


class _TooLongError(Exception):
    """A document takes too long."""


class IsolatedLoad:
    """One load. ``outcomes`` yields the results; afterwards ``peak_bytes`` is the peak memory of the process."""

    def __init__(
        self,
        parser: ParserProcess,
        found: Sequence[FoundFile],
        labels: Mapping[str, str],
        format: Format,
        limits: InputLimits,
        names: Names,
        beat: Callable[[int], None],
        chunker: str,
        entities: str | None,
    ) -> None:
        self.peak_bytes = 0
        self._parser = parser
        self._files = [_File(file.path, labels.get(file.path), file.named, file.place) for file in found]
        self._format: Format = format
        self._limits = limits
        self._names = names
        self._beat = beat
        self._chunker = chunker
        self._entities = entities
        self._at = self._files[0] if self._files else _File("", None, True, "")
        self._ended = 0
        self._received = 0  # bytes received since the document began
        self._waited = 0.0  # seconds waited since then
        self._allowed = 0.0
        self._in_records = False
        self._has_page = False  # the current document was received completely

    def outcomes(self) -> Iterator[Outcome]:
        for _ in range(_MAX_KILLED):
            try:
                yield from self._attempt([file for file in self._files if not file.lost])
                return
            except _TooLongError as error:
                self._parser.close()
                reason = str(error)
            except (EOFError, OSError, WorkerLostError):
                reason = self._why(self._parser.close())
            lost = self._lost(reason)
            if not self._has_page:
                yield lost
        names = ", ".join(file.name for file in self._files[self._files.index(self._at) :][:3])
        yield Problem(names, f"left out, with what follows: {_MAX_KILLED} documents had to be stopped before")

    def _lost(self, reason: str) -> Problem:
        """Skip the current document, or the whole file while records are loaded."""
        self._at.done += 1
        self._at.killed += 1
        self._at.lost = self._in_records or self._at.killed >= _MAX_KILLED_BY_FILE
        self._ended += 1
        return Problem(self._at.name, reason)

    def _attempt(self, files: Sequence[_File]) -> Iterator[Outcome]:
        self._in_records = False
        self._received, self._waited, self._allowed = 0, 0.0, _START_SECONDS
        pipe = self._parser.connect()
        asked = {
            "files": [(file.path, file.label, file.done, file.named, file.place) for file in files],
            "format": self._format,
            "limits": self._limits.model_dump(),
            "chunker": self._chunker,
            "entities": self._entities,
        }
        pipe.send_bytes(dump(asked))
        joined = Joined()
        while True:
            kind, content = self._receive(pipe)
            if kind == "begun":
                joined = Joined()  # discard the parts of an abandoned document
                self._at = files[content]
                self._has_page = False
                self._received, self._waited = 0, 0.0
                self._allowed = _CLOCK * (self._limits.seconds + self._limits.of_uploads().ocr_seconds)
            elif kind == "ended":
                files[content].done += 1
                self._ended += 1
            elif kind == "problem":
                yield Problem(content[0], content[1])
            elif kind == "left out":
                yield LeftOut(content)
            elif kind == "unlisted":
                yield from [None] * content
            elif kind == "names":
                self._in_records = True
                for batch in batched(self._names(), _NAMES_A_MESSAGE):
                    pipe.send_bytes(dump(batch))
                pipe.send_bytes(dump([]))
            elif kind == "done":
                self.peak_bytes = content
                return
            else:
                graph = joined.add(kind, content)
                if graph is not None:
                    self._has_page = not self._in_records
                    yield graph

    def _receive(self, pipe: Connection) -> Any:
        """Receive the next message. Raises _TooLongError if there is none in time, EOFError or OSError if the process
        ends or sends too much.
        """
        while True:
            started = time.monotonic()
            there = pipe.poll(_BEAT_SECONDS)
            self._waited += time.monotonic() - started
            self._beat(self._ended)
            if there:
                break
            if self._waited > self._allowed:
                raise _TooLongError(
                    f"to parse it takes more than {self._allowed:g} seconds, the limit: split it"
                )
        most = 4 * self._limits.graph_bytes + (1 << 20)  # UTF-8 takes up to four bytes per character
        message = pipe.recv_bytes(most)
        self._received += len(message)
        if self._received > 2 * most:
            raise OSError("it sends too much")
        return load(message)

    def _why(self, code: int | None) -> str:
        megabytes, seconds = self._limits.worker_bytes >> 20, self._limits.seconds
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"to parse it takes more than {seconds:g} seconds, the limit: split it"
        return f"the parser process died on this document; it may take {megabytes} MB of memory and {seconds:g} seconds"
