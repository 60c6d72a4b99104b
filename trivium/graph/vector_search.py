"""Which vectors are near another one, and what is reached from there: the part of a vector search that is the same for
every store.

To find out which of many vectors can be near at all they are compared as whole numbers of a byte: a quarter of the memory
to read, and products of whole numbers, of which a processor makes dozens at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats32
from trivium.graph.arrays.array_files import Rows, Stacked
from trivium.graph.filter_matching import Mask
from trivium.graph.records import Codes, Floats, Reached, Vectors, round_score, round_scores
from trivium.graph.schema import Label
from trivium.native.loops import loops

_LARGEST = 127
_TINY = np.finfo(np.float32).tiny
_LARGEST_16, _LARGEST_32 = int(np.iinfo(np.int16).max), int(np.iinfo(np.int32).max)
_FEW_SHARE = 4
"""Where fewer than one of so many vectors are asked for, they are read one by one, and not all from end to end."""


@dataclass(frozen=True, slots=True)
class CoarseVectors:
    """Unit vectors as ``codes`` (n x d) times ``scales`` (n,), and the lengths of the ``errors`` (n,) that makes.
    Read-only, like arrays mapped from files."""

    codes: Codes
    scales: Floats32
    errors: Floats32

    def __post_init__(self) -> None:
        for array in (self.codes, self.scales, self.errors):
            array.flags.writeable = False

    @classmethod
    def of(cls, vectors: Stacked, rows: Rows) -> Self:
        """Those of some rows, in this order."""
        dimension = vectors.upper.shape[1]
        codes, scales, errors = _empty(len(rows), dimension)
        if vectors.are_above(rows):
            _quantise(vectors.upper, rows, codes, scales, errors)
            return cls(codes, scales, errors)
        for chosen, values, places in vectors.split(rows):
            parts = _empty(len(places), dimension)
            _quantise(values, places, *parts)
            codes[chosen], scales[chosen], errors[chosen] = parts
        return cls(codes, scales, errors)

    def taken(self, known: Rows, vectors: Stacked, rows: Rows) -> Self:
        """Those of other ``rows`` (m,); those of vectors that are here at the places ``known`` (m,), -1 for none, are
        taken over."""
        kept, new = known >= 0, np.flatnonzero(known < 0)
        more = type(self).of(vectors, rows[new])
        codes, scales, errors = _empty(len(rows), self.codes.shape[1])
        codes[kept], codes[new] = self.codes[known[kept]], more.codes
        scales[kept], scales[new] = self.scales[known[kept]], more.scales
        errors[kept], errors[new] = self.errors[known[kept]], more.errors
        return type(self)(codes, scales, errors)

    def nearest(self, vector: Vectors, k: int, among: NDArray[np.bool_] | None = None) -> Rows:
        """Places of the vectors that may be among the k of highest cosine with a unit vector (d,), and more; where
        ``among`` (n,) is given, only those it is true of. Where these are few, only they are read.

        With v = c + e of a vector and q = p + f of the question, c and p as whole numbers times a scale, the cosine v q
        is off from c p by at most |e| |q| + |c| |f|. Who cannot reach what k others reach at least is not among the k."""
        count = len(self.codes) if among is None else int(np.count_nonzero(among))
        if k >= count:
            return np.arange(len(self.codes)) if among is None else np.flatnonzero(among)
        if k <= 0:
            return np.empty(0, dtype=np.int64)
        question = Question.of(vector)
        if among is not None and count * _FEW_SHARE < len(among):
            return self.leading(question, k, np.flatnonzero(among))
        scores = np.empty(len(self.codes), dtype=np.float32)
        loops.scan(self.codes, self.scales, question.codes, question.scale, scores)
        most, least = np.empty(len(self.codes), dtype=np.float32), np.empty(1)
        some, chosen = (0, np.empty(0, np.bool_)) if among is None else (1, np.ascontiguousarray(among))
        loops.bound(scores, self.errors, question.length, question.missing, some, chosen, k, most, least)
        kept: Rows = (most >= least[0]).nonzero()[0]
        return kept

    def leading(self, question: Question, k: int, places: Rows) -> Rows:
        """Those of some places (m,), in this order, whose vectors may be among the k of highest cosine of these."""
        if k >= len(places):
            return places
        least, most = (np.empty(len(places), dtype=np.float32) for _ in range(2))
        loops.bounds(
            self.codes, self.scales, self.errors, np.ascontiguousarray(places), *question, least, most
        )
        kth = len(places) - k
        kept: Rows = places[most >= np.partition(least, kth)[kth]]
        return kept


class Question(NamedTuple):
    """A unit vector (d,) as whole numbers times a scale, its length, and that of what these leave out."""

    codes: NDArray[np.int16]
    scale: float
    length: float
    missing: float

    @classmethod
    def of(cls, vector: Vectors) -> Question:
        """The codes of a vector."""
        # As fine as the sums of products of d of them leave room for in 32 bits.
        finest = min(_LARGEST_16, _LARGEST_32 // (_LARGEST * vector.size))
        numbers = vector.astype(np.float64)
        scale = max(float(abs(numbers).max(initial=0.0)) / finest, float(_TINY))
        codes = np.rint(numbers / scale)
        missing = numbers - scale * codes
        lengths = (float(np.sqrt((part * part).sum())) for part in (numbers, missing))
        return cls(codes.astype(np.int16), scale, *lengths)


def _empty(count: int, dimension: int) -> tuple[Codes, Floats32, Floats32]:
    """Room for codes, scales and errors."""
    scales, errors = (np.empty(count, dtype=np.float32) for _ in range(2))
    return np.empty((count, dimension), dtype=np.int8), scales, errors


def _quantise(values: Vectors, rows: Rows, codes: Codes, scales: Floats32, errors: Floats32) -> None:
    """Fill ``codes``, ``scales`` and ``errors`` with those of some rows of ``values``."""
    loops.quantise(np.ascontiguousarray(values), np.ascontiguousarray(rows, np.int64), codes, scales, errors)


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
