"""How close together a question's words occur in chunks, and what candidates that link to each other have."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.native.loops import loops


def windows(places: Integers, shares: Floats, chunks: int, widths: Integers) -> Floats:
    """Return, for each width (w,) and chunk (w, chunks), the largest sum of shares of distinct terms within a window of
    so many words, which is at least 1.

    ``shares`` (t,) are the terms' shares; ``places`` (o, 3) holds chunk, term and position of every occurrence,
    sorted.
    """
    best = np.zeros((len(widths), chunks))
    loops.windows(places, shares, widths, best)
    return best


def phrases(places: Integers, shares: Floats, steps: Integers, chunks: int, near: int) -> Floats:
    """Return four numbers per chunk (chunks, 4): the share of adjacent pairs of question terms that occur within
    ``near`` words of each other, the share that occurs exactly as in the question, the largest sum of shares in one
    phrase, and the position of the first occurrence, -1 if there is none.

    ``shares`` (t,) are those of the question's terms in its order; ``steps`` (t,) is the distance in words of each
    term from the previous one in the question. A pair weighs as much as its two terms. ``places`` as in
    :func:`windows`.
    """
    found = np.zeros((chunks, 4))
    loops.phrases(places, shares, steps, near, np.empty(len(places)), found)
    return found


def best_of_pairs(
    citing: Integers, there: Integers, values: Floats, together: Floats
) -> tuple[Floats, Floats]:
    """Return, for each of n candidates, the best values of those it forms a pair with, NaN where there are none, and
    the number of its pairs with others (n,).

    Pair p consists of the candidates ``citing[p]`` and ``there[p]`` and has the value ``together[p]``; ``values``
    (n, v) are those of single candidates. The result (2 v + 3, n) has two rows for each value, from those that cite a
    candidate and from those that it cites, and the best of ``together`` among the former, the latter, and all.
    """
    best, links = np.empty((2 * values.shape[1] + 3, len(values))), np.zeros(len(values))
    loops.best_of_pairs(citing, there, values, together, best, links)
    return best, links
