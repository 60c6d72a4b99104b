"""BM25 over headings + text: hand-computed numbers and an independent naive implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import ConfigurationError
from trivium.graph.records import Floats, TermCounts, TermStatistics
from trivium.retrievers.lexical import BM25Settings, bm25, idf

Document = tuple[list[str], list[str]]  # headings, text


def ours(documents: list[Document], query: list[str], config: BM25Settings) -> Floats:
    """As the lexical retriever does it: counts and statistics as arrays."""
    shape = (len(documents), len(query))
    counts = TermCounts(
        text=np.array([[text.count(t) for t in query] for _, text in documents], float).reshape(shape),
        headings=np.array([[head.count(t) for t in query] for head, _ in documents], float).reshape(shape),
        text_length=np.array([len(text) for _, text in documents], float),
        headings_length=np.array([len(head) for head, _ in documents], float),
        places=np.zeros((0, 3), np.int64),  # BM25 does not ask where
    )
    together = [head + text for head, text in documents]
    statistics = TermStatistics(
        chunks=len(documents),
        mean_length=sum(map(len, together)) / len(together),
        document_frequency=np.array([sum(t in each for each in together) for t in query], float),
    )
    return bm25(counts, statistics, config)


def naive(documents: list[Document], query: list[str], k1: float, b: float) -> list[float]:
    """BM25 from the textbook, term by term."""
    texts = [head + text for head, text in documents]
    mean = sum(len(text) for text in texts) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for term in query:
            tf = sum(word == term for word in text)
            if tf == 0:
                continue
            df = sum(term in other for other in texts)
            weight = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            score += weight * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(text) / mean))
        scores.append(score)
    return scores


def test_by_hand() -> None:
    """Two documents of two words each. "moon" is in one, twice: idf ln 2, tf 2, length as the mean:
    ln 2 x 2 x 2.2 / (2 + 1.2) = 0.95308."""
    documents: list[Document] = [(["moon"], ["moon"]), (["sun"], ["star"])]
    assert ours(documents, ["moon"], BM25Settings(1.2, 0.75)).round(5).tolist() == [0.95308, 0.0]


def test_headings_count_as_much_as_text() -> None:
    in_heading, in_text = ours([(["moon"], ["sun"]), (["sun"], ["moon"])], ["moon"], BM25Settings(1.2, 0.75))
    assert in_heading == in_text > 0


def test_a_shorter_chunk_wins_and_b_zero_ignores_length() -> None:
    documents: list[Document] = [([], ["moon"]), ([], ["moon"] + ["x"] * 9)]
    short, long = ours(documents, ["moon"], BM25Settings(1.2, 0.75))
    assert short > long
    short, long = ours(documents, ["moon"], BM25Settings(b=0))
    assert short == long


@settings(max_examples=60, deadline=None)
@given(
    documents=st.lists(
        st.tuples(
            st.lists(st.sampled_from("abc"), max_size=3), st.lists(st.sampled_from("abcdef"), max_size=9)
        ),
        min_size=1,
        max_size=7,
    ).filter(lambda documents: any(head or text for head, text in documents)),
    query=st.lists(st.sampled_from("abcdxyz"), min_size=1, max_size=5, unique=True),
    k1=st.sampled_from([0.0, 0.9, 1.2, 2.0]),
    b=st.sampled_from([0.0, 0.4, 0.75, 1.0]),
)
def test_equal_to_a_naive_implementation(
    documents: list[Document], query: list[str], k1: float, b: float
) -> None:
    scores = ours(documents, query, BM25Settings(k1, b))
    np.testing.assert_allclose(scores, naive(documents, query, k1, b), rtol=1e-12)


def test_a_term_in_every_chunk_still_counts_a_little() -> None:
    """The reason why no stop words are needed: the idf of a word that is everywhere is next to nothing."""
    statistics = TermStatistics(1000, 10.0, np.array([1000.0, 1.0]))
    common, rare = idf(statistics)
    assert 0 < common < 0.001 * rare


def test_a_store_without_words_matches_nothing() -> None:
    nothing = TermCounts(
        np.zeros((2, 1)), np.zeros((2, 1)), np.zeros(2), np.zeros(2), np.zeros((0, 3), np.int64)
    )
    assert bm25(nothing, TermStatistics(2, 0.0, np.zeros(1)), BM25Settings(1.2, 0.75)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("values", [{"k1": -1.0}, {"k1": float("inf")}, {"b": 1.5}, {"b": float("nan")}])
def test_settings_out_of_range_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=f"lexical.bm25.{next(iter(values))}"):
        BM25Settings(**values)
