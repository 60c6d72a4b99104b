"""How a question's words occur together in a text: close to each other, in the question's order, as phrases."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled


@compiled
def windows(places: Integers, shares: Floats, chunks: int, widths: Integers) -> Floats:
    """Return, for each width (w,) and chunk (w, chunks), the largest sum of shares of distinct terms within a window of
    so many words.

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
