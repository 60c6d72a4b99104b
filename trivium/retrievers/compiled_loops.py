"""The inner loops of retrievers and signals. They load numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled, compiled_sums
from trivium.graph.records import Vectors


@compiled
def windows(places: Integers, shares: Floats, chunks: int, widths: Integers) -> Floats:
    """Return, for each width (w,) and chunk (w, chunks), the largest sum of shares of distinct terms within a window of
    so many words, which is at least 1.

    ``shares`` (t,) are the terms' shares; ``places`` (o, 3) holds chunk, term and position of every occurrence,
    sorted.
    """
    best = np.zeros((len(widths), chunks))
    for number in range(len(widths)):
        inside = np.zeros(len(shares), dtype=np.int64)
        first, sum_inside = 0, 0.0
        for last in range(len(places)):
            chunk, term, position = places[last]
            while places[first, 0] != chunk or position - places[first, 2] >= widths[number]:
                gone = places[first, 1]
                inside[gone] -= 1
                if inside[gone] == 0:
                    sum_inside -= shares[gone]
                first += 1
            inside[term] += 1
            if inside[term] == 1:
                sum_inside += shares[term]
            best[number, chunk] = max(best[number, chunk], sum_inside)
    return best


@compiled
def phrases(places: Integers, shares: Floats, steps: Integers, chunks: int, near: int) -> Floats:
    """Return four numbers per chunk (chunks, 4): the share of adjacent pairs of question terms that occur within
    ``near`` words of each other, the share that occurs exactly as in the question, the largest sum of shares in one
    phrase, and the position of the first occurrence, -1 if there is none.

    ``shares`` (t,) are those of the question's terms in its order; ``steps`` (t,) is the distance in words of each
    term from the previous one in the question. A pair weighs as much as its two terms. ``places`` as in
    :func:`windows`.
    """
    found = np.zeros((chunks, 4))
    found[:, 3] = -1
    count = len(shares)
    total = 0.0
    for term in range(1, count):
        total += shares[term - 1] + shares[term]
    run = np.zeros(len(places))
    start = 0
    while start < len(places):
        chunk, end = places[start, 0], start
        found[chunk, 3] = places[start, 2]
        while end < len(places) and places[end, 0] == chunk:
            end += 1
        is_near, is_same = np.zeros(count), np.zeros(count)
        for own in range(start, end):
            term, position = places[own, 1], places[own, 2]
            run[own] = shares[term]
            for other in range(start, end):
                if term and places[other, 1] == term - 1:
                    if abs(position - places[other, 2]) <= near:
                        is_near[term] = 1
                    if other < own and position - places[other, 2] == steps[term]:
                        is_same[term] = 1
                        run[own] = run[other] + shares[term]
            found[chunk, 2] = max(found[chunk, 2], run[own])
        if total > 0:
            for term in range(1, count):
                weight = (shares[term - 1] + shares[term]) / total
                found[chunk, 0] += weight * is_near[term]
                found[chunk, 1] += weight * is_same[term]
        start = end
    return found


@compiled
def best_of_pairs(
    citing: Integers, there: Integers, values: Floats, together: Floats
) -> tuple[Floats, Floats]:
    """Return, for each of n candidates, the best values of those it forms a pair with, NaN where there are none, and
    the number of its pairs with others (n,).

    Pair p consists of the candidates ``citing[p]`` and ``there[p]`` and has the value ``together[p]``; ``values``
    (n, v) are those of single candidates. The result (2 v + 3, n) has two rows for each value, from those that cite a
    candidate and from those that it cites, and the best of ``together`` among the former, the latter, and all.
    """
    n, count = values.shape
    best = np.full((2 * count + 3, n), -np.inf)
    links = np.zeros(n)
    for pair in range(len(citing)):
        source, target = citing[pair], there[pair]
        for value in range(count):
            best[2 * value, target] = max(best[2 * value, target], values[source, value])
            best[2 * value + 1, source] = max(best[2 * value + 1, source], values[target, value])
        both = together[pair]
        best[2 * count, target] = max(best[2 * count, target], both)
        best[2 * count + 1, source] = max(best[2 * count + 1, source], both)
        best[2 * count + 2, target] = max(best[2 * count + 2, target], both)
        best[2 * count + 2, source] = max(best[2 * count + 2, source], both)
        if source != target:
            links[source] += 1
            links[target] += 1
    for row in range(2 * count + 3):
        for candidate in range(n):
            if best[row, candidate] == -np.inf:
                best[row, candidate] = np.nan
    return best, links


@compiled_sums
def mean_cosines(
    nodes: Vectors, types: Vectors, type_of: Integers, walked: Floats, question: Floats, out: Floats
) -> None:
    """Fill ``out`` (s,) with the cosines of a unit vector ``question`` (d,) with the mean vector of each step.

    The mean of a step is taken over the vector of its node, ``nodes`` (s, d), of its relation, ``types[type_of]`` (t,
    d), and of the relations walked before, whose sum is ``walked`` (d,). Relations without a vector (NaN) are
    skipped. The result is NaN for a node without a vector and 0 for a mean of length 0.
    """
    for step in range(len(out)):
        if np.isnan(nodes[step, 0]):
            out[step] = np.nan
            continue
        relation = type_of[step]
        counts = not np.isnan(types[relation, 0])
        along = length = 0.0
        for k in range(len(question)):
            # The sum has the same cosine as the mean.
            number = nodes[step, k] + walked[k] + (np.float64(types[relation, k]) if counts else 0.0)
            along += number * question[k]
            length += number * number
        out[step] = along / np.sqrt(length) if length > 0 else 0.0
