"""Questions that follow on others are searched for by themselves."""

from __future__ import annotations

from tests.answering.world import world
from trivium.answering.query_rewriting import rewrite_question
from trivium.evaluation.evaluator import stand_alone
from trivium.types import Question, Turn

STORE = world()


def test_a_question_with_a_history_is_asked_as_trivium_ask_does_without_a_model() -> None:
    """Whether the answers before it are known or not. It has no history then, so that it is never rewritten twice."""
    turns = (Turn("Who discovered the moons of Mars?", "Asaph Hall discovered both moons in 1877."),)
    questions = ("Who discovered the moons of Mars?",)
    for history, meant in ((turns, turns), (questions, (Turn(questions[0], ""),))):
        question = Question("q", "When was he born?", ("1829",), "Asaph Hall", history=history)
        (asked,) = stand_alone([question], STORE)
        assert asked.text == rewrite_question(question.text, meant, None, STORE).match_query != question.text
        assert ("Asaph Hall" if history is turns else "Mars") in asked.text
        assert (asked.id, asked.answers, asked.page, asked.history) == ("q", ("1829",), "Asaph Hall", ())
        assert stand_alone([asked], STORE) == (asked,)


def test_the_others_stay_as_they_are() -> None:
    questions = [Question("a", "When was he born?"), Question("b", "And why?")]
    assert all(one is other for one, other in zip(stand_alone(questions, STORE), questions, strict=True))
