"""One retriever asked by itself, and what any retriever may propose under a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

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


def retrieve_alone(query: Query, retriever: Retriever, k: int) -> list[Candidate]:
    """The k best candidates of a retriever. Under a condition there are k if it can find k: it looks at more and more
    nodes, and what only those bring follows behind, with scores that are no higher."""
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
