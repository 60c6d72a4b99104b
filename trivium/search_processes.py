"""Searches for many questions in several processes. Python code runs in one thread at a time, so each process can use
one more core: two threads of one process take a quarter more processor time for a search than two processes.

Questions and hits are JSON, one message a line of a pipe; nothing is pickled. The processes are programs of their own, so
that scripts and notebooks need no guard around what they run.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

import trivium.errors
from trivium.common import stopping
from trivium.common.iteration import batched
from trivium.errors import InputError, StoreError, TriviumError
from trivium.serialization import hit_json, hit_of
from trivium.types import Hit

_BLOCK = 128
"""Questions for a process at a time: of so many, several have the same length and are embedded together."""
_FEWEST = 8
"""The same for the last ones, so that no process is left without."""
_END_SECONDS = 3.0
"""Seconds a process may take to end before it is killed."""

Options = Mapping[str, Any]


class SearchProcesses:
    """``count`` processes that search a store. They start with the first questions, which takes about a second, and end
    with :meth:`close` or with this process. Thread-safe; one batch at a time.
    """

    def __init__(self, store: str, count: int, parts: Options) -> None:
        """``parts`` are keyword arguments of :meth:`trivium.engine.Engine.open` that can be written as JSON. Raises
        InputError for a count below 1.
        """
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise InputError(f"processes must be a whole number of 1 or more, got {count!r}")
        self.count = count
        opened = json.dumps({"store": store, "parts": dict(parts)})
        self._workers = [_Worker(opened) for _ in range(count)]
        self._lock = threading.Lock()

    def search_many(
        self, questions: Sequence[str], options: Options, on_warnings: Callable[[Sequence[str]], None]
    ) -> list[list[Hit]]:
        """Return the hits of each question, in their order. ``options`` are those of
        :meth:`~trivium.search.searcher.Searcher.search_many`; all have to be writable as JSON.

        Raises InputError for one that is not, the errors of the search, and StoreError when a process ends.
        """
        try:
            asked = json.dumps(dict(options))
        except TypeError:
            raise InputError(
                "with processes, options of a search are text, numbers and lists of them: pass rerankers and conditions"
                " by their text, and ask live sources and search by pictures without"
            ) from None
        with self._lock:
            blocks = _Blocks(questions, self.count)
            found: dict[int, tuple[list[list[Hit]], list[str]]] = {}

            def work(worker: _Worker) -> None:
                try:
                    while (block := blocks.next()) is not None:
                        found[block[0]] = worker.ask(block[1], asked)
                finally:
                    blocks.end()  # where there are more, it has failed

            with (
                ThreadPoolExecutor(self.count, thread_name_prefix="searches") as threads,
                stopping.calling(self._kill),
            ):
                working = [threads.submit(work, worker) for worker in self._workers]
                try:
                    for future in working:
                        future.result()
                except BaseException:
                    blocks.end()
                    stopping.check()  # rather than the error of a process that was killed
                    raise
        answers = [found[number] for number in sorted(found)]
        warnings = list(dict.fromkeys(warning for _, some in answers for warning in some))
        if warnings:
            on_warnings(warnings)
        return [hits for some, _ in answers for hits in some]

    def _kill(self) -> None:
        for worker in self._workers:
            worker.kill()

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.close()


def _blocks(questions: Sequence[str], count: int) -> Iterator[tuple[int, list[str]]]:
    """Divide questions among processes, in blocks, so that all end at about the same time.

    >>> [len(block) for _, block in _blocks(["?"] * 200, 2)]
    [64, 64, 36, 36]
    """
    size = max(_FEWEST, min(_BLOCK, -(-len(questions) // count)))
    whole = len(questions) // (size * count) * size * count
    yield from enumerate(batched(questions[:whole], size))
    rest = questions[whole:]
    last = max(_FEWEST, -(-len(rest) // count))
    yield from enumerate(batched(rest, last), start=whole // size)


class _Blocks:
    """Numbered blocks of questions, for several threads."""

    def __init__(self, questions: Sequence[str], count: int) -> None:
        self._blocks = deque(_blocks(questions, count))

    def next(self) -> tuple[int, list[str]] | None:
        """Return a block that nobody has; None if there is none."""
        try:
            return self._blocks.popleft()
        except IndexError:
            return None

    def end(self) -> None:
        """Leave nothing to take."""
        self._blocks.clear()


class _Worker:
    """A process, started when it is first asked, and again after it has ended."""

    def __init__(self, opened: str) -> None:
        self._opened = opened
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, questions: Sequence[str], options: str) -> tuple[list[list[Hit]], list[str]]:
        """Return the hits of each question, and warnings. Raises the errors of the search."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(f'{{"questions": {json.dumps(questions)}, "options": {options}}}\n'.encode())
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        if not line:
            self.close()
            raise StoreError(f"a process that searches has ended (exit code {process.returncode})")
        answer = json.loads(line)
        if "error" in answer:
            raise _error(*answer["error"])
        return [[hit_of(fields) for fields in hits] for hits in answer["hits"]], answer["warnings"]

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", __name__, self._opened],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    start_new_session=True,  # interrupts are meant for this process only
                )
            return self._process

    def kill(self) -> None:
        """End the process at once."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process when it has answered."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        with process:
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _error(name: str, message: str) -> Exception:
    """Return the error of a process; one that is not known here as a StoreError."""
    kind = getattr(trivium.errors, name, None)
    if isinstance(kind, type) and issubclass(kind, TriviumError):
        return kind(message)
    return StoreError(f"a process that searches failed ({name}: {message})")


def main() -> None:
    """Open the store named by the argument and answer messages until the input ends."""
    from threadpoolctl import threadpool_limits

    from trivium.common.beside import alone
    from trivium.engine import Engine

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    opened = json.loads(sys.argv[1])
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what libraries print must not come between the answers
        messages = iter(sys.stdin.buffer.readline, b"")
        try:
            with Engine.open(opened["store"], **opened["parts"]) as engine, alone(), threadpool_limits(1):
                for message in messages:
                    _write(out, _answer(engine, json.loads(message)))
        except TriviumError as error:  # the store cannot be opened
            for _ in messages:
                _write(out, _failed(error))


def _answer(engine: Any, asked: Options) -> Options:
    warnings: list[str] = []
    try:
        found = engine.search_many(asked["questions"], **asked["options"], on_warnings=warnings.extend)
    except Exception as error:
        return _failed(error)
    return {
        "hits": [[hit_json(hit) for hit in hits] for hits in found],
        "warnings": list(dict.fromkeys(warnings)),
    }


def _failed(error: Exception) -> Options:
    return {"error": (type(error).__name__, str(error))}


def _write(out: IO[bytes], answer: Options) -> None:
    out.write(json.dumps(answer).encode() + b"\n")
    out.flush()


if __name__ == "__main__":
    main()
