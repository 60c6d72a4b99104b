"""Asks the retrievers, merges their candidates, and scores every candidate with every retriever."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from trivium.common.arrays import Floats
from trivium.common.memo import Memo
from trivium.common.second_core import Beside
from trivium.fusion.imputation import borrow
from trivium.fusion.table import Table
from trivium.live.view import origins
from trivium.retrievers.query import Candidate, Query, Retriever
from trivium.retrievers.signals import OWNERS, SignalSettings, prepare, prepare_words
from trivium.retrievers.signals import signals as signals_of
from trivium.search.inputs import DEPTH
from trivium.search.scheduling import nothing, of_each
from trivium.search.single_retriever import permitted
from trivium.search.stages import StageObserver, ignore_stages, observed
from trivium.types import SourceNode

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
    scores.
    """

    def retrieve(retriever: Retriever) -> tuple[list[Candidate], int]:
        with observed(on_stage, "retrieve", retriever.name):
            own = permitted(query, retriever.retrieve(query, depth))
            if recall is None:
                return own, len(own)
            return united(own, permitted(query, retriever.retrieve(recall, depth))), len(own)

    def score(retriever: Retriever) -> Floats:
        with observed(on_stage, "score", retriever.name):
            return retriever.score(query, chunks)

    with Beside() as beside:
        returned = _retrieved(query, recall, retrievers, retrieve, beside, signals=signals)
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
    if scores and recall is not None:
        for column, (_, own) in enumerate(returned.values()):
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
    query: Query,
    recall: Query | None,
    retrievers: Mapping[str, Retriever],
    retrieve: Callable[[Retriever], T],
    beside: Beside,
    *,
    signals: SignalSettings | None,
) -> dict[str, T]:
    """Ask every retriever, overlapping independent work on a local store.

    While the questions are embedded, a second thread asks retrievers that need no vector; after that, it asks
    retrievers that start from the nearest chunks. With ``signals``, data for the signals is prepared as well.
    """
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
    for question in [query] if recall is None else [query, recall]:
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
