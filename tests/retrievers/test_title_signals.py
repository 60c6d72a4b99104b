"""Whether a question says which document it means, by its title."""

from __future__ import annotations

import math

import pytest

from trivium.retrievers.title_signals import naming_words, of_titles

FILINGS = ["AMERICANWATERWORKS_2020_10K", "ADOBE_2017_10K", "JPMORGAN_2021Q1_10Q", "Pfizer_2023Q2_10Q"]


def columns(question: str, titles: list[str]) -> tuple[list[float], list[float]]:
    found = of_titles(question, titles)
    return found["title_named"].round(3).tolist(), found["title_time"].tolist()


@pytest.mark.parametrize(
    ("question", "named", "time"),
    [
        ("What debt had American Water Works in FY2020?", [2, 0, 0, 0], [1, -1, -1, -1]),
        ("What is Adobe's FY17 revenue?", [0, 1, 0, 0], [-1, 1, -1, -1]),
        ("What could JPM pay by 2021 Q1?", [0, 0, 1.5, 0], [-1, -1, 1.5, -1.5]),  # half of each of two words
        ("What did Pfizer earn in the second quarter of 2023?", [0, 0, 0, 1.667], [-1, -1, -1.5, 1.5]),
        ("How did sales grow from 2017 to 2020?", [1, 1, 0, 0], [1, 0.5, -1, -1]),
        ("Pfizer in Q22023, in this 10K", [0.5, 0.5, 0, 1], [-1, -1, -1.5, 1.5]),
        ("The second fiscal quarter of FY 23", [0, 0, 0, 0], [-1, -1, -1.5, 1.5]),
        ("What is a lease?", [0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_words_years_and_quarters_of_a_title_are_found_however_they_are_written(
    question: str, named: list[float], time: list[float]
) -> None:
    found = columns(question, FILINGS)
    assert found[1] == time
    assert found[0] == pytest.approx(named, abs=0.001)


@pytest.mark.parametrize(
    ("title", "time"),
    [
        ("report2020.pdf", 1),
        ("2020H1", 1),
        ("FY20", 1),
        ("TAT-QA b2020a4f", 0),
        ("12020", 0),
        ("the 2010s", 0),
    ],
)
def test_digits_inside_an_identifier_are_no_year(title: str, time: float) -> None:
    assert columns("What was earned in 2020?", [title, "ADOBE_2017_10K"])[1] == [time, -1]


def test_a_word_counts_by_its_rarity_among_the_titles() -> None:
    named, _ = columns(
        "Which errors has Node.js 22.14.0?", [f"Node.js {v} errors" for v in ("22.14.0", "15.14.0")]
    )
    assert named == [1, 0]  # what all titles have tells nothing apart
    named, _ = columns("red kite", ["Red house", "Red kite", "Kite"])
    two_of_three = 1 - math.log(2) / math.log(3)
    assert named == pytest.approx([two_of_three, 2 * two_of_three, two_of_three], abs=0.001)


def test_parts_of_a_word_count_by_their_letters() -> None:
    named, _ = columns("Excelerate's NDA", ["ExcelerateStandardNDAFormat", "Khronos"])
    assert named == [pytest.approx(13 / 27, abs=0.001), 0]


def test_no_candidates() -> None:
    assert columns("?", []) == ([], [])


@pytest.mark.parametrize(
    ("question", "title", "words"),
    [
        ("What did JPM spend in FY2017?", "JPMORGAN_2017_10K", ("JPM", "FY2017")),
        ("what did adobe spend in 2017", "ADOBE_2017_10K", ("2017",)),
        ("the moons of mars", "Moons of Mars", ("moons", "mars")),
        ("Which history is told?", "History of science", ()),
        ("How long is the Danube?", "The Rhine", ()),
    ],
)
def test_the_words_that_name_a_document_are_said_as_the_question_writes_them(
    question: str, title: str, words: tuple[str, ...]
) -> None:
    """Function words name nothing, nor does a part of a title in lower case."""
    assert naming_words(question, title) == words
