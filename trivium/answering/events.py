"""What happens while a question is answered."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.types import Answer, Hit, SourceOutcome

NOT_FOUND = "Not found in the collection."
"""The whole text of an answer that is not in the collection."""


@dataclass(frozen=True, slots=True)
class Found:
    """The passages found, best first, ``asked``, the question they were searched with, and what came of the live
    ``sources`` that were asked."""

    hits: tuple[Hit, ...]
    asked: str
    sources: tuple[SourceOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """The next characters of the answer's text, as they are written."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The answer. Its text may differ from the pieces: what follows a refusal to answer is left out."""

    answer: Answer


AnswerEvent = Found | Piece | Done
"""``Found`` once, then pieces, then ``Done`` once."""
