"""Searches for many questions in several processes. Python code runs in one thread at a time, so each process can use
one more core: two threads of one process take a quarter more processor time for a search than two processes.

Questions and hits are JSON; nothing is pickled. (A server has processes, too, which take one question at a time and must
not be slowed down by any: :mod:`trivium.server.processes`.)
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from typing import Any

import trivium.errors
from trivium.common import stopping
from trivium.common.worker_processes import Pool, WorkerLostError, answer_all, plain
from trivium.errors import InputError, StoreError, TriviumError
from trivium.search.requests import check_question
from trivium.serialization import hit_json, hit_of
from trivium.text.normalise import count_tokens
from trivium.types import Hit

_MOST = 128
"""Questions for a process at a time. Each message costs a moment in which the process waits."""
_FEWEST = 4
"""The same for the last ones: so many searches a process may wait for the others at the end."""

Options = Mapping[str, Any]


class ClosedError(StoreError):
    """The processes have been closed."""


class SearchProcesses:
    """``count`` processes that search a store. They start with the first questions, which takes one or two seconds, and
    end with :meth:`close` or with this process. Thread-safe; one batch at a time.
    """

    def __init__(self, store: str, count: int, parts: Options, folder: str | None = None) -> None:
        """``parts`` are keyword arguments of :meth:`trivium.engine.Engine.open`, and ``folder`` is the current one when
        the store was opened. Raises InputError for a count below 1, and TypeError for parts that are not JSON.
        """
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise InputError(f"processes must be a whole number of 1 or more, got {count!r}")
        self.count = count
        self._pool = Pool(f"{__name__}:search", (store, parts), count, folder=folder)
        self._lock = threading.Lock()
        self._closed = False

    def search_many(
        self, questions: Sequence[str], options: Options, on_warnings: Callable[[Sequence[str]], None]
    ) -> list[list[Hit]]:
        """Return the hits of each question, in their order. ``options`` are those of
        :meth:`~trivium.search.searcher.Searcher.search_many`; warnings are told once.

        Raises InputError for options that are not JSON and questions that are not text, the errors of the search, and
        StoreError when a process ends. After an interrupt, an error, a stop and a lost process all processes are ended;
        the next batch starts others.
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

        def message(places: Sequence[int]) -> bytes:
            given = json.dumps([questions[place] for place in places])
            return f'{{"questions": {given}, "options": {asked}}}'.encode()

        found: dict[int, list[Hit]] = {}
        warnings: dict[str, None] = {}
        with stopping.holding(self._lock):  # another batch may take long
            if self._closed:
                raise ClosedError("these processes have been closed")
            # The questions are divided within the batch: an interrupt of that, too, ends the processes.
            with closing(self._pool.map(_blocks(questions, self.count), message)) as answers:
                for places, answer in answers:
                    if isinstance(answer, WorkerLostError):
                        raise StoreError(
                            f"a process that searches has ended (exit code {answer.exit_code})"
                        ) from answer
                    told = json.loads(answer)
                    if "error" in told:
                        raise _error(*told["error"])
                    hits = ([hit_of(fields) for fields in hits] for hits in told["hits"])
                    found.update(zip(places, hits, strict=True))
                    warnings.update(dict.fromkeys(told["warnings"]))
        if warnings:
            on_warnings(list(warnings))
        return [found[place] for place in range(len(questions))]

    def close(self) -> None:
        """End the processes, once a batch in another thread is done."""
        with self._lock:
            self._closed = True
            self._pool.close()


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


def _error(name: str, message: str) -> Exception:
    """Return the error of a process; one that is not known here as a StoreError."""
    kind = getattr(trivium.errors, name, None)
    if isinstance(kind, type) and issubclass(kind, TriviumError):
        return kind(message)
    return StoreError(f"a process that searches failed ({name}: {message})")


# -- in a process ------------------------------------------------------------------------------------------------------


def search(pipe: Connection, store: str, parts: dict[str, Any]) -> None:
    """Open the store and answer batches of questions until the pipe is closed."""
    from trivium.common.idle_cores import alone
    from trivium.engine import Engine

    try:
        with Engine.open(store, **parts) as engine, alone():
            answer_all(pipe, lambda message: json.dumps(_answer(engine, json.loads(message))).encode())
    except TriviumError as error:  # the store cannot be opened
        failed = json.dumps(_failed(error)).encode()
        answer_all(pipe, lambda _: failed)


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
