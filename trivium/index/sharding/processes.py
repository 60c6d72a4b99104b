"""Fills stores in processes of this machine, one process for a step of a store."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from trivium.errors import ConfigurationError, TriviumError
from trivium.index.parsing import end_with_parent
from trivium.index.sharding.stores import StorePart, fill_store
from trivium.index.sharding.work import Work

_ATTEMPTS = 3
"""How often a step is begun if its process ends before it is done."""

_MESSAGE = 4_000
"""Characters of an error: a longer one would wait for a reader in the pipe."""


def fill_in_processes(work: Work, parts: Sequence[StorePart], step: str, workers: int) -> Iterator[StorePart]:
    """Do a step of several stores, at most ``workers`` at a time, and yield each when it is done. If a process is killed,
    its step is repeated, up to twice. Raises ConfigurationError with the message of a step that fails, or if its
    process ends each time.
    """
    # Do not fork: the parent may have threads (embedder, index) whose locks a forked child would inherit.
    context = multiprocessing.get_context("spawn")
    light = replace(work, embedder=None)  # which need not be portable
    waiting, attempts = deque(parts), Counter[int]()
    running: dict[int, tuple[StorePart, BaseProcess, Connection]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                part = waiting.popleft()
                attempts[part.number] += 1
                receiver, sender = context.Pipe(duplex=False)
                process: BaseProcess = context.Process(
                    target=_fill, args=(light, part, step, sender), name=f"store {part.number}"
                )
                process.start()
                sender.close()
                running[process.sentinel] = part, process, receiver
            for sentinel in wait(list(running)):
                assert isinstance(sentinel, int)
                part, process, receiver = running.pop(sentinel)
                process.join()
                if _is_done(process, receiver):
                    yield part
                elif attempts[part.number] < _ATTEMPTS:
                    waiting.append(part)
                else:
                    raise ConfigurationError(
                        f"the process that makes the store {part.folder} ended {_ATTEMPTS} times before it was done"
                        f" (exit code {process.exitcode}), perhaps for lack of memory: make more stores (--into), or"
                        " fewer at a time (--workers). What is done is kept"
                    )
    finally:
        for _, process, receiver in running.values():
            process.terminate()
            process.join()
            receiver.close()


def _is_done(process: BaseProcess, receiver: Connection) -> bool:
    """Raises ConfigurationError with the message of the process."""
    with receiver:
        try:
            failure = receiver.recv() if receiver.poll() else None
        except EOFError:
            failure = None
    if failure is not None:
        raise ConfigurationError(failure)
    return process.exitcode == 0


def _fill(work: Work, part: StorePart, step: str, sender: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    end_with_parent()
    try:
        fill_store(work, part, step)
    except (TriviumError, OSError) as error:
        sender.send(f"the store {part.folder}: {error}"[:_MESSAGE])
