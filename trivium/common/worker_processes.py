"""Processes that do work of this package: to use more cores, or because it must not slow down or end this process.

A :class:`Worker` runs a function of this package, connected by a pipe; a :class:`Pool` keeps several of them busy. Both
are programs of their own, so that scripts and notebooks need no guard around what they run. They have limits, ignore
interrupts, and end with the process that started them.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import WeakSet

from trivium.common import stopping

if sys.platform != "win32":
    import resource

T = TypeVar("T")

_END_SECONDS = 3.0
"""Seconds that workers may take to end before they are killed."""
_LOOK_SECONDS = 0.5
"""How often a worker looks whether the process that started it is still there."""
_AHEAD = 4
"""Requests for each worker of a pool that are sent or answered ahead of the one whose answer is taken."""


class WorkerLostError(Exception):
    """A worker has ended over a request. ``exit_code`` is negative if it was killed by a signal."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(f"a worker has ended (exit code {exit_code})")
        self.exit_code = exit_code


class Worker:
    """A process that runs ``function`` (``module:name``), called with its end of the pipe and the ``arguments``, which
    are JSON (:func:`plain`). It starts on demand, and again after it has ended. ``folder`` is its current folder,
    ``memory`` its limit in bytes. Messages are for one thread at a time; any may :meth:`kill` it.
    """

    def __init__(
        self,
        function: str,
        arguments: Sequence[object] = (),
        *,
        folder: str | None = None,
        memory: int | None = None,
    ) -> None:
        self.function = function
        self._told = {"function": function, "arguments": plain(arguments), "memory": memory}
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._lock = threading.Lock()  # guards the process, so that a late kill cannot hit its successor
        self._allowed = True
        _WORKERS.add(self)

    @property
    def pid(self) -> int | None:
        """The process id, None if no process was started."""
        process = self._process
        return None if process is None else process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is running."""
        process = self._process
        return process is not None and process.poll() is None

    def connect(self) -> Connection:
        """Return the pipe to the process, which is started if necessary. Raises WorkerLostError after :meth:`kill`, and
        if it cannot be started.
        """
        with self._lock:
            if not self._allowed:
                raise WorkerLostError(None)
            if self._pipe is None or not self.is_alive:
                self._release()
                self._pipe, theirs = Pipe()
                with theirs:  # otherwise the end of the process would not close the pipe
                    told = json.dumps({**self._told, "parent": os.getpid(), "pipe": theirs.fileno()})
                    try:
                        self._process = subprocess.Popen(
                            module_command(__name__, told),
                            stdin=subprocess.DEVNULL,
                            pass_fds=[theirs.fileno()],
                            cwd=self._folder,
                            env=module_environment(),
                            start_new_session=True,  # interrupts of a terminal are meant for this process only
                        )
                    except OSError as error:
                        raise WorkerLostError(None) from error
            return self._pipe

    def ask(self, request: bytes, seconds: float | None = None) -> bytes:
        """Send a request and return the answer. A process that takes longer than ``seconds`` is killed. Raises
        WorkerLostError.
        """
        pipe = self.connect()
        try:
            pipe.send_bytes(request)
            if seconds is not None and not pipe.poll(seconds):
                raise EOFError
            return pipe.recv_bytes()
        except (EOFError, OSError) as error:
            raise WorkerLostError(self.end(0.1)) from error

    def kill(self) -> None:
        """End the process at once, and start no other until :meth:`allow`."""
        with self._lock:
            self._allowed = False
            if self._process is not None:
                self._process.kill()

    def allow(self) -> None:
        """Wait for the end of a process that was killed, and allow another one to be started."""
        with self._lock:
            if not self._allowed:
                self._release()
            self._allowed = True

    def hang_up(self) -> None:
        """Close the pipe, which ends the process when it has done its work."""
        with self._lock:
            if self._pipe is not None:
                self._pipe.close()

    def end(self, seconds: float = _END_SECONDS) -> int | None:
        """Close the pipe, wait for the end of the process, and kill it after ``seconds``. Returns its exit code."""
        self.hang_up()
        with self._lock:
            process = self._process
            if process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(seconds)
            self._release()
            return None if process is None else process.returncode

    def forget(self) -> None:
        """Leave the process to the one that this process was forked from."""
        self._lock = threading.Lock()
        if self._process is not None:
            self._process.returncode = 0  # there is nothing to wait for
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def _release(self) -> None:
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if pipe is not None:
            pipe.close()
        if process is not None:
            if process.poll() is None:
                process.kill()
            process.wait()


_WORKERS: WeakSet[Worker] = WeakSet()


def running(function: str) -> list[Worker]:
    """Return the workers of this process that run a function now."""
    return [worker for worker in list(_WORKERS) if worker.function == function and worker.is_alive]


def kill_workers() -> None:
    """Kill all workers of this process, which is about to end without waiting for anything."""
    for worker in list(_WORKERS):
        process = worker._process
        if process is not None:
            process.kill()


def _forget_workers() -> None:
    for worker in list(_WORKERS):
        worker.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)


class Pool:
    """``count`` workers that answer one request at a time each, with one message. A worker that ends costs its request
    alone, and is replaced. Thread-safe, except that one thread at a time may :meth:`map`.
    """

    def __init__(
        self,
        function: str,
        arguments: Sequence[object],
        count: int,
        *,
        folder: str | None = None,
        memory: int | None = None,
    ) -> None:
        self.workers = [Worker(function, arguments, folder=folder, memory=memory) for _ in range(count)]
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self.workers:
            self._idle.put(worker)

    def ask(self, request: bytes) -> bytes:
        """Return the answer of the first worker that is free. Raises WorkerLostError."""
        worker = self._idle.get()
        try:
            return worker.ask(request)
        finally:
            self._idle.put(worker)

    def map(
        self, requests: Iterable[T], encode: Callable[[T], bytes]
    ) -> Generator[tuple[T, bytes | WorkerLostError], None, None]:
        """Yield each request with its answer, or with the error if its worker has ended, in the order of the requests,
        which are taken a few ahead. An interrupt, an error, a requested stop and closing the generator kill all workers;
        the next requests start others.
        """
        ending = threading.Lock()
        done = False
        waiting: deque[tuple[T, Future[bytes]]] = deque()
        threads = ThreadPoolExecutor(len(self.workers), thread_name_prefix="workers")

        def kill() -> None:
            with ending:
                if not done:  # a late stop must not end the workers of the next requests
                    for worker in self.workers:
                        worker.kill()

        try:
            with stopping.calling(kill):
                for request in requests:
                    stopping.check()
                    waiting.append((request, threads.submit(self.ask, encode(request))))
                    if len(waiting) >= _AHEAD * len(self.workers):
                        yield _answered(*waiting.popleft())
                while waiting:
                    yield _answered(*waiting.popleft())
                stopping.check()
                with ending:
                    done = True
        finally:
            kill()  # before the threads are awaited, which wait for the workers
            threads.shutdown(cancel_futures=True)
            if not done:
                for worker in self.workers:
                    worker.allow()

    def close(self) -> None:
        """End the workers, once they have answered."""
        for worker in self.workers:
            worker.hang_up()
        deadline = time.monotonic() + _END_SECONDS
        for worker in self.workers:
            worker.end(max(0.0, deadline - time.monotonic()))


def _answered(request: T, future: Future[bytes]) -> tuple[T, bytes | WorkerLostError]:
    try:
        return request, future.result()
    except WorkerLostError as error:
        stopping.check()  # rather than that a worker was killed
        return request, error


def plain(part: object) -> Any:
    """Return values as JSON has them: dictionaries for mappings, lists for sequences. Raises TypeError for others.

    >>> plain({"settings": {"walk.damping": 0.4}, "retrievers": ("walk",), "fusion": None})
    {'settings': {'walk.damping': 0.4}, 'retrievers': ['walk'], 'fusion': None}
    """
    if part is None or isinstance(part, str | int | float | bool):
        return part
    if isinstance(part, Mapping):
        return {str(name): plain(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [plain(value) for value in part]
    raise TypeError(f"{type(part).__name__} cannot be written as JSON")


# -- in a worker -------------------------------------------------------------------------------------------------------


def answer_all(pipe: Connection, answer: Callable[[bytes], bytes]) -> None:
    """Answer requests until the pipe is closed: what the function of a pool's workers does."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(answer(pipe.recv_bytes()))


def limit_memory(size: int) -> None:
    """Limit the memory of this process to ``size`` bytes."""
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        least = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (least, hard))


def limit_processor_time(seconds: float) -> None:
    """Kill this process after ``seconds`` more of CPU time, rounded up."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        until = math.ceil(used.ru_utime + used.ru_stime + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))


def main() -> None:
    """Run the function named by the argument."""
    told = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    os.dup2(2, 1)  # what libraries print must not come between results on stdout
    threading.Thread(target=_end_with, args=(told["parent"],), name="end with parent", daemon=True).start()
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if told["memory"] is not None:
        limit_memory(told["memory"])
    module, _, name = told["function"].partition(":")
    getattr(importlib.import_module(module), name)(Connection(told["pipe"]), *told["arguments"])


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even if killed. That its pipe is closed is seen only between
    requests.
    """
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


# -- commands ----------------------------------------------------------------------------------------------------------


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module in another Python process. A file in the current folder does not take the
    place of a module that it imports (``-P``).
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def module_environment() -> dict[str, str]:
    """Return the environment in which another Python process finds the modules that this one finds."""
    paths = [path for path in sys.path if isinstance(path, str) and path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


if __name__ == "__main__":
    main()
