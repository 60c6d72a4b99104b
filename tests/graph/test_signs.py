"""Signs of turned vectors find the nearest, and are off by as much as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.common.arrays import Floats32
from trivium.common.dots import dots
from trivium.graph import signs
from trivium.graph.arrays import Rows, Stacked
from trivium.graph.coarse import CoarseVectors, Question
from trivium.graph.records import Floats, Vectors
from trivium.graph.signs import SignVectors


def drawn(seed: int, count: int, dimension: int) -> Vectors:
    """Unit vectors around a few directions, all of them around one, as those of texts are; one large number each."""
    random = np.random.default_rng(seed)
    topics = random.standard_normal((20, dimension)) + 2 * random.standard_normal(dimension)
    vectors = topics[random.integers(0, 20, count)] + random.standard_normal((count, dimension))
    vectors[:, 7] += 15
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(("dimension", "seed"), [(64, 1), (100, 2), (384, 3), (384, 4)])
def test_the_nearest_are_found_and_few_vectors_are_compared(
    dimension: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of 1,500 neighbours is missed, with a fifth of the vectors compared at most."""
    compared: list[int] = []
    leading = CoarseVectors.leading

    def noted(self: CoarseVectors, question: Question, k: int, places: Rows) -> Rows:
        compared.append(len(places))
        return leading(self, question, k, places)

    monkeypatch.setattr(CoarseVectors, "leading", noted)
    vectors = drawn(seed, 20_050, dimension)
    matrix, rows = vectors[:20_000], np.arange(20_000)
    coarse, found = CoarseVectors.of(Stacked.of(matrix), rows), SignVectors.of(matrix, rows)
    for question in vectors[20_000:]:

        def cosines(some: Rows, question: Vectors = question) -> Floats:
            return dots(matrix, question, some)

        nearest = np.argsort(-dots(matrix, question), kind="stable")[:30]
        assert set(nearest.tolist()) <= set(found.nearest(coarse, cosines, question, 30).tolist())
    assert len(compared) == 100 and np.mean(compared) < 20_000 / 5


def test_estimates_are_off_by_as_much_as_they_say() -> None:
    """In standard deviations, which are an upper limit: for the part of a vector along the question there is no error."""
    vectors = drawn(5, 4_050, 384)
    matrix = vectors[:4_000]
    found = SignVectors.of(matrix, np.arange(4_000))
    off = []
    for vector in vectors[4_000:]:
        question = signs._question(vector, found.centre, signs._flips(384))
        deviation = np.sqrt(found.rests * question.length / 383 + found.slopes**2 * question.missing)
        most, _ = found._bounds(vector)
        off.append((most - dots(matrix, vector)) / deviation - signs.DEVIATIONS)
    assert abs(np.mean(off)) < 0.05
    assert 0.8 < np.std(off) <= 1.0


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(64, 130))
@settings(max_examples=25, deadline=None)
def test_what_is_taken_over_is_what_would_be_made_anew(seed: int, count: int, dimension: int) -> None:
    """Around the same centre, whatever is removed, kept and added."""
    random = np.random.default_rng(seed)
    old, new = drawn(seed, count, dimension), drawn(seed + 1, 2 * count, dimension)
    places = random.integers(-1, count, len(new))
    new[places >= 0] = old[places[places >= 0]]
    rows = np.arange(len(new))
    before = SignVectors.of(old, np.arange(count))
    taken, made = before.taken(places, new, rows), signs._around(before.centre, new, rows)
    for name in ("words", "slopes", "offsets", "rests"):
        assert np.array_equal(getattr(taken, name), getattr(made, name))


@given(st.integers(1, 140), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_turning_keeps_products(dimension: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    one, other = random.standard_normal((2, dimension)).astype(np.float32)
    turned: list[Floats32] = []
    for vector in (one, other):
        copy = vector.copy()
        signs._turn(copy, signs._flips(dimension))
        turned.append(copy)
    assert turned[0] @ turned[1] == pytest.approx(one @ other, abs=1e-3)


@given(st.integers(0, 2**64 - 1))
def test_bits_are_counted(word: int) -> None:
    assert signs._ones(np.uint64(word)) == word.bit_count()
