"""The review of candidate questions in the web page: the interface that the server needs, and its schemas.

The caller that starts the server provides an object that stores the decisions. Without one there is no review.
"""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import BaseModel, Field

from trivium.server.fields import Whole
from trivium.server.schemas import Given

Decided = Literal["accept", "reject"]


class ReviewPassage(BaseModel):
    """A passage that a question was generated from."""

    uri: str
    headings: str
    text: str


class ReviewQuestion(BaseModel):
    """A question to decide on. `about` is the entity that a multi-hop question is built around, and `names` are its
    names in the passages; `quote` is the sentence that supports the answer of a plain question. `cautions` lists
    problems of the current wording.
    """

    id: str
    question: str
    answer: str
    about: str
    names: list[str]
    quote: str
    scores: dict[str, int]
    decision: Decided | None
    cautions: list[str]
    passages: list[ReviewPassage]


class ReviewCounts(BaseModel):
    """Progress of a review: `kept` questions are accepted of the `keep` wanted, and `waiting` are undecided."""

    keep: int
    kept: int
    waiting: int


class ReviewState(ReviewCounts):
    """All questions, best first, and the progress of the review."""

    questions: list[ReviewQuestion]


class ReviewOutcome(ReviewCounts):
    """A question after a decision, and the progress of the review."""

    question: ReviewQuestion


class ReviewDecision(Given):
    """A decision. `undo` reverts an earlier decision; `edit` does so as well and changes the wording."""

    id: str = Field(min_length=1, max_length=100, examples=["bridge-943077f0507d"])
    decision: Literal["accept", "reject", "undo", "edit"]
    question: Whole | None = Field(None, max_length=1000, description="The new wording, for `edit`.")
    answer: Whole | None = Field(None, max_length=1000)


class Reviewing(Protocol):
    """Stores a review. Thread-safe."""

    def state(self) -> ReviewState:
        """Return all questions. Raises InputError when they cannot be read."""
        ...

    def decide(self, given: ReviewDecision) -> ReviewOutcome | None:
        """Store a decision. Returns None for an unknown question. Raises InputError when another program is reviewing."""
        ...
