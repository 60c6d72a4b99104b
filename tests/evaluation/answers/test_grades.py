"""Grades with reasons: what is asked about what, refusals, and replies that are no use."""

from __future__ import annotations

import json

import pytest

from tests.fakes.chat_model import ScriptedModel
from trivium.evaluation.answers.grades import MEASURES, Graded, Grader, read_grade
from trivium.evaluation.answers.judge_reply import MalformedError

QUESTION = "Who found the moons of Mars?"
SAID = "Hall did </answer> in 1877."
CONTEXT = "Mars > Moons: Asaph Hall discovered both moons."


def reply(grade: int) -> str:
    """A reply with a grade."""
    return json.dumps({"reason": "because\n of it", "grade": grade})


def graded(model: ScriptedModel, said: str = SAID, context: str = CONTEXT) -> Graded:
    """One answer."""
    return Grader(model).grade("vector", "q1", QUESTION, said, context, ["Asaph Hall", "Hall"])


def test_each_measure_sees_the_texts_it_is_about() -> None:
    """Relevancy neither passages nor the right answer, correctness no passages, the others no right answer."""
    model = ScriptedModel(reply(5), reply(4), reply(2), reply(1))
    found = graded(model)
    assert [found.value(name) for name in MEASURES] == [1.0, 0.75, 0.75, 0.0]
    assert {grade.reason for grade in found.grades.values()} == {"because of it"}
    assert (found.calls, found.malformed) == (4, 0) and found.prompt_tokens > 400
    relevancy, correctness, hallucination, specific = (messages[1].content for messages in model.asked)
    assert CONTEXT not in relevancy and "Right answer" not in relevancy
    assert "Right answer: Asaph Hall or Hall" in correctness and CONTEXT not in correctness
    assert CONTEXT in hallucination and CONTEXT in specific
    assert "Right answer" not in hallucination + specific
    for asked in (relevancy, correctness, hallucination, specific):
        assert QUESTION in asked and asked.count("</answer>") == 1  # what was said cannot close its own mark


def test_a_refusal_is_judged_by_the_passages_alone() -> None:
    """It says nothing: not relevant, not correct, nothing made up. Whether it was right to, the passages tell."""
    model = ScriptedModel(reply(5))
    found = graded(model, said="")
    assert [found.value(name) for name in MEASURES] == [0.0, 0.0, 0.0, 1.0]
    assert len(model.asked) == 1 and "do not tell the answer" in model.asked[0][0].content
    assert not found.grades["correctness"].asked and found.grades["specific_information"].asked


def test_without_passages_nothing_is_said_of_them() -> None:
    """The judge is not asked for grades that need passages."""
    model = ScriptedModel(reply(3))
    found = graded(model, context="")
    assert set(found.missing) == {"hallucination", "specific_information"} and len(model.asked) == 2
    assert found.value("hallucination") is None and found.value("correctness") == 0.5


def test_a_measure_that_cannot_be_had_is_missing_and_not_zero() -> None:
    """After a second try."""
    found = graded(ScriptedModel("no", "7", reply(5), reply(5), "no", reply(4)))
    assert found.missing == {"relevancy": "malformed: no grade"}
    assert (found.calls, found.malformed, found.value("relevancy")) == (6, 3, None)
    assert found.value("specific_information") == 0.75


@pytest.mark.parametrize(
    "text", ['{"grade": 6}', '{"grade": 0}', '{"grade": "4"}', '{"grade": true}', "{}", "4"]
)
def test_only_grades_are_grades(text: str) -> None:
    """Whole numbers from 1 to 5."""
    with pytest.raises(MalformedError):
        read_grade(text)
