"""Schedules the retrievers of one search: their order, and the threads they run on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

from trivium.common.memo import Memo
from trivium.common.second_core import Beside
from trivium.retrievers.query import Query, Retriever

T = TypeVar("T")

_LONGEST = ("entity", "path")
"""Retrievers whose queries take a remote store longest. They are started first."""


def nothing() -> None:
    """Do nothing."""


def of_each(
    query: Query,
    retrievers: Mapping[str, Retriever],
    ask: Callable[[Retriever], T],
    beside: Beside,
    others: Collection[str] = (),
    then: Callable[[], object] = nothing,
) -> dict[str, T]:
    """Call ``ask`` for every retriever and return the answers in the retrievers' order.

    With a remote store all retrievers run concurrently. With a local one, an idle thread, if there is one, asks the
    ``others`` and then calls ``then`` to prepare later work, while the calling thread asks the rest. Without either,
    nothing is handed over.
    """
    if query.store.remote:
        return _at_once(retrievers, ask)
    answers = Memo()
    apart = [name for name in retrievers if name in others]

    def answer(name: str) -> T:
        return answers.of(name, lambda: ask(retrievers[name]))

    def elsewhere() -> None:
        for name in apart:
            answer(name)
        then()

    if apart or then is not nothing:
        beside.begin(elsewhere)
    for name in retrievers:
        if name not in apart:
            answer(name)
    return {name: answer(name) for name in retrievers}


def _at_once(retrievers: Mapping[str, Retriever], ask: Callable[[Retriever], T]) -> dict[str, T]:
    if len(retrievers) == 1:
        return {name: ask(retriever) for name, retriever in retrievers.items()}
    longest_first = sorted(retrievers, key=lambda name: name not in _LONGEST)
    answers = {name: _threads().submit(ask, retrievers[name]) for name in longest_first}
    wait(answers.values())  # also when one fails: none may keep working on an abandoned question
    return {name: answers[name].result() for name in retrievers}


@cache
def _threads() -> ThreadPoolExecutor:
    # A retriever only ever waits for results that another running retriever computes, so they cannot deadlock.
    return ThreadPoolExecutor(max_workers=32, thread_name_prefix="retriever")
