"""Does the steps of parts, such as the stores of a build, in processes of this machine, several at a time."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from trivium.errors import ConfigurationError, TriviumError
from trivium.index.parsing import end_with_parent
from trivium.index.sharding.stores import Part, PartType
from trivium.index.sharding.work import Work

_ATTEMPTS = 3
"""How often a step is begun if its process ends before it is done."""


@dataclass(frozen=True, slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection


class PartPool:
    """Up to ``workers`` processes, started when they are needed and kept until closed. For one caller at a time."""

    def __init__(self, work: Work, workers: int) -> None:
        self._work = replace(work, embedder=None)  # which need not be portable
        self._workers = workers
        self._idle: list[_Worker] = []

    def fill(
        self, parts: Iterable[PartType], step: str, tell: Callable[[int], None] | None = None
    ) -> Generator[PartType, None, None]:
        """Do a step of parts, and yield each when it is done; ``tell`` is called with the progress. If a process is
        killed, only its step is repeated, up to twice. Raises ConfigurationError with the message of a step that fails,
        or if its process ends each time.
        """
        waiting, attempts = deque(parts), Counter[int]()
        running: dict[Connection, tuple[_Worker, PartType]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._workers:
                    worker, part = self._idle.pop() if self._idle else self._start(), waiting.popleft()
                    running[worker.pipe] = worker, part
                    attempts[part.number] += 1
                    with suppress(BrokenPipeError):  # it was killed; that is seen below
                        worker.pipe.send((part, step))
                for pipe in wait(list(running)):
                    assert isinstance(pipe, Connection)
                    worker, part = running[pipe]
                    try:
                        said = pipe.recv()
                    except (EOFError, ConnectionResetError):
                        del running[pipe]
                        self._end(worker)
                        self._check(part, worker, attempts[part.number])
                        waiting.append(part)
                        continue
                    if isinstance(said, int):
                        if tell is not None:
                            tell(said)
                        continue
                    del running[pipe]
                    self._idle.append(worker)
                    if said is not None:
                        raise ConfigurationError(said)
                    yield part
        finally:
            for worker, _ in running.values():
                self._end(worker)

    def close(self) -> None:
        """End the processes."""
        while self._idle:
            self._end(self._idle.pop())

    def _start(self) -> _Worker:
        # Do not fork: the parent may have threads (embedder, index) whose locks a forked child would inherit.
        context = multiprocessing.get_context("spawn")
        pipe, others = context.Pipe()
        process: BaseProcess = context.Process(
            target=_fill_parts, args=(self._work, others), name="fill parts"
        )
        process.start()
        others.close()
        return _Worker(process, pipe)

    def _end(self, worker: _Worker) -> None:
        worker.process.terminate()
        worker.process.join()
        worker.pipe.close()

    def _check(self, part: Part, worker: _Worker, attempts: int) -> None:
        if attempts >= _ATTEMPTS:
            raise ConfigurationError(
                f"the process that makes {part.folder} ended {attempts} times before it was done (exit code"
                f" {worker.process.exitcode}), perhaps for lack of memory: use more shards (--into), or fewer processes"
                " (--workers). A script that starts them needs the lines that do so under  if __name__ == '__main__':"
            )


def _fill_parts(work: Work, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    end_with_parent()
    with suppress(EOFError):
        while True:
            part, step = pipe.recv()
            failure = None
            try:
                for count in part.fill(work, step):
                    pipe.send(count)
            except (TriviumError, OSError) as error:
                failure = f"{part.folder}: {error}"
            pipe.send(failure)
