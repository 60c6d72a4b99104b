"""The nearest vectors are found in both tiers, from files and after changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.graph.arrays.array_files import Rows, Stacked, load_array, save_array
from trivium.graph.arrays.topology import Nodes
from trivium.graph.arrays.vector_index import LabelVectors, build_vectors, load_vectors
from trivium.graph.arrays.vector_matrix import Matrix
from trivium.graph.records import Vectors
from trivium.graph.string_table import StringTable

ALL, NONE = 1, 1 << 40
"""From how many vectors on there is an index."""


def drawn(seed: int, count: int, dimension: int) -> Vectors:
    """Unit vectors around a few directions, all of them around one, as those of texts are; one large number each."""
    random = np.random.default_rng(seed)
    topics = random.standard_normal((20, dimension)) + 2 * random.standard_normal(dimension)
    vectors = topics[random.integers(0, 20, count)] + random.standard_normal((count, dimension))
    vectors[:, 7] += 15
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def nodes_with(vector: Rows) -> Nodes:
    """Nodes with vectors in these rows of the matrix, -1 for none."""
    numbers = np.arange(len(vector))
    return Nodes(
        StringTable.of([f"node-{number:05}" for number in numbers]), numbers, numbers, vector, numbers
    )


def matrix_of(vectors: Vectors, more: Vectors | None = None) -> Matrix:
    stacked = Stacked.of(vectors) if more is None else Stacked(vectors, more)
    return Matrix(stacked, np.arange(1, len(stacked) + 1))


def files(folder: Path, vectors: Vectors, vector: Rows, approximate_from: int) -> LabelVectors:
    """The vectors of nodes, written and mapped again."""
    matrix = matrix_of(vectors)
    plan = build_vectors(folder, "Chunk", nodes_with(vector), matrix, None, approximate_from)
    if plan is not None:
        plan.apply(folder, matrix, lambda _: None)
    loaded = load_vectors(folder, "Chunk", vectors.shape[1])
    assert loaded is not None and (loaded.index is None) == (approximate_from == NONE)
    return loaded.opened(matrix)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.booleans(), st.booleans())
def test_the_nearest_are_found_after_changes(
    tmp_path_factory: pytest.TempPathFactory, seed: int, k: int, exact: bool, indexed: bool
) -> None:
    """Of the rows that nodes have now: some removed, some shared, some of the matrix before that no node had, and new
    ones; among all and among some. Against all cosines: none is missed, but by an index few."""
    random = np.random.default_rng(seed)
    vectors = drawn(seed, 760, 16)
    old, new = vectors[:600].copy(), vectors[600:750].copy()
    matrix = matrix_of(old, new)
    held = files(
        tmp_path_factory.mktemp("held"), old, random.integers(-1, 500, 600), ALL if indexed else NONE
    )
    missed, asked = 0, 0
    for _ in range(3):
        rows = np.unique(random.integers(0, 750, random.integers(1, 700)))
        held = held.now(matrix, rows)
        among = random.random(750) < random.choice([0.02, 0.6])
        among &= np.isin(np.arange(750), rows)
        for question in vectors[750:]:
            for wanted, mask in ((rows, None), (np.flatnonzero(among), among)):
                found = held.nearest(matrix, question, k, exact=exact, among=mask)
                best = wanted[np.argsort(-matrix.cosines(wanted, question), kind="stable")[:k]]
                assert set(found.tolist()) <= set(wanted.tolist())
                assert len(set(found.tolist())) == len(found) >= len(best)
                missed, asked = missed + len(set(best.tolist()) - set(found.tolist())), asked + len(best)
    assert missed <= (0.02 * asked if indexed and not exact else 0)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """So that the indexes are built anew; without any there is nothing to load."""
    assert load_vectors(tmp_path, "Chunk", 64) is None
    files(tmp_path, drawn(1, 100, 64), np.arange(100), NONE)
    with pytest.raises(ValueError, match="coarse has vectors"):
        load_vectors(tmp_path, "Chunk", 65)
    files(tmp_path, drawn(1, 100, 64), np.arange(100), ALL)
    with pytest.raises(ValueError, match="has 100 vectors of 64 numbers, not 100 of 65"):
        load_vectors(tmp_path, "Chunk", 65)
    whole = load_array(tmp_path, "Chunk.rows").copy()
    save_array(tmp_path, "Chunk.rows", whole[:7])
    with pytest.raises(ValueError, match="has 100 vectors of 64 numbers, not 7 of 64"):
        load_vectors(tmp_path, "Chunk", 64)
