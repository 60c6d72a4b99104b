"""Questions of a batch are embedded ahead, each once, and an error belongs to its question."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from trivium.graph.records import Vectors
from trivium.search.ahead import Ahead


def _numbered(text: str) -> Vectors:
    if text == "bad":
        raise ValueError(text)
    return np.array([float(text)], dtype=np.float32)


def test_each_text_is_embedded_once_and_its_vector_given_to_its_question() -> None:
    asked: list[str] = []

    def embed(text: str) -> Vectors:
        asked.append(text)
        return _numbered(text)

    with Ahead(["3", "1", "4", "1"], embed) as ahead:
        assert [ahead.vector(number).tolist() for number in range(4)] == [[3.0], [1.0], [4.0], [1.0]]
    assert asked == ["3", "1", "4", "1"]


def test_the_next_question_is_embedded_while_one_is_searched_for() -> None:
    begun = threading.Event()

    def embed(text: str) -> Vectors:
        if text == "2":
            begun.set()
        return _numbered(text)

    with Ahead(["1", "2"], embed) as ahead:
        ahead.vector(0)
        assert begun.wait(10)


def test_an_error_is_raised_for_its_own_question_only() -> None:
    with Ahead(["1", "bad", "2"], _numbered) as ahead:
        assert ahead.vector(0).tolist() == [1.0]
        with pytest.raises(ValueError, match="bad"):
            ahead.vector(1)
        assert ahead.vector(2).tolist() == [2.0]


def test_one_question_needs_no_thread() -> None:
    before = threading.active_count()
    with Ahead(["1"], _numbered) as ahead:
        assert ahead.vector(0).tolist() == [1.0]
        assert threading.active_count() == before
