"""Parses documents, in this process or in several; a document that kills its process costs only itself."""

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
from contextlib import contextmanager
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
    """One document as graphs, or why not. Runs in a worker process."""
    try:
        return parse_document(item, limits, chunker)
    except MemoryError:
        return Problem(item.name, "to parse it takes more memory than there is: split it")


def parse_document(item: Item, limits: InputLimits, chunker: Chunker = BLOCKS) -> Loaded:
    """:func:`parse_item`, but for a lack of memory, which is raised."""
    try:
        return [build(chunker.rechunk(page), limits) for page in read(item, limits)]
    except TriviumError as error:
        return Problem(item.name, str(error).removeprefix(f"{item.name}: "))
    except MemoryError:
        raise
    except Exception as error:  # whatever a document does to a parser, it is this document's problem
        return Problem(item.name, f"{type(error).__name__}: {error}")


def parse_items(items: Sequence[Item], limits: InputLimits, chunker: str = DEFAULT) -> list[Loaded]:
    """:func:`parse_item` of several, in a worker process, which ends over one that takes too much processor time.
    ``chunker`` is the spec of one that works in any process."""
    cutter = portable_chunker(chunker)
    outcomes = []
    for item in items:
        limit_processor_time(limits.seconds)
        outcomes.append(parse_item(item, limits, cutter))
    return outcomes


def limit_processor_time(seconds: float) -> None:
    """End this process when it has taken so many more seconds of processor time."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime + seconds), hard))


def parse_in_pool(
    items: Iterable[Item], workers: int, limits: InputLimits, chunker: str = DEFAULT
) -> Generator[Loaded, None, None]:
    """Outcomes in the order of the items. When a worker dies, the tasks under way are done again item by item,
    each in a process of its own, so that only the item that kills it is lost. Closed, it ends what is under way.

    Raises ConfigurationError where no worker can be started at all."""
    tasks = batched(items, _ITEMS_A_TASK)
    # A bounded window keeps memory flat when the store is slower than the parsers.
    window = 4 * workers
    under_way: deque[list[Item]] = deque(islice(tasks, window))
    while under_way:
        with _workers(workers, limits) as pool:
            futures: deque[Future[list[Loaded]]] = deque()
            try:
                futures.extend(pool.submit(parse_items, task, limits, chunker) for task in under_way)
                while under_way:
                    yield from futures[0].result()
                    futures.popleft()
                    under_way.popleft()
                    for task in islice(tasks, 1):
                        under_way.append(task)
                        futures.append(pool.submit(parse_items, task, limits, chunker))
            except BrokenProcessPool:
                _check_workers()
                for item in chain.from_iterable(under_way):
                    yield _alone(item, limits, chunker)
                under_way = deque(islice(tasks, window))
            finally:
                for future in futures:
                    future.cancel()


def _check_workers() -> None:
    """A pool that breaks on nothing at all is no document's fault."""
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
    """Processes that end when whoever uses them is interrupted or wants no more of them: a task under way can take
    minutes."""
    # Not fork: the parent may hold threads (embedder, index) whose locks a forked child would inherit.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        number, mp_context=context, initializer=_begin_worker, initargs=(limits.worker_bytes,)
    )
    try:
        # Ctrl-C goes to all processes of a terminal: these are shielded from their birth on. Each task that finds none
        # idle starts one.
        with _interrupts_blocked():
            for _ in range(number):
                pool.submit(os.getpid)
        yield pool
    except BaseException as error:
        if not isinstance(error, BrokenProcessPool):
            for process in list((pool._processes or {}).values()):
                process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


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
    """Let this process have at most so many bytes of memory."""
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(
            resource.RLIMIT_DATA, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard)
        )


def end_with_parent() -> None:
    """End this worker when the process that started it has ended, be it killed: nobody else would end it, since workers
    wait for tasks on a pipe that each of them keeps open."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, name="end with parent", daemon=True).start()
