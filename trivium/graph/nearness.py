"""What is near a vector, and what is reached from there: the part of a vector search that is the same in every memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from trivium.graph.arrays.columns import Rows
from trivium.graph.filter_values import Mask
from trivium.graph.records import Floats, Reached, round_score, round_scores
from trivium.graph.schema import Label

_ROUNDING = 2e-5
"""Two scores that differ by more than this share of themselves keep their order when rounded to 6 significant digits."""


class Found(NamedTuple):
    """A node near a vector."""

    label: Label
    row: int
    uri: str
    score: float


def leading(scores: Floats, k: int) -> Rows:
    """Places, rising, of the scores that can be among the k highest once they are rounded: only they need be."""
    if k >= len(scores):
        return np.arange(len(scores))
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    least = float(np.partition(scores, len(scores) - k)[len(scores) - k])
    return (scores >= below(least)).nonzero()[0]


def below(score: float) -> float:
    """The lowest score that may not be below this one once both are rounded."""
    return score - _ROUNDING * abs(score)


def best(rows: Rows, scores: Floats, k: int) -> tuple[Rows, Floats]:
    """The k rows of the highest scores, rounded, and their scores; of equal ones the lower row comes first, which is that
    of the uri that comes first."""
    kept = leading(scores, k)
    rows, scores = rows[kept], scores[kept]
    order = np.lexsort((rows, -round_scores(scores)))[: max(k, 0)]
    return rows[order], scores[order]


def reach(
    nodes: Sequence[Found],
    chunks_along: Callable[[Found], Rows],
    cosines: Callable[[Rows], Floats],
    position: Rows,
    uris: Callable[[list[int]], Sequence[str]],
    seen: Mask,
    limit: int | None,
) -> list[Reached]:
    """Chunks along a hop from the nearest nodes; see :meth:`trivium.graph.protocols.GraphStore.expand_nearest`.

    ``cosines`` are those of chunks by row, NaN without a vector; ``position`` and ``seen`` (chunks,) are their places on
    their pages, and those that are left out. Nodes are taken best first. Once better nodes have filled the list the
    chunks of worse ones are not looked at, and of a popular entity only those that can make the cut are put in order.
    """
    rows: list[Rows] = []  # of each node
    behind: list[int] = []  # of each node, how many chunks those of higher scores have
    found = before = 0
    last = math.nan
    for node in nodes:
        score = round_score(node.score)
        if score != last:
            if limit is not None and found >= limit:
                break
            before, last = found, score
        some = chunks_along(node)
        some = some[~seen[some]]
        seen[some] = True
        rows.append(some)
        behind.append(before)
        found += len(some)
    if not found:
        return []
    row = np.concatenate(rows)
    source = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    cosine = cosines(row)
    close = np.fmax(cosine, -np.inf)  # instead of NaN
    if limit is not None and found > limit:  # the worst nodes tie for what is left, and may lead to thousands
        kept = np.concatenate([np.arange(before), before + leading(close[before:], limit - before)])
        row, source, cosine, close = row[kept], source[kept], cosine[kept], close[kept]
    # By node, own cosine (chunks without a vector last), position, uri.
    places = position[row]
    order = np.lexsort((row, places, -round_scores(close), np.array(behind)[source]))[:limit]
    return [
        Reached(uri, nodes[number].uri, nodes[number].score, own, place)
        for uri, number, own, place in zip(
            uris(row[order].tolist()),
            source[order].tolist(),
            cosine[order].tolist(),
            places[order].tolist(),
            strict=True,
        )
    ]


def of_nearest(found: Sequence[Reached], nodes: int, limit: int | None) -> list[Reached]:
    """Merge chunks that were reached in several places from the nearest nodes of each: those of the ``nodes`` nearest of
    all, in the order of :meth:`trivium.graph.protocols.VectorReader.expand_nearest`, at most ``limit``. A node of which
    all chunks were reached from better nodes is not among them, and does not count.
    """
    scores = {chunk.source_node: round_score(chunk.score) for chunk in found}
    best = set(sorted(scores, key=lambda node: (-scores[node], node))[:nodes])
    return in_order([chunk for chunk in found if chunk.source_node in best], limit)


def in_order(found: Iterable[Reached], limit: int | None) -> list[Reached]:
    """Sort chunks by node, own cosine (those without a vector last), position and uri; at most ``limit``."""
    ordered = sorted(found, key=_order)
    return ordered if limit is None else ordered[: max(limit, 0)]


def _order(chunk: Reached) -> tuple[float, float, int, str]:
    cosine = math.inf if math.isnan(chunk.cosine) else -round_score(chunk.cosine)
    return -round_score(chunk.score), cosine, chunk.position, chunk.uri
