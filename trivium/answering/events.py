"""The events of answering a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.types import Answer, Hit, Intent, SourceOutcome

NOT_FOUND = "Not in the collection."
"""The whole text of an answer when the collection has none."""
CLOSEST = "No sentence states it outright. The closest passages:"
"""Introduces the nearest passages when none of their sentences answers the question."""


def not_found_of(unsaid: Sequence[str]) -> str:
    """Return the whole text of an answer when the collection does not speak of something that the question names.

    >>> not_found_of(["2023"])
    'Not in the collection. What comes closest does not speak of 2023.'
    """
    return f"{NOT_FOUND} What comes closest does not speak of {' or '.join(unsaid)}."


@dataclass(frozen=True, slots=True)
class Found:
    """The passages found, best first, with the question searched for and the ``recall_query`` used to gather further
    candidates. ``sources`` are the outcomes of live sources. Without a search, ``passages`` is empty and
    ``searched_for`` None. ``warnings`` are failures that were worked around, such as that of a reranker.
    """

    passages: tuple[Hit, ...]
    searched_for: str | None
    intent: Intent = "collection"
    sources: tuple[SourceOutcome, ...] = ()
    recall_query: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """The next part of the answer's text, as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The final answer, and the numbers of the passages that it was made from. Its text may differ from the pieces: what
    a model writes after a refusal to answer is dropped, and all of it if the answer without a model stands.
    """

    answer: Answer
    offered: tuple[int, ...] = ()


AnswerEvent = Found | Piece | Done
"""``Found`` once, then pieces, then ``Done`` once."""
