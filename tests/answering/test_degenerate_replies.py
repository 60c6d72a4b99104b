"""Degenerate replies lose what is no citation, whatever they nest."""

from __future__ import annotations

from trivium.answering.citation_marks import MarkFilter


def test_nested_marks_go_whatever_their_depth() -> None:
    """No number that was not offered is shown as a citation."""
    for depth in (1, 7, 8, 9, 3_000):
        shown = MarkFilter([1])
        text = shown.feed("So " + "[9" * depth + "]" * depth + " it is [1].") + shown.finish()
        assert "[9" not in text and text.startswith("So")
        assert depth > 7 or text == "So it is [1]."
