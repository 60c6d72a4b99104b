"""Asks the retrievers, one or all: merges their candidates, and scores every candidate with every retriever."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, partial
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from trivium.common.arrays import Floats
from trivium.common.cache import Memo
from trivium.common.idle_cores import Beside
from trivium.fusion.imputation import borrow
from trivium.fusion.score_table import Table
from trivium.graph.filter_conditions import Comparison, Field, Operator
from trivium.graph.records import rank_key
from trivium.graph.schema import SEPARATOR, page_of, unescape
from trivium.live.extended_store import origins
from trivium.retrievers.query import Candidate, Query, Retriever
from trivium.retrievers.signals import OWNERS, SignalSettings, prepare, prepare_words
from trivium.retrievers.signals import signals as signals_of
from trivium.search.stage_timing import StageObserver, ignore_stages, observed
from trivium.types import SourceNode

DEPTH = 30
"""Number of candidates that each retriever returns for fusion."""

LARGE = 300
"""A document with so many passages is large."""
NAMED = 1.5
"""A question names a document with such a sum of ``title_named`` and ``title_time``: by its year and half of what tells
its title from others, or by more of that.
"""
FEWEST = 8
"""A large document that a question names has at least so many of the candidates."""

T = TypeVar("T")

OF_LINKS = ("entity", "path", "walk")
"""Retrievers that follow links. Passages from live sources have no links."""

_OF_WORDS = ("lexical",)
"""Retrievers that need no question vector."""
_OF_NEAR_CHUNKS = ("vector", "diffusion", "walk")
"""Retrievers that start from the nearest chunks."""


def gather(
    query: Query,
    retrievers: Mapping[str, Retriever],
    depth: int | None = DEPTH,
    *,
    complete: bool = True,
    signals: SignalSettings | None = None,
    recall: Query | None = None,
    on_stage: StageObserver = ignore_stages,
) -> Table:
    """Build the table of raw scores: one row per chunk returned by some retriever, one column per retriever.

    With ``depth`` None every retriever returns its own default number of candidates. With ``complete`` every chunk
    has its true score from every retriever (NaN where a retriever has none), otherwise only from those that returned
    it. With ``signals`` the features of :mod:`trivium.retrievers.signals` are added, computed with these settings.
    Link-based scores that passages of live sources lack are imputed (:mod:`trivium.fusion.imputation`). ``on_stage`` is
    notified of the stages ``retrieve``, ``score`` and ``signals``.

    ``recall`` is an alternative question on the same store, whose candidates are added. They are scored by ``query``
    like all others; in each retriever's list they come after its candidates for ``query``, in the order of these
    scores. If the signals show that the question names one large document by its title, the candidates within it are
    added in the same way: of a report of a thousand passages, lists over all documents hold too few.
    """
    others = [] if recall is None else [recall]

    def retrieve(retriever: Retriever) -> tuple[list[Candidate], int]:
        with observed(on_stage, "retrieve", retriever.name):
            own = permitted(query, retriever.retrieve(query, depth))
            found = own
            for other in others:
                found = united(found, permitted(other, retriever.retrieve(other, depth)))
            return found, len(own)

    with Beside() as beside:
        lists = _retrieved([query, *others], retrievers, retrieve, beside, signals=signals)
        table = _scored(query, retrievers, lists, complete, signals, beside, on_stage)
        within = _within_named_document(query, table)
        if within is None:
            return table

        def retrieve_within(retriever: Retriever) -> list[Candidate]:
            with observed(on_stage, "retrieve", retriever.name):
                return permitted(within, retriever.retrieve(within, depth))

        more = of_each(within, retrievers, retrieve_within, beside)
        lists = {name: (united(found, more[name]), own) for name, (found, own) in lists.items()}
        return _scored(query, retrievers, lists, complete, signals, beside, on_stage)


def _within_named_document(query: Query, table: Table) -> Query | None:
    """Return the question asked of the one large document that it names by its title, or None. None also if nothing else
    is found, and with a remote store, where a condition costs more than a search.
    """
    if "title_named" not in table.signals or not table.chunks or query.store.remote:
        return None
    named, time = table.signals["title_named"], table.signals["title_time"]
    likely = np.where(time >= 0, named + time, 0.0)
    best = int(likely.argmax())
    count = int((likely == likely[best]).sum())
    if likely[best] < NAMED or not FEWEST <= count < len(table.chunks):
        return None
    if count != round(np.expm1(table.signals["page_candidates"][best])):
        return None  # several are named alike
    page = page_of(table.chunks[best])
    chunks = query.adjacency.chunks
    begin, end = page + SEPARATOR, page + chr(ord(SEPARATOR) + 1)
    if bisect_left(chunks, end) - bisect_left(chunks, begin) < LARGE:
        return None
    within = query.within(Comparison(Field.TITLE, "title", Operator.EQUAL, (unescape(page),)))
    return None if within.store.remote else within


def _scored(
    query: Query,
    retrievers: Mapping[str, Retriever],
    returned: Mapping[str, tuple[list[Candidate], int]],
    complete: bool,
    signals: SignalSettings | None,
    beside: Beside,
    on_stage: StageObserver,
) -> Table:
    """Build the table of the lists that retrievers ``returned``, each with the number of candidates for the query."""

    def score(retriever: Retriever) -> Floats:
        with observed(on_stage, "score", retriever.name):
            return retriever.score(query, chunks)

    lists = {name: found for name, (found, _) in returned.items()}
    chunks = tuple(sorted({candidate.uri for found in lists.values() for candidate in found}))
    more: Mapping[str, Floats] = {}
    numbers: Mapping[str, float] = {}
    scores: Mapping[str, Floats] = {}
    if complete and chunks:
        # Nothing is handed to another thread here: with local stores it takes less time than a hand-over.
        scores = of_each(query, retrievers, score, beside)
    if signals and chunks:
        with observed(on_stage, "signals"):
            more, numbers = signals_of(query, chunks, signals)
    rows = {uri: row for row, uri in enumerate(chunks)}
    shape = (len(chunks), len(lists))
    raw = np.stack(list(scores.values()), axis=1) if scores else np.full(shape, np.nan)
    ranks = np.zeros(shape, dtype=np.int64)
    source_nodes: list[dict[str, SourceNode]] = [{} for _ in chunks]
    for column, (name, found) in enumerate(lists.items()):
        own_rows = [rows[candidate.uri] for candidate in found]
        ranks[own_rows, column] = range(1, len(found) + 1)
        for row, candidate in zip(own_rows, found, strict=True):
            source_nodes[row][name] = candidate.source_node
        if not scores:
            raw[own_rows, column] = [candidate.score for candidate in found]
    if scores:
        for column, (found, own) in enumerate(returned.values()):
            if len(found) > own:
                _order_behind(own, raw[:, column], ranks[:, column])
    table = Table(
        chunks=chunks,
        columns=tuple(lists),
        raw=raw,
        ranks=ranks,
        source_nodes=tuple(source_nodes),
        signals=more,
        question=numbers,
    )
    live = origins(query.store)
    if not live:
        return table
    lacking = np.array([uri in live for uri in chunks], dtype=bool)
    return borrow(table, lacking, OF_LINKS, [name for name, owner in OWNERS.items() if owner in OF_LINKS])


def _retrieved(
    questions: Sequence[Query],
    retrievers: Mapping[str, Retriever],
    retrieve: Callable[[Retriever], T],
    beside: Beside,
    *,
    signals: SignalSettings | None,
) -> dict[str, T]:
    """Ask every retriever the questions, the first of which is the query, overlapping independent work on a local store.

    While the questions are embedded, a second thread asks retrievers that need no vector; after that, it asks
    retrievers that start from the nearest chunks. With ``signals``, data for the signals is prepared as well.
    """
    query = questions[0]
    if query.store.remote:
        return of_each(query, retrievers, retrieve, beside)
    answers = Memo()

    def answer(name: str) -> T:
        return answers.of(name, lambda: retrieve(retrievers[name]))

    of_words = [name for name in retrievers if name in _OF_WORDS]

    def ask_words() -> None:
        for name in of_words:
            answer(name)
        if signals:
            prepare_words(query, signals)

    # The embedder takes longer and does not need Python's lock: this thread should not have to wait for another to
    # begin it, nor to be woken when it has ended.
    if of_words or signals:
        beside.begin(ask_words)
    for question in questions:
        question.vector  # noqa: B018 - so that no retriever seems to take that long
    ask_words()
    rest = {name: retriever for name, retriever in retrievers.items() if name not in of_words}
    prepared = nothing if signals is None else partial(prepare, query, signals)
    found = of_each(query, rest, retrieve, beside, _OF_NEAR_CHUNKS, prepared)
    return {name: answer(name) if name in of_words else found[name] for name in retrievers}


def united(own: Sequence[Candidate], more: Sequence[Candidate]) -> list[Candidate]:
    """Append to ``own`` the candidates of ``more`` that it does not contain."""
    known = {candidate.uri for candidate in own}
    return [*own, *(candidate for candidate in more if candidate.uri not in known)]


def _order_behind(own: int, scores: Floats, ranks: np.ndarray) -> None:
    """Rank the candidates after the first ``own`` ones by their scores (n,), those without a score last."""
    behind = np.flatnonzero(ranks > own)
    order = np.lexsort((ranks[behind], -np.nan_to_num(scores[behind], nan=-np.inf)))
    ranks[behind[order]] = np.arange(own + 1, own + 1 + len(behind))


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


STEP = 4
"""Factor by which a retriever widens its search in each round."""
_WIDEST = 16
"""Stop widening at this multiple of the number of chunks, which roughly covers all nodes of any kind."""


@runtime_checkable
class Widens(Protocol):
    """A retriever that examines a limited number of nodes and finds only chunks reachable from them."""

    def wider(self, times: int) -> Retriever | None:
        """Return a retriever that examines ``times`` as many nodes, or None when that would find nothing more."""
        ...


def permitted(query: Query, found: Sequence[Candidate]) -> list[Candidate]:
    """Keep the candidates that match the question's condition. Custom retrievers may ignore the condition."""
    allowed = query.allowed
    return list(found) if allowed is None else [one for one in found if allowed.has(one.uri)]


def retrieve_alone(
    query: Query, retriever: Retriever, k: int, recall: Query | None = None
) -> list[Candidate]:
    """Return the k best candidates of a retriever, best first.

    Under a condition the search is widened until k candidates are found or nothing more can be. Candidates of a wider
    round are appended, with their scores capped at the lowest score so far. If fewer than k are found, candidates for
    the alternative question ``recall`` are appended, ordered by their scores for ``query``.
    """
    found = _of_question(query, retriever, k)
    if recall is None or len(found) >= k:
        return found
    more = _of_question(recall, retriever, k)
    if not more:
        return found
    scores = retriever.score(query, [one.uri for one in more])
    scored = [
        one._replace(score=score)
        for one, score in zip(more, scores.tolist(), strict=True)
        if not math.isnan(score)
    ]
    return _followed(found, sorted(scored, key=lambda one: rank_key(one.score, one.uri)))[:k]


def _of_question(query: Query, retriever: Retriever, k: int) -> list[Candidate]:
    proposed = retriever.retrieve(query, k)
    found = permitted(query, proposed)[:k]
    if query.allowed is None:
        return found
    wanted = min(k, query.allowed.count)
    times, depth = 1, k
    while len(found) < wanted and times < _WIDEST * len(query.allowed.chunks):
        times *= STEP
        if isinstance(retriever, Widens):
            wider = retriever.wider(times)
            if wider is None:
                break
            proposed = wider.retrieve(query, k)
        elif len(proposed) >= depth:
            depth = k * times
            proposed = retriever.retrieve(query, depth)
        else:
            break
        found = _followed(found, permitted(query, proposed))[:k]
    return found


def _followed(found: list[Candidate], more: Sequence[Candidate]) -> list[Candidate]:
    known = {one.uri for one in found}
    new = [one for one in more if one.uri not in known]
    limit = found[-1].score if found else float("inf")
    return found + [one if one.score <= limit else one._replace(score=limit) for one in new]
