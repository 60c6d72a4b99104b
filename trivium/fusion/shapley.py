"""The contribution of each retriever to a score: exact Shapley values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import factorial

import numpy as np

from trivium.common.arrays import Floats


def shapley(
    score: Callable[[Floats], Floats], rows: Floats, average: Floats, players: Sequence[Sequence[int]]
) -> Floats:
    """Return exact Shapley values (r, p): what each player's features add to the score of each row (r, f), averaged
    over all orders of the players.

    The features of an absent player take their ``average`` (f,). The values of a row sum to its score minus the score
    of the average, provided that all differing features belong to a player.
    """
    count = len(players)
    coalitions = [frozenset(some) for size in range(count + 1) for some in combinations(range(count), size)]
    stacked = []
    for some in coalitions:
        mixed = np.tile(average, (len(rows), 1))
        present = [column for player in some for column in players[player]]
        mixed[:, present] = rows[:, present]
        stacked.append(mixed)
    scores = score(np.concatenate(stacked)).reshape(len(coalitions), len(rows))
    worth = dict(zip(coalitions, scores, strict=True))
    values = np.zeros((len(rows), count))
    for player in range(count):
        for some, own in worth.items():
            if player not in some:
                weight = factorial(len(some)) * factorial(count - len(some) - 1) / factorial(count)
                values[:, player] += weight * (worth[some | {player}] - own)
    return values
