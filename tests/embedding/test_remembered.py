"""A question is embedded once, however often it is asked, for one embedder at a time, and its vector stays what it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trivium.embedding.embedder import Vectors
from trivium.embedding.store_embedder import RememberedQuestions
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.testing.toys import HashEmbedder


class Counting(HashEmbedder):
    """Writes down what it was asked to embed as a question."""

    def __init__(self, dimension: int = 16) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return super().embed_query(text)


def test_the_last_questions_are_not_embedded_again() -> None:
    embedder, questions = Counting(), RememberedQuestions(2)
    for text in ("a", "b", "a", "c", "a", "b"):
        assert np.array_equal(questions.vector(embedder, text), HashEmbedder(16).embed_query(text))
    assert embedder.asked == ["a", "b", "c", "b"]  # "b" was the one longest unasked when "c" came


def test_another_embedder_begins_anew() -> None:
    questions = RememberedQuestions()
    assert questions.vector(Counting(16), "a").shape == (16,)
    assert questions.vector(Counting(32), "a").shape == (32,)


def test_none_are_remembered_where_none_are_wanted() -> None:
    embedder, questions = Counting(), RememberedQuestions(0)
    questions.vector(embedder, "a")
    questions.vector(embedder, "a")
    assert embedder.asked == ["a", "a"]
    with pytest.raises(InputError, match="at least 0"):
        RememberedQuestions(-1)


def test_nobody_can_change_what_is_remembered() -> None:
    vector = RememberedQuestions().vector(Counting(), "a")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0


@pytest.mark.parametrize(("remembered", "times"), [(1000, 1), (0, 2)])
def test_a_search_and_what_follows_it_embed_a_question_once(
    tmp_path: Path, remembered: int, times: int
) -> None:
    page = tmp_path / "Mars.html"
    page.write_text("<h1>Mars</h1><p>Mars is the fourth planet from the Sun.</p>")
    embedder = Counting()
    with Engine.create(tmp_path / "store", embedder, remembered_questions=remembered) as engine:
        engine.build([page])
        engine.search("Which planet is the fourth?")
        engine.build([_page(tmp_path, "Venus")])  # what changes is the documents, not what was asked
        first = engine.search("Which planet is the fourth?")
        assert embedder.asked.count("Which planet is the fourth?") == times
        if remembered:
            engine.ask("Which planet is the fourth?")
            assert embedder.asked.count("Which planet is the fourth?") == 1
        assert engine.search("Which planet is the fourth?") == first


def _page(folder: Path, name: str) -> Path:
    path = folder / f"{name}.html"
    path.write_text(f"<h1>{name}</h1><p>{name} is another planet.</p>")
    return path
