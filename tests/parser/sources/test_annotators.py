"""Whose answers to a question count."""

from __future__ import annotations

import pytest

from trivium.errors import InputError
from trivium.parser.sources.natural_question_rows import Annotation, counted
from trivium.types import NoAnswer

A, B = (3, 9), (12, 20)


def _marked(*spans: tuple[int, int] | None) -> list[Annotation]:
    return [Annotation(span, (), None) for span in spans]


@pytest.mark.parametrize(
    ("spans", "rule", "expected"),
    [
        # One annotator, as in the training files: what is marked is the majority.
        ((A,), "majority", [0]),
        ((A,), "agreed", [0]),
        # Five, as in the development files: two non-null long answers are enough, alike or not.
        ((None, None, None, A, A), "majority", [3, 4]),
        ((None, A, None, B, None), "majority", [1, 3]),
        ((A, A, B, None, A), "majority", [0, 1, 2, 4]),
        ((None, None, None, A, None), "any", [3]),
        # Alike: the same range.
        ((A, A, B, None, A), "agreed", [0, 1, 4]),
        ((A, B, A, B, None), "agreed", [0, 1, 2, 3]),
        ((A, B, None, None, None), "first", [0]),
    ],
)
def test_annotators_that_count(
    spans: tuple[tuple[int, int] | None, ...], rule: str, expected: object
) -> None:
    assert counted(_marked(*spans), rule) == expected


@pytest.mark.parametrize(
    ("spans", "rule", "kind", "reason"),
    [
        ((), "majority", NoAnswer.NONE, "the row has no annotations"),
        ((None,), "majority", NoAnswer.NONE, "its annotator marked no long answer"),
        ((None,) * 5, "any", NoAnswer.NONE, "none of its 5 annotators marked a long answer"),
        (
            (None, None, A, None, None),
            "majority",
            NoAnswer.FEW,
            "1 of 5 annotators marked a long answer, 2 are",
        ),
        (
            (None, A, None, B, None),
            "agreed",
            NoAnswer.FEW,
            "no two of 5 annotators marked the same long answer",
        ),
        ((None, A, A, A, A), "first", NoAnswer.NONE, "its annotator marked no long answer"),
    ],
)
def test_why_the_answers_of_nobody_count(
    spans: tuple[tuple[int, int] | None, ...], rule: str, kind: NoAnswer, reason: str
) -> None:
    found = counted(_marked(*spans), rule)
    assert isinstance(found, tuple)
    assert found[0] is kind
    assert found[1].startswith(reason)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(InputError, match="expected annotators of majority, any, agreed, first, got 'most'"):
        counted([], "most")
