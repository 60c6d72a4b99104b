"""A keyword search of the copy in memory, against the formula written out."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.graph.neo4j.replica.words import Vocabulary, Words
from trivium.graph.records import round_score

TERMS = "abcdefg"


@given(
    st.integers(0, 10_000),
    st.integers(1, 400),
    st.lists(st.sampled_from(TERMS), max_size=5),
    st.integers(0, 70),
)
@settings(max_examples=60, deadline=None)
def test_the_best_chunks_by_bm25(seed: int, count: int, asked: list[str], k: int) -> None:
    """More chunks than blocks of them, and fewer; terms that nearly all have, and one that none has."""
    random = np.random.default_rng(seed)
    shares = np.array([0.9, 0.5, 0.2, 0.1, 0.02, 0.01])
    texts = [
        [term for term, share in zip(TERMS, shares, strict=False) for _ in range(random.binomial(3, share))]
        for _ in range(count)
    ]
    vocabulary = Vocabulary()
    words = Words.of(vocabulary, [(vocabulary.number(" ".join(text)), 0) for text in texts])
    mean = max(1.0, sum(map(len, texts)) / count)
    scores = {}
    for row, text in enumerate(texts):
        score = 0.0
        for term in dict.fromkeys(asked):
            holding = sum(term in other for other in texts)
            often = text.count(term)
            rarity = math.log1p((count - holding + 0.5) / (holding + 0.5))
            score += rarity * often / (often + 1.2 * (0.25 + 0.75 * len(text) / mean))
        if score > 0:
            scores[row] = score
    best = sorted(scores, key=lambda row: (-round_score(scores[row]), row))[:k]
    assert words.search(asked, k).tolist() == best
