"""How many of the surest answers are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation.answers.test_model_free_measures import answered
from trivium.evaluation.answers.report import Risk
from trivium.evaluation.answers.summary import risk_curve


def test_the_curve_counts_wrong_answers_from_the_surest_on() -> None:
    """Five questions, one of which was not answered: .9 right, .8 wrong, .6 right, .3 wrong. Tenths of five questions are
    whole numbers of them, rounded up, and end with the last answer.
    """
    given = [answered(confidence=one) for one in (0.6, None, 0.9, 0.3, 0.8)]
    right = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    assert risk_curve(given, right) == (
        Risk(0.9, 0.2, 0.0),
        Risk(0.8, 0.4, 0.5),
        Risk(0.6, 0.6, 1 - 2 / 3),
        Risk(0.3, 0.8, 0.5),
    )


def test_answers_of_a_model_have_no_curve() -> None:
    assert risk_curve([answered()], np.array([1.0])) == ()


def test_any_answer_to_an_unanswerable_question_is_wrong() -> None:
    """Two questions, then one that the collection cannot answer, with the second surest answer."""
    given = [answered(confidence=one) for one in (0.9, 0.2, 0.5)]
    curve = risk_curve(given, np.array([1.0, 1.0]))
    assert [(one.confidence, one.risk) for one in curve] == [
        (0.9, 0.0),
        (0.5, 0.5),
        (0.2, pytest.approx(1 / 3)),
    ]
