"""Vectors of the copy in memory: compared as bytes, and carried over after a change."""

from __future__ import annotations

import numpy as np

from tests.graph.embedded.test_label_vectors import drawn
from trivium.common.dots import dots
from trivium.graph.moves import Moves
from trivium.graph.neo4j.replica.node_vectors import Earlier, NodeVectors


def test_bytes_of_nodes_are_taken_over_after_a_change() -> None:
    """Nodes removed, others inserted, one with another vector, one without."""
    vectors = drawn(6, 420, 64)
    matrix, question = vectors[:400].copy(), vectors[400]
    matrix[5] = np.nan
    nodes = NodeVectors.of(matrix)
    assert len(nodes.rows) == 399
    moves = Moves.of(400, np.array([0, 17]), np.array([3, 3, 400]))
    changed = moves.carry(matrix, vectors[401:404])
    changed[moves.follow(np.array([100]))] = vectors[405]
    other = np.union1d(moves.added, moves.follow(np.array([100])))
    after = NodeVectors.of(changed, None, Earlier(nodes, moves, other))
    assert np.array_equal(after.coarse.codes, NodeVectors.of(changed).coarse.codes)
    for held in (nodes, after):
        cosines = np.nan_to_num(dots(held.matrix, question), nan=-1.0)
        assert set(np.argsort(-cosines)[:10].tolist()) <= set(held.candidates(question, 10).tolist())
