"""Parses documents of clients in a process apart, so that no document costs the process that serves its memory or time.

The process is kept for the next load, since it takes a while to start. It is killed over a document that takes too long,
or dies by itself over one that takes too much memory: that document is reported, and another process goes on with the
next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trivium.chunking.spec import DEFAULT

if TYPE_CHECKING:  # an engine has one of these; the parser is loaded when there is something to parse
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from trivium.index.isolated_load import Names, Outcome
    from trivium.limits import InputLimits
    from trivium.parser.sources.base import Format
    from trivium.parser.sources.discover import FoundFile

_BEAT_SECONDS = 0.1
_KEPT_BYTES = 192 << 20
"""A process that has taken more than this is not kept."""


class ParserProcess:
    """A process that parses, started when it is needed; one load at a time."""

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
        """The documents of the files that were ``found``, in their order, the pages of records last. ``labels`` says by
        path what files are called. ``names`` is asked for titles and their targets when everything but records has come.
        ``beat`` is called with the number of documents that have ended, at least once in a second; where it raises, the
        process is killed. ``chunker`` is the spec of one that asks no model.
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
        """The pipe to the process, which is started where there is none."""
        import multiprocessing

        from trivium.index.parser_process import parse_all

        with self._lock:
            if self._pipe is None or self._process is None or not self._process.is_alive():
                context = multiprocessing.get_context("spawn")
                self._pipe, theirs = context.Pipe()
                self._process = context.Process(target=parse_all, args=(theirs,), daemon=True)
                self._process.start()
                theirs.close()  # else the end of the process would not close the pipe
            return self._pipe

    def close(self) -> int | None:
        """End the process, if there is one, at once; returns its exit code, negative for a signal."""
        with self._lock:
            process, pipe = self._process, self._pipe
            self._process = self._pipe = None
        if pipe is not None:
            pipe.close()
        if process is None:
            return None
        process.join(_BEAT_SECONDS)  # it may have ended by itself: its exit code says why
        if process.exitcode is None:
            process.kill()
            process.join()
        return process.exitcode
