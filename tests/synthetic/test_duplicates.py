"""Duplicates made by hand: which questions count as asked before, and which do not."""

from __future__ import annotations

import random

import pytest

from trivium.synthetic.checks import DUPLICATE_OVERLAP, AskedQuestions
from trivium.text.normalise import question_terms

FIRST = ("When did Asaph Hall find the two moons of Mars?", "1877")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("when did asaph hall find the two moons of mars", "1877"),  # exactly, but for case and marks
        ("When did Asaph Hall find the two moons of Mars ?!", "August 1877"),
        ("When did Asaph Hall find both of the two moons of Mars?", "August 1877"),  # a function word more
        ("The two moons of Mars: when were they finding Asaph Halls?", "1878"),  # other order and endings
        ("In what year did Hall find the moons of Mars?", "1877"),  # another way, the same answer
    ],
)
def test_the_same_in_other_words_is_a_duplicate(question: str, answer: str) -> None:
    assert AskedQuestions([FIRST]).has(question, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where did Asaph Hall find the two moons of Mars?", "Washington"),  # asks for something else
        ("Who saw the two moons of Mars before they were drawn?", "1877"),  # little in common
        ("When did Asaph Hall marry?", "1856"),
        ("Which telescope was largest?", "26-inch"),
    ],
)
def test_another_question_about_the_same_is_none(question: str, answer: str) -> None:
    assert not AskedQuestions([FIRST]).has(question, answer)


def test_the_index_finds_what_comparing_with_every_question_finds() -> None:
    """A differential test against the definition, over random questions of few words."""
    draw = random.Random(7)
    vocabulary = [
        "moon",
        "mars",
        "hall",
        "phobos",
        "deimos",
        "orbit",
        "crater",
        "year",
        "ice",
        "dust",
        "ring",
    ]
    asked, texts = AskedQuestions(), []
    for _ in range(300):
        question = f"{draw.choice(['When', 'Where', 'Why'])} {' '.join(draw.sample(vocabulary, draw.randint(2, 7)))}?"
        new, way = set(question_terms(question)), question.split()[0]
        like = any(
            way == other_way and len(new & terms) >= DUPLICATE_OVERLAP * len(new | terms)
            for terms, other_way in texts
        )
        assert asked.has(question) == like
        asked.add(question)
        texts.append((new, way))
