"""What happens while a question is answered."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.types import Answer, Hit, Intent, SourceOutcome

NOT_FOUND = "Not in the collection."
"""The whole text of an answer that is not in the collection."""
CLOSEST = "No sentence states it outright. The closest passages:"
"""How the text begins that quotes the passages nearest to a question that none of their sentences answers."""


@dataclass(frozen=True, slots=True)
class Found:
    """The passages found, best first, the question they were searched with, the ``recall_query`` that candidates were
    gathered for beside it, and what came of the live ``sources`` that were asked; none, and None, where the question was
    not searched for. ``warnings`` say what did not work and was done without, such as a reranker."""

    passages: tuple[Hit, ...]
    searched_for: str | None
    intent: Intent = "collection"
    sources: tuple[SourceOutcome, ...] = ()
    recall_query: str | None = None
    warnings: tuple[str, ...] = ()


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
