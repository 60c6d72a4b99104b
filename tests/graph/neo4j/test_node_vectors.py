"""Vectors of the copy in memory: searched by signs where there are many, and carried over after a change."""

from __future__ import annotations

import numpy as np
import pytest

from tests.graph.test_signs import drawn
from trivium.common.dots import dots
from trivium.graph import signs
from trivium.graph import vectors as vectors_module
from trivium.graph.moves import Moves
from trivium.graph.neo4j.replica.node_vectors import Earlier, NodeVectors


def test_nodes_are_searched_by_signs_from_a_number_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before and after a change: nodes removed, others inserted, one with another vector, one without."""
    monkeypatch.setattr(vectors_module, "SIGNS_FROM", 3_000)
    vectors = drawn(6, 4_020, 64)
    matrix, question = vectors[:4_000].copy(), vectors[4_000]
    matrix[5] = np.nan
    nodes = NodeVectors.of(matrix)
    assert nodes.signs is not None and len(nodes.rows) == 3_999
    moves = Moves.of(4_000, np.array([0, 17]), np.array([3, 3, 4_000]))
    changed = moves.carry(matrix, vectors[4_001:4_004])
    changed[moves.follow(np.array([100]))] = vectors[4_005]
    other = np.union1d(moves.added, moves.follow(np.array([100])))
    after = NodeVectors.of(changed, None, Earlier(nodes, moves, other))
    assert after.signs is not None
    assert np.array_equal(after.coarse.codes, NodeVectors.of(changed).coarse.codes)
    assert np.array_equal(after.signs.words, signs._around(nodes.signs.centre, changed, after.rows).words)
    for held in (nodes, after):
        cosines = np.nan_to_num(dots(held.matrix, question), nan=-1.0)
        assert set(np.argsort(-cosines)[:10].tolist()) <= set(held.candidates(question, 10).tolist())
    monkeypatch.setattr(vectors_module, "SIGNS_FROM", 5_000)
    assert NodeVectors.of(changed, None, Earlier(nodes, moves, other)).signs is not None, "they are there"
    assert NodeVectors.of(changed).signs is None
