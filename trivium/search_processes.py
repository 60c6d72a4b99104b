"""Searches for many questions in several processes. Python code runs in one thread at a time, so each process can use
one more core: two threads of one process take a quarter more processor time for a search than two processes.

Questions and hits are JSON, one message a line of a pipe; nothing is pickled. The processes are programs of their own, so
that scripts and notebooks need no guard around what they run. (A server has processes, too, which take one question at a
time and must not be slowed down by any: :mod:`trivium.server.processes`.)
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
from itertools import takewhile
from typing import IO, Any, NamedTuple

import trivium.errors
from trivium.common import stopping
from trivium.common.programs import module_command, module_environment
from trivium.errors import InputError, StoreError, TriviumError
from trivium.search.options import check_question
from trivium.serialization import hit_json, hit_of
from trivium.text import count_tokens
from trivium.types import Hit

_MOST = 128
"""Questions for a process at a time. Each message costs a moment in which the process waits."""
_FEWEST = 4
"""The same for the last ones: so many searches a process may wait for the others at the end."""
_FAILED = b'{"error"'
"""How an answer begins if the search has failed."""
_END = b"\n"
"""What ends a process instead of questions."""
_END_SECONDS = 3.0
"""Seconds processes may take to end before they are killed."""

Options = Mapping[str, Any]


class SearchProcesses:
    """``count`` processes that search a store. They start with the first questions, which takes one or two seconds, and
    end with :meth:`close` or with this process, if it has not forked. Thread-safe; one batch at a time.
    """

    def __init__(self, store: str, count: int, parts: Options, folder: str | None = None) -> None:
        """``parts`` are keyword arguments of :meth:`trivium.engine.Engine.open`, and ``folder`` is the current one when
        the store was opened. Raises InputError for a count below 1, and TypeError for parts that are not JSON.
        """
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise InputError(f"processes must be a whole number of 1 or more, got {count!r}")
        self.count = count
        opened = json.dumps({"store": store, "parts": plain(parts)})
        self._workers = [_Worker(opened, folder) for _ in range(count)]
        self._lock = threading.Lock()
        self._closed = False

    def search_many(
        self, questions: Sequence[str], options: Options, on_warnings: Callable[[Sequence[str]], None]
    ) -> list[list[Hit]]:
        """Return the hits of each question, in their order. ``options`` are those of
        :meth:`~trivium.search.searcher.Searcher.search_many`; warnings are told once.

        Raises InputError for options that are not JSON and questions that are not text, the errors of the search, and
        StoreError when a process ends. After an interrupt, a stop and a lost process all processes are ended; the next
        batch starts others.
        """
        try:
            asked = json.dumps(plain(options))
        except TypeError:
            raise InputError(
                "with processes, options of a search are text, numbers, and lists and dictionaries of them: give"
                " rerankers and conditions by their names, and search by pictures without processes"
            ) from None
        for question in questions:
            check_question(question)
        with stopping.holding(self._lock):  # another batch may take long
            if self._closed:
                raise ClosedError("these processes have been closed")
            answers = self._answers(_Batch(questions, self.count), asked)
        warnings = list(dict.fromkeys(warning for answer in answers for warning in answer.warnings))
        if warnings:
            on_warnings(warnings)
        found = {
            place: hits for answer in answers for place, hits in zip(answer.places, answer.hits, strict=True)
        }
        return [found[place] for place in range(len(questions))]

    def _answers(self, batch: _Batch, asked: str) -> list[_Answer]:
        ending = threading.Lock()
        over = False

        def work(worker: _Worker) -> list[_Answer]:
            try:
                return list(worker.answers(batch, asked))
            finally:
                batch.end()  # where there are more questions, it has failed

        def end() -> None:
            with ending:
                if over:  # a late stop must not end the processes of the next batch
                    return
                batch.end()
                for worker in self._workers:
                    worker.kill()

        for worker in self._workers:
            worker.allow()
        threads = ThreadPoolExecutor(self.count, thread_name_prefix="searches")
        try:
            with stopping.calling(end):
                try:
                    futures = [threads.submit(work, worker) for worker in self._workers]
                    answers = [answer for future in futures for answer in future.result()]
                except BaseException as error:
                    if isinstance(error, _LostError) or not isinstance(error, TriviumError):
                        end()  # at once: the threads wait for their processes
                    raise
                finally:
                    threads.shutdown()  # an interrupt ends this, too
        except BaseException as error:
            if not isinstance(error, TriviumError):
                end()
                threads.shutdown()
            if isinstance(error, Exception):
                stopping.check()  # rather than that a process was killed
            raise
        finally:
            with ending:
                over = True
        stopping.check()
        return answers

    def close(self) -> None:
        """End the processes, once a batch in another thread is done."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.hang_up()
            for worker in self._workers:
                worker.wait()


class _Answer(NamedTuple):
    """The hits of the questions at some ``places`` of a batch, and what was warned of."""

    places: list[int]
    hits: list[list[Hit]]
    warnings: list[str]


class _Batch:
    """Questions for several processes, divided into blocks. Threads share it."""

    def __init__(self, questions: Sequence[str], count: int) -> None:
        self.questions = questions
        self._blocks = deque(_blocks(questions, count))

    def next(self) -> list[int] | None:
        """Return the places of questions that nobody has; None if there are none."""
        try:
            return self._blocks.popleft()
        except IndexError:
            return None

    def end(self) -> None:
        """Leave nothing to take."""
        self._blocks.clear()


def _blocks(questions: Sequence[str], count: int) -> Iterator[list[int]]:
    """Divide the places of questions among processes. The longest come first, and those of similar length together, so
    that many are embedded in one call. Blocks become smaller, so that all processes end at about the same time.

    >>> [len(block) for block in _blocks(["?"] * 300, 2)]
    [75, 56, 42, 31, 24, 18, 13, 10, 7, 6, 4, 4, 4, 4, 2]
    >>> list(_blocks(["Io?", "Mars?", "Earth?", "Venus?", "Moon?"], 1))
    [[2, 3, 1, 4], [0]]
    """
    places = sorted(range(len(questions)), key=lambda place: _size(questions[place]), reverse=True)
    first = 0
    while first < len(places):
        size = max(_FEWEST, min(_MOST, (len(places) - first) // (2 * count)))
        yield places[first : first + size]
        first += size


def _size(question: str) -> tuple[int, int]:
    """About how many tokens a question has, so that those of one number come together, and its characters."""
    return count_tokens(question), len(question)


class ClosedError(StoreError):
    """The processes have been closed."""


class _LostError(StoreError):
    """A process has ended, or cannot be started."""


class _Worker:
    """A process, started when it is first asked, and again after it has ended. One thread at a time asks it; any may
    :meth:`kill` it.
    """

    def __init__(self, opened: str, folder: str | None) -> None:
        self._opened, self._folder = opened, folder
        self._process: subprocess.Popen[bytes] | None = None
        self._of = os.getpid()
        self._lock = threading.Lock()
        self._stopped = False

    def allow(self) -> None:
        """Allow the process to be asked, after it may have been killed."""
        with self._lock:
            if self._of != os.getpid():
                # A fork must not write into the pipes of the process that it was made from.
                self._process, self._of = None, os.getpid()
            if self._stopped:
                self._release()  # it was killed, but need not have ended yet
            self._stopped = False

    def answers(self, batch: _Batch, options: str) -> Iterator[_Answer]:
        """Search for blocks of a batch until none is left. Raises the errors of the search, and _LostError."""
        places = batch.next()
        process = self._asked(batch, places, options)
        while process is not None:
            assert process.stdout is not None and places is not None
            try:
                line = process.stdout.readline()
            except (OSError, ValueError):  # the latter for a pipe that has been closed
                line = b""
            if not line.endswith(b"\n"):
                process.kill()
                process.wait()
                raise _LostError(f"a process that searches has ended (exit code {process.returncode})")
            if line.startswith(_FAILED):
                raise _error(*json.loads(line)["error"])
            answered, places = places, batch.next()
            process = self._asked(batch, places, options)  # it searches while its last answer is read
            answer = json.loads(line)
            hits = [[hit_of(fields) for fields in hits] for hits in answer["hits"]]
            yield _Answer(answered, hits, answer["warnings"])

    def _asked(
        self, batch: _Batch, places: Sequence[int] | None, options: str
    ) -> subprocess.Popen[bytes] | None:
        """Send the questions at some places and return the process that will answer; None for none."""
        if places is None:
            return None
        questions = json.dumps([batch.questions[place] for place in places])
        process = self._started()
        assert process.stdin is not None
        # A process that cannot be told anything will not answer either.
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write(f'{{"questions": {questions}, "options": {options}}}\n'.encode())
            process.stdin.flush()
        return process

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise _LostError("a process that searches has been stopped")
            if self._process is not None and self._process.poll() is None:
                return self._process
            self._release()
            try:
                self._process = subprocess.Popen(
                    module_command(__name__, self._opened),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    cwd=self._folder,
                    env=module_environment(),
                    start_new_session=True,  # interrupts are meant for this process only
                )
            except OSError as error:
                raise _LostError(f"a process that searches cannot be started: {error}") from error
            return self._process

    def kill(self) -> None:
        """End the process at once, and start no other until :meth:`allow`."""
        with self._lock:
            self._stopped = True
            if (process := self._own) is not None:
                process.kill()

    def hang_up(self) -> None:
        """Let the process end: there will be no more questions."""
        with self._lock:
            if (process := self._own) is not None and process.stdin is not None:
                with contextlib.suppress(OSError, ValueError):
                    # That the pipe is closed is not seen while a fork of this process has its end, too.
                    process.stdin.write(_END)
                    process.stdin.close()

    def wait(self) -> None:
        """Wait until the process has ended, and kill it when it does not."""
        with self._lock:
            if (process := self._own) is not None:
                try:
                    process.wait(_END_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
            self._release()

    @property
    def _own(self) -> subprocess.Popen[bytes] | None:
        """The process, if there is one and this is not a fork of the program that started it."""
        return self._process if self._of == os.getpid() else None

    def _release(self) -> None:
        process, self._process = self._own, None
        if process is None:
            return
        with contextlib.suppress(OSError), process:  # closes the pipes, and waits
            pass


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


def _error(name: str, message: str) -> Exception:
    """Return the error of a process; one that is not known here as a StoreError."""
    kind = getattr(trivium.errors, name, None)
    if isinstance(kind, type) and issubclass(kind, TriviumError):
        return kind(message)
    return StoreError(f"a process that searches failed ({name}: {message})")


def main() -> None:
    """Open the store named by the argument and answer messages until the last one."""
    from trivium.common.beside import alone
    from trivium.engine import Engine

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    opened = json.loads(sys.argv[1])
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what libraries print must not come between the answers
        messages = takewhile(lambda line: line != _END, iter(sys.stdin.buffer.readline, b""))
        try:
            with Engine.open(opened["store"], **opened["parts"]) as engine, alone():
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
    try:
        out.write(json.dumps(answer).encode() + b"\n")
        out.flush()
    except BrokenPipeError:  # whoever asked is gone
        os._exit(1)


if __name__ == "__main__":
    main()
