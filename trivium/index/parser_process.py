"""Parses untrusted documents in a separate process, which protects the memory and time of the serving process.

The process is kept for the next load, since it is slow to start. It is killed if a document takes too long, and
crashes if one takes too much memory; that document is reported, and a new process continues with the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trivium.chunking.chunker_spec import DEFAULT

if TYPE_CHECKING:  # the parser is imported on first use
    from multiprocessing.connection import Connection

    from trivium.common.worker_processes import Worker
    from trivium.index.isolated_load import Names, Outcome
    from trivium.parser.sources.discover import FoundFile
    from trivium.parser.sources.source_items import Format
    from trivium.settings.limits import InputLimits

_BEAT_SECONDS = 0.1
_KEPT_BYTES = 192 << 20
"""A process that has used more memory than this is not kept."""


class ParserProcess:
    """A process that parses documents, started on demand; one load at a time."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def parse(
        self,
        found: Sequence[FoundFile],
        labels: Mapping[str, str],
        format: Format,
        limits: InputLimits,
        names: Names,
        beat: Callable[[int], None],
        chunker: str = DEFAULT,
        entities: str | None = None,
    ) -> Iterator[Outcome]:
        """Parse the ``found`` files and yield their documents in order, followed by the pages of records.

        ``labels`` maps paths to display names. ``names`` returns titles and their targets; it is called once
        everything except records is done. ``beat`` is called at least once a second with the number of documents
        completed; if it raises, the process is killed. ``chunker`` is the spec of a chunker that needs no model,
        ``entities`` what recognises names.
        """
        from trivium.index.isolated_load import IsolatedLoad

        load = IsolatedLoad(self, found, labels, format, limits, names, beat, chunker, entities)
        kept = False
        try:
            yield from load.outcomes()
            kept = load.peak_bytes <= _KEPT_BYTES
        finally:
            if not kept:
                self.close()

    @property
    def pid(self) -> int | None:
        """The process id, None before the first document."""
        return None if self._worker is None else self._worker.pid

    def connect(self) -> Connection:
        """Return the pipe to the process, starting it if necessary."""
        if self._worker is None:
            from trivium.common.worker_processes import Worker

            self._worker = Worker("trivium.index.parser_process_main:parse_all")
        return self._worker.connect()

    def close(self) -> int | None:
        """Terminate the process, if any, and return its exit code (negative for a signal)."""
        worker = self._worker
        return (
            None if worker is None else worker.end(_BEAT_SECONDS)
        )  # if it has ended by itself, keep its exit code
