"""Degenerate replies lose what is no citation and what is loose, whatever they nest or repeat."""

from __future__ import annotations

import pytest

from trivium.answering.marks import MarkFilter
from trivium.answering.repetition import cut_at


def test_nested_marks_go_whatever_their_depth() -> None:
    """No number that was not offered is shown as a citation."""
    for depth in (1, 7, 8, 9, 3_000):
        shown = MarkFilter([1])
        text = shown.feed("So " + "[9" * depth + "]" * depth + " it is [1].") + shown.finish()
        assert "[9" not in text and text.startswith("So")
        assert depth > 7 or text == "So it is [1]."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Phobos, and or, - (", "Phobos"),
        ("Moons:\n1. Phobos\n 2.", "Moons:\n1. Phobos"),
        ("In 1877.", "In 1877."),
        ("It was 12.", "It was 12."),
        ("Sand", "Sand"),
        ("1.", ""),
        (" \n\n and", ""),
    ],
)
def test_loose_ends_are_cut(text: str, kept: str) -> None:
    assert cut_at(text, len(text)) == kept
