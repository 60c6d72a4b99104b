"""Parses documents, in this process or in others. A document that crashes its process affects no other."""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import cast

from trivium.chunking.chunker import Chunker
from trivium.chunking.chunker_spec import DEFAULT
from trivium.chunking.portable_chunkers import BLOCKS, portable_chunker
from trivium.common.worker_processes import Pool, WorkerLostError, answer_all, limit_processor_time
from trivium.errors import ConfigurationError, TriviumError
from trivium.graph.build_page_graph import build
from trivium.graph.page_graph import PageGraph
from trivium.index.recognise_names import with_recognised_names
from trivium.parser.sources.discover import read
from trivium.parser.sources.source_items import Item, Problem
from trivium.settings.limits import InputLimits

Loaded = list[PageGraph] | Problem


def parse_item(
    item: Item, limits: InputLimits, chunker: Chunker = BLOCKS, entities: str | None = None
) -> Loaded:
    """Parse one document to graphs, or return the problem. Runs in a worker process."""
    try:
        return parse_document(item, limits, chunker, entities)
    except MemoryError:
        return Problem(item.name, "to parse it takes more memory than there is: split it")


def parse_document(
    item: Item, limits: InputLimits, chunker: Chunker = BLOCKS, entities: str | None = None
) -> Loaded:
    """Like :func:`parse_item`, but raises MemoryError."""
    beside: list[str] = []
    try:
        graphs = [
            with_recognised_names(build(chunker.rechunk(page), limits), entities, item.language)
            for page in read(item, limits, beside)
        ]
        return graphs if beside else [replace(graph, alone=True) for graph in graphs]
    except TriviumError as error:
        return Problem(item.name, str(error).removeprefix(f"{item.name}: "))
    except MemoryError:
        raise
    except Exception as error:  # whatever it is, report it as a problem of this document
        return Problem(item.name, f"{type(error).__name__}: {error}")


def parse_tasks(pipe: Connection, limits: dict[str, object], chunker: str, entities: str | None) -> None:
    """Parse the item of each request in a worker process, which is killed if it exceeds its CPU time limit.
    ``chunker`` is the spec of a chunker that works in any process, ``entities`` what recognises names.
    """
    within = InputLimits.model_validate(limits)
    cutter = portable_chunker(chunker)

    def answer(request: bytes) -> bytes:
        item = pickle.loads(request)  # noqa: S301 - from the process that started this one
        limit_processor_time(within.seconds)
        return pickle.dumps(None if item is None else parse_item(item, within, cutter, entities))

    answer_all(pipe, answer)


class ParserPool:
    """Processes that parse documents, started with the first one and kept until closed. For one caller at a time.
    ``chunker`` is the spec of a chunker that works in any process, ``entities`` what recognises names.
    """

    def __init__(
        self, workers: int, limits: InputLimits, chunker: str = DEFAULT, entities: str | None = None
    ) -> None:
        self._limits = limits
        arguments = (limits.model_dump(mode="json"), chunker, entities)
        self._pool = Pool(f"{__name__}:parse_tasks", arguments, workers, memory=limits.worker_bytes)
        self._works = False

    def parse(self, items: Iterable[Item]) -> Generator[Loaded, None, None]:
        """Yield results in the order of the items. If a process ends over an item, it is repeated once in a new
        process, where nothing earlier takes memory. Closing the generator ends running tasks.

        Raises ConfigurationError if no process can be started at all.
        """
        with closing(self._pool.map(items, pickle.dumps)) as answers:
            for item, answer in answers:
                if isinstance(answer, bytes):
                    self._works = True
                    yield _outcome(answer)
                else:
                    self._check()
                    yield self._again(item)

    def close(self) -> None:
        """End the idle processes."""
        self._pool.close()

    def _again(self, item: Item) -> Loaded:
        try:
            return _outcome(self._pool.ask(pickle.dumps(item)))
        except WorkerLostError:
            limits = self._limits
            return Problem(
                item.name,
                f"the parser process died on this document; it may take {limits.worker_bytes >> 20} MB of memory and"
                f" {limits.seconds:g} seconds",
            )

    def _check(self) -> None:
        """Raise ConfigurationError if processes end without any document."""
        if not self._works:
            try:
                self._pool.ask(pickle.dumps(None))
            except WorkerLostError as error:
                raise ConfigurationError(
                    f"parser processes cannot be started ({error}): build with workers=1"
                ) from error
            self._works = True


def _outcome(answer: bytes) -> Loaded:
    return cast(Loaded, pickle.loads(answer))  # noqa: S301 - of a process with the code of this one
