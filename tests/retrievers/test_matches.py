"""How the words of a question stand together in a text, against counting it the long way."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.graph.term_occurrences import count_terms
from trivium.retrievers.signals import phrases, windows

TERMS = ["a", "b", "c"]
SHARES = np.array([0.5, 0.3, 0.2])
TEXTS = st.lists(st.text("abcx", max_size=12).map(" ".join), max_size=4)


def places_of(texts: list[str]) -> np.ndarray:
    return count_terms(texts, [""] * len(texts), TERMS).places


def test_windows_by_hand() -> None:
    """a and b are 2 apart, c 3 further on; repeats count once."""
    places = places_of(["a x b x x c", "", "b b b"])
    found = windows(places, SHARES, 3, np.array([2, 3, 6])).round(9)
    assert found.tolist() == [[0.5, 0, 0.3], [0.8, 0, 0.3], [1.0, 0, 0.3]]


def test_phrases_by_hand() -> None:
    """Asked is "a x b c": b two words after a, c right after b. A pair weighs as its terms: a-b .8, b-c .5 of 1.3."""
    steps = np.array([0, 2, 1])
    places = places_of(["a c b c", "b x x a x x x x x c", "c b a", "x"])
    found = phrases(places, SHARES, steps, 4, 4)
    np.testing.assert_allclose(found[0], [1, 1, 1, 0])  # the whole phrase, with another word between
    np.testing.assert_allclose(found[1], [0.8 / 1.3, 0, 0.5, 0])  # a-b near in the wrong order, b-c far apart
    np.testing.assert_allclose(found[2], [1, 0, 0.5, 0])
    assert found[3].tolist() == [0, 0, 0, -1]


def test_one_term_has_no_pairs() -> None:
    """Its phrase is itself."""
    found = phrases(places_of(["a a"]), np.array([1.0]), np.array([0]), 1, 4)
    assert found.tolist() == [[0, 0, 1, 0]]


@settings(deadline=None, max_examples=80)
@given(texts=TEXTS, width=st.integers(1, 6))
def test_windows_are_the_best_of_all_stretches(texts: list[str], width: int) -> None:
    expected = [
        max(
            (
                sum(SHARES[TERMS.index(word)] for word in set(words[start : start + width]) & set(TERMS))
                for start in range(len(words))
            ),
            default=0.0,
        )
        for words in (text.split() for text in texts)
    ]
    found = windows(places_of(texts), SHARES, len(texts), np.array([width]))
    np.testing.assert_allclose(found[0], expected, atol=1e-9)


@settings(deadline=None, max_examples=80)
@given(texts=TEXTS, between=st.lists(st.integers(1, 2), min_size=2, max_size=2), near=st.integers(1, 4))
def test_pairs_and_phrases_against_looking_at_all_positions(
    texts: list[str], between: list[int], near: int
) -> None:
    found = phrases(places_of(texts), SHARES, np.array([0, *between]), len(texts), near)
    for row, words in enumerate(text.split() for text in texts):
        at = [[p for p, word in enumerate(words) if word == term] for term in TERMS]
        pairs = [(0, 1), (1, 2)]
        weights = np.array([0.8, 0.5]) / 1.3
        is_near = [any(abs(p - q) <= near for p in at[a] for q in at[b]) for a, b in pairs]
        is_same = [any(p + between[a] in at[b] for p in at[a]) for a, b in pairs]
        runs = [0.0]
        for begin in range(3):
            for p in at[begin]:
                run, position = SHARES[begin], p
                runs.append(run)
                for term in range(begin + 1, 3):
                    position += between[term - 1]
                    if position not in at[term]:
                        break
                    run += SHARES[term]
                    runs.append(run)
        first = min((p for places in at for p in places), default=-1)
        expected = [weights @ is_near, weights @ is_same, max(runs), first]
        np.testing.assert_allclose(found[row], expected, atol=1e-9)
