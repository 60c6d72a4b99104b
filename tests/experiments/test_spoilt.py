"""Right answers spoilt on purpose: each kind contradicts what it was made of, and nothing else changes."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.answers.spoilt import KINDS, RIGHT, RightAnswer, other_number, spoil, trials
from trivium.evaluation.answers.model_free_measures import contains
from trivium.types import Question

NAMES = ["William Lassell", "Asaph Hall", "Pluto"]


def right(text: str, known: str, *others: str) -> RightAnswer:
    """A right answer."""
    start = text.index(known)
    question = Question(known, "?", (known, *others))
    return RightAnswer(question, text, start, start + len(known), "Mars#chunk-1")


def spoilt(answer: RightAnswer, kind: str) -> str | None:
    """Spoilt with names to swap."""
    return spoil(answer, kind, NAMES, random.Random(1))


def test_a_number_of_the_answer_is_changed_and_no_other() -> None:
    """In its own form, whatever stands before it."""
    answer = right("In 1846 there were 1,655 telescopes.", "1,655")
    changed = spoilt(answer, "number")
    assert changed is not None
    assert re.fullmatch(r"In 1846 there were 1,\d{3} telescopes\.", changed) and "1,655" not in changed
    assert spoilt(right("In 1846 William Lassell found it.", "William Lassell"), "number") is None


def test_the_nearest_verb_before_the_answer_is_negated() -> None:
    """Once; where there is none, or it is negated already, nothing can be done."""
    text = "Triton, which is cold, was found by William Lassell and is large."
    assert spoilt(right(text, "William Lassell"), "negation") == text.replace("was", "was not")
    assert spoilt(right("William Lassell was the one.", "William Lassell"), "negation") is None
    assert spoilt(right("It was not William Lassell.", "William Lassell"), "negation") is None


def test_a_name_is_swapped_for_one_that_is_no_answer_and_not_in_the_sentence() -> None:
    """Also no other name of the same answer."""
    answer = right("Pluto is not for William Lassell.", "William Lassell")
    assert spoilt(answer, "name") == "Pluto is not for Asaph Hall."
    assert spoilt(right("Asaph Hall saw Pluto.", "Asaph Hall", "Lassell"), "name") is None
    assert spoilt(right("It was 1655 then.", "1655"), "name") is None


@given(
    number=st.one_of(st.integers(0, 10**7).map(str), st.integers(1000, 10**7).map("{:,}".format)),
    seed=st.integers(0, 99),
)
def test_another_number_is_another_one_of_the_same_form(number: str, seed: int) -> None:
    """And positive."""
    other = other_number(number, random.Random(seed))
    value = int(other.replace(",", ""))
    assert value != int(number.replace(",", "")) and value > 0
    assert abs(value - int(number.replace(",", ""))) <= 15
    assert (other == f"{value:,}") if "," in number and value >= 1000 else "," not in other


def test_trials_are_the_same_again_and_no_spoilt_answer_is_right() -> None:
    """Up to so many of each kind, in their order."""
    answers = [
        right(
            f"Moon {letter} was found by Sir {letter}{letter.lower()}{letter.lower()} there.",
            f"Sir {letter}{letter.lower()}{letter.lower()}",
        )
        for letter in "ABCDEFGH"
    ]
    answers += [right(f"It was seen in 18{year} for once.", f"18{year}") for year in range(40, 48)]
    found = trials(answers, each=5)
    assert found == trials(answers, each=5) and found != trials(answers, each=5, seed=1)
    kinds = [trial.kind for trial in found]
    assert kinds == [RIGHT] * 5 + [kind for kind in KINDS for _ in range(5)]
    for trial in found:
        says_it = contains(trial.text, trial.right.question.answers)
        assert says_it == (trial.kind in (RIGHT, "negation"))
        assert (trial.text == trial.right.text) == (trial.kind == RIGHT)


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_can_be_spoilt_there_is_none(kind: str) -> None:
    """Rather than an answer that is still right."""
    assert spoil(right("Mostly ice and some rock, they say.", "ice"), kind, [], random.Random(0)) is None
