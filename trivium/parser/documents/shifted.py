"""Raised and lowered text whose parts markup separates."""

from __future__ import annotations

from trivium.parser.notation import lowered, raised
from trivium.parser.runs import SPACE, TextRun

_PARTS_BEFORE = 3
"""Parts of a run that show what a superscript belongs to."""


class ShiftedText:
    """Writes text to a run, raised (``shift`` positive), lowered (negative) or neither (0)."""

    def __init__(self, run: TextRun) -> None:
        self._run = run
        self._shift = 0
        self._waiting: list[str] = []

    def add(self, text: str, shift: int = 0) -> None:
        if shift != self._shift:
            self.end(text)
            self._shift = shift
        if shift:
            self._waiting.append(text)
        else:
            self._run.add(text)

    def add_formula(self, text: str) -> None:
        """Add a formula; after a number it is kept apart."""
        self.end()
        if self._run.parts and self._run.parts[-1][-1:].isdigit() and text[:1].isdigit():
            self._run.separate(SPACE)
        self._run.add(text)

    def end(self, after: str = "") -> None:
        """Write what was raised or lowered; ``after`` follows it."""
        text, self._waiting = "".join(self._waiting), []
        if text:
            before = "".join(self._run.parts[-_PARTS_BEFORE:])
            shifted = raised(before, text, after) if self._shift > 0 else lowered(before, text)
            lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
            self._run.add(f"{lead}{shifted}{trail}")
