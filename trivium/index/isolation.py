"""Parses untrusted documents in a separate process, which protects the memory and time of the serving process.

The process is kept for the next load, since it is slow to start. It is killed if a document takes too long, and
crashes if one takes too much memory; that document is reported, and a new process continues with the next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trivium.chunking.spec import DEFAULT

if TYPE_CHECKING:  # the parser is imported on first use
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from trivium.index.isolated_load import Names, Outcome
    from trivium.limits import InputLimits
    from trivium.parser.sources.base import Format
    from trivium.parser.sources.discover import FoundFile

_BEAT_SECONDS = 0.1
_KEPT_BYTES = 192 << 20
"""A process that has used more memory than this is not kept."""


class ParserProcess:
    """A process that parses documents, started on demand; one load at a time."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._lock = threading.Lock()  # several threads may close it

    def parse(
        self,
        found: Sequence[FoundFile],
        labels: Mapping[str, str],
        format: Format,
        limits: InputLimits,
        names: Names,
        beat: Callable[[int], None],
        chunker: str = DEFAULT,
    ) -> Iterator[Outcome]:
        """Parse the ``found`` files and yield their documents in order, followed by the pages of records.

        ``labels`` maps paths to display names. ``names`` returns titles and their targets; it is called once
        everything except records is done. ``beat`` is called at least once a second with the number of documents
        completed; if it raises, the process is killed. ``chunker`` is the spec of a chunker that needs no model.
        """
        from trivium.index.isolated_load import IsolatedLoad

        load = IsolatedLoad(self, found, labels, format, limits, names, beat, chunker)
        kept = False
        try:
            yield from load.outcomes()
            kept = load.peak_bytes <= _KEPT_BYTES
        finally:
            if not kept:
                self.close()

    def connect(self) -> Connection:
        """Return the pipe to the process, starting it if necessary."""
        import multiprocessing

        from trivium.index.parser_process import parse_all

        with self._lock:
            if self._pipe is None or self._process is None or not self._process.is_alive():
                context = multiprocessing.get_context("spawn")
                self._pipe, theirs = context.Pipe()
                self._process = context.Process(target=parse_all, args=(theirs,), daemon=True)
                self._process.start()
                theirs.close()  # otherwise the end of the process would not close the pipe
            return self._pipe

    def close(self) -> int | None:
        """Terminate the process, if any, and return its exit code (negative for a signal)."""
        with self._lock:
            process, pipe = self._process, self._pipe
            self._process = self._pipe = None
        if pipe is not None:
            pipe.close()
        if process is None:
            return None
        process.join(_BEAT_SECONDS)  # if it has ended by itself, keep its exit code
        if process.exitcode is None:
            process.kill()
            process.join()
        return process.exitcode
