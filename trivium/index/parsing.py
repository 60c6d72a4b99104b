"""Parses documents, in this process or in a pool. A document that crashes its process affects no other."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from itertools import chain, islice

from trivium.chunking.base import Chunker
from trivium.chunking.spec import DEFAULT
from trivium.chunking.strategies import BLOCKS, portable_chunker
from trivium.common.iteration import batched
from trivium.errors import ConfigurationError, TriviumError
from trivium.graph.build import build
from trivium.graph.model import PageGraph
from trivium.limits import DEFAULT_LIMITS, InputLimits
from trivium.parser.sources.base import Item, Problem
from trivium.parser.sources.discover import read

if sys.platform != "win32":
    import resource

Loaded = list[PageGraph] | Problem

_ITEMS_A_TASK = 8


def parse_item(item: Item, limits: InputLimits, chunker: Chunker = BLOCKS) -> Loaded:
    """Parse one document to graphs, or return the problem. Runs in a worker process."""
    try:
        return parse_document(item, limits, chunker)
    except MemoryError:
        return Problem(item.name, "to parse it takes more memory than there is: split it")


def parse_document(item: Item, limits: InputLimits, chunker: Chunker = BLOCKS) -> Loaded:
    """Like :func:`parse_item`, but raises MemoryError."""
    try:
        return [build(chunker.rechunk(page), limits) for page in read(item, limits)]
    except TriviumError as error:
        return Problem(item.name, str(error).removeprefix(f"{item.name}: "))
    except MemoryError:
        raise
    except Exception as error:  # whatever it is, report it as a problem of this document
        return Problem(item.name, f"{type(error).__name__}: {error}")


def parse_items(items: Sequence[Item], limits: InputLimits, chunker: str = DEFAULT) -> list[Loaded]:
    """Apply :func:`parse_item` to several items in a worker process, which is killed if one of them exceeds its CPU
    time limit. ``chunker`` is the spec of a chunker that works in any process.
    """
    cutter = portable_chunker(chunker)
    outcomes = []
    for item in items:
        limit_processor_time(limits.seconds)
        outcomes.append(parse_item(item, limits, cutter))
    return outcomes


def limit_processor_time(seconds: float) -> None:
    """Kill this process after ``seconds`` more of CPU time."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime + seconds), hard))


def parse_in_pool(
    items: Iterable[Item], workers: int, limits: InputLimits, chunker: str = DEFAULT
) -> Generator[Loaded, None, None]:
    """Apply :meth:`ParserPool.parse` in a temporary pool."""
    with closing(ParserPool(workers, limits, chunker)) as pool:
        yield from pool.parse(items)


class ParserPool:
    """A pool of parser processes, started with the first document and kept until closed. For one caller at a time.
    ``chunker`` is the spec of a chunker that works in any process.
    """

    def __init__(self, workers: int, limits: InputLimits, chunker: str = DEFAULT) -> None:
        self._workers = workers
        self._limits = limits
        self._chunker = chunker
        self._pool: ProcessPoolExecutor | None = None

    def parse(self, items: Iterable[Item]) -> Generator[Loaded, None, None]:
        """Yield results in the order of the items. If a worker crashes, the running tasks are repeated item by item,
        each in its own process, so that only the offending item is lost. Closing the generator ends running tasks.

        Raises ConfigurationError if no worker can be started at all.
        """
        tasks = batched(items, _ITEMS_A_TASK)
        # A bounded window limits memory if the store is slower than the parsers.
        window = 4 * self._workers
        under_way: deque[list[Item]] = deque(islice(tasks, window))
        while under_way:
            if self._pool is None:
                self._pool = _start_workers(self._workers, self._limits)
            futures: deque[Future[list[Loaded]]] = deque()
            try:
                futures.extend(self._submit(task) for task in under_way)
                while under_way:
                    yield from futures[0].result()
                    futures.popleft()
                    under_way.popleft()
                    for task in islice(tasks, 1):
                        under_way.append(task)
                        futures.append(self._submit(task))
            except BrokenProcessPool:
                self.close()
                _check_workers()
                for item in chain.from_iterable(under_way):
                    yield _alone(item, self._limits, self._chunker)
                under_way = deque(islice(tasks, window))
            except BaseException:
                self._end()
                raise

    def close(self) -> None:
        """Shut down the idle processes."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def _submit(self, task: list[Item]) -> Future[list[Loaded]]:
        assert self._pool is not None
        return self._pool.submit(parse_items, task, self._limits, self._chunker)

    def _end(self) -> None:
        """Terminate the processes: a running task can take minutes."""
        if self._pool is not None:
            _terminate(self._pool)
        self.close()


def _check_workers() -> None:
    """Raise ConfigurationError if workers crash without any document."""
    try:
        with _workers(1) as pool:
            pool.submit(os.getpid).result()
    except BrokenProcessPool as error:
        raise ConfigurationError(
            "parser processes cannot be started: a script that builds a store needs the lines that do so under"
            "  if __name__ == '__main__':  since its workers import it; or build with workers=1"
        ) from error


def _alone(item: Item, limits: InputLimits, chunker: str) -> Loaded:
    try:
        with _workers(1, limits) as pool:
            return pool.submit(parse_items, [item], limits, chunker).result()[0]
    except BrokenProcessPool:
        return Problem(
            item.name,
            f"the parser process died on this document; it may take {limits.worker_bytes >> 20} MB of memory and"
            f" {limits.seconds:g} seconds",
        )


@contextmanager
def _workers(number: int, limits: InputLimits = DEFAULT_LIMITS) -> Iterator[ProcessPoolExecutor]:
    """Create processes for one task, terminated if the block is interrupted."""
    pool = _start_workers(number, limits)
    try:
        yield pool
    except BaseException as error:
        if not isinstance(error, BrokenProcessPool):
            _terminate(pool)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _start_workers(number: int, limits: InputLimits) -> ProcessPoolExecutor:
    # Do not fork: the parent may have threads (embedder, index) whose locks a forked child would inherit.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        number, mp_context=context, initializer=_begin_worker, initargs=(limits.worker_bytes,)
    )
    try:
        # A terminal sends Ctrl-C to all processes; shield the workers from their start on. Each task that finds no
        # idle worker starts one.
        with _interrupts_blocked():
            for _ in range(number):
                pool.submit(os.getpid)
    except BaseException:
        _terminate(pool)
        raise
    return pool


def _terminate(pool: ProcessPoolExecutor) -> None:
    for process in list((pool._processes or {}).values()):
        process.terminate()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker(memory: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    end_with_parent()
    limit_memory(memory)


def limit_memory(size: int) -> None:
    """Limit the memory of this process to ``size`` bytes."""
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(
            resource.RLIMIT_DATA, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard)
        )


def end_with_parent() -> None:
    """End this worker when its parent has ended, even if killed. Otherwise it would wait forever, because workers
    wait for tasks on a pipe that each of them keeps open.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, name="end with parent", daemon=True).start()
