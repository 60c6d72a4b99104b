"""The contribution of each retriever to a score: exact Shapley values."""

from __future__ import annotations

from math import factorial

import numpy as np

from trivium.common.arrays import Floats, dots


def shapley(worth: Floats) -> Floats:
    """Return exact Shapley values (r, p) from the score of each of r rows for every coalition of p players.

    ``worth`` (2**p, r) holds the scores; player i belongs to coalition c if bit i of c is set. A value is what the player
    adds to the score, averaged over all orders in which the players may come in. The values of a row sum to its score
    with all players minus its score with none.

    >>> shapley(np.array([[0.0], [1.0], [2.0], [5.0]])).tolist()
    [[2.0, 3.0]]
    """
    coalitions = np.arange(len(worth))
    count = (len(worth) - 1).bit_length()
    sizes = np.array([int(some).bit_count() for some in coalitions])
    weights = np.array([factorial(n) * factorial(count - n - 1) / factorial(count) for n in range(count)])
    values = np.zeros((worth.shape[1], count))
    for player in range(count):
        without = coalitions[coalitions >> player & 1 == 0]
        added = worth[without | 1 << player] - worth[without]
        # A row's values must not depend on how many others there are, to the last bit.
        values[:, player] = dots(added.T, weights[sizes[without]])
    return values
