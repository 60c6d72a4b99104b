"""Steps away from a node are scored as the mean of their vectors, worked out here by NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.native.loops import loops


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.integers(0, 6), walked=st.integers(0, 3))
def test_cosine_of_the_mean(seed: int, steps: int, walked: int) -> None:
    random = np.random.default_rng(seed)
    nodes = random.normal(size=(steps, 4)).astype(np.float32)
    types = random.normal(size=(3, 4)).astype(np.float32)
    nodes[random.random(steps) < 0.2] = np.nan
    types[random.random(3) < 0.3] = np.nan
    type_of = random.integers(0, 3, steps)
    before = random.normal(size=(walked, 4))
    question = random.normal(size=4)
    question /= np.linalg.norm(question)
    found = np.empty(steps)
    loops.mean_cosines(nodes, types, type_of, before.sum(axis=0), question, found)
    for step in range(steps):
        if np.isnan(nodes[step, 0]):
            assert np.isnan(found[step])
            continue
        parts = [nodes[step], *before, types[type_of[step]]]
        mean = np.mean([part for part in parts if not np.isnan(part[0])], axis=0)
        assert np.isclose(found[step], mean @ question / np.linalg.norm(mean))


def test_a_mean_of_no_length_has_no_direction() -> None:
    found = np.empty(1)
    loops.mean_cosines(
        np.array([[1, 0]], dtype=np.float32),
        np.array([[-1, 0]], dtype=np.float32),
        np.array([0]),
        np.zeros(2),
        np.array([1.0, 0.0]),
        found,
    )
    assert found.tolist() == [0.0]
