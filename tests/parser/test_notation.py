"""What is raised or lowered keeps its meaning in plain text."""

from __future__ import annotations

import pytest

from trivium.parser.notation import fraction, lowered, raised, root


@pytest.mark.parametrize(
    ("before", "text", "shown"),
    [
        ("4.2×10", "31", "³¹"),
        ("10", "−3", "⁻³"),
        ("km", "2", "²"),
        ("miles", "2", "²"),
        ("(a + b)", "2n", "²ⁿ"),
        ("e", "x", "^x"),
        ("2", "1/2", "^(1/2)"),
        ("SO", "2−", "²⁻"),
        ("Na", "+", "⁺"),
    ],
)
def test_powers_and_charges_keep_a_sign(before: str, text: str, shown: str) -> None:
    assert raised(before, text) == shown


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("2", "nd"),
        ("XX", "e"),
        ("1", "er"),
        ("M", "me"),
        ("n", "o"),
        ("Trivium", "TM"),
        ("the treaty", "12"),
        ("the treaty", "3, 4"),
        ("ended.", "5"),
        ("word", "[7]"),
        ("word", "*"),
        ("", "1"),
    ],
)
def test_ordinals_and_marks_of_notes_get_no_sign(before: str, text: str) -> None:
    assert raised(before, text) == text


def test_subscripts_of_digits_are_signs_and_others_follow_an_underscore() -> None:
    assert [lowered("CO", "2"), lowered("log", "10"), lowered("x", "n+1")] == ["₂", "₁₀", "_(n+1)"]


def test_fractions_and_roots_keep_what_belongs_together() -> None:
    assert fraction("x + 1", "2y") == "(x + 1)/(2y)"
    assert fraction("(x + 1)(x - 1)", "2") == "((x + 1)(x - 1))/2"
    assert root("2x") == "√(2x)"
    assert root("x", "n") == "ⁿ√x"
