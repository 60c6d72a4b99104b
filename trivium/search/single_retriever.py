"""Search with a single retriever, and filtering of candidates by a condition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from trivium.graph.records import rank_key
from trivium.retrievers.query import Candidate, Query, Retriever

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
