"""One retriever asked by itself, and what any retriever may propose under a condition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from trivium.graph.records import rank_key
from trivium.retrievers.base import Candidate, Query, Retriever

STEP = 4
"""How many times as wide a retriever looks in the next round."""
_WIDEST = 16
"""So many times as there are chunks are all nodes of any kind, about."""


@runtime_checkable
class Widens(Protocol):
    """A retriever that looks at a number of nodes and finds only what they lead to."""

    def wider(self, times: int) -> Retriever | None:
        """The same with so many times the nodes; None where it would find no more."""
        ...


def permitted(query: Query, found: Sequence[Candidate]) -> list[Candidate]:
    """What of a retriever's candidates fulfils the condition of a question: those of one's own may not look at it."""
    allowed = query.allowed
    return list(found) if allowed is None else [one for one in found if allowed.has(one.uri)]


def retrieve_alone(
    query: Query, retriever: Retriever, k: int, recall: Query | None = None
) -> list[Candidate]:
    """The k best candidates of a retriever. Under a condition there are k if it can find k: it looks at more and more
    nodes, and what only those bring follows behind, with scores that are no higher. Where there are fewer, those that it
    finds for another question ``recall`` follow in the order of their scores for this one."""
    found = _of_question(query, retriever, k)
    if recall is None or len(found) >= k:
        return found
    more = _of_question(recall, retriever, k)
    if not more:
        return found
    scores = retriever.score(query, [one.uri for one in more])
    scored = [
        replace(one, score=score)
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
    return found + [one if one.score <= limit else replace(one, score=limit) for one in new]
