"""Candidate questions that people accept or reject in the page: what the server asks for, and how it is described.

Whoever starts the server hands it something that keeps the decisions; without that there is nothing to review."""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import BaseModel, Field

from trivium.server.fields import Whole
from trivium.server.schemas import Given

Decided = Literal["accept", "reject"]


class ReviewPassage(BaseModel):
    """A passage that a question was made from."""

    uri: str
    headings: str
    text: str


class ReviewQuestion(BaseModel):
    """A question to decide on. `about` is what a question of several hops is made around, and `names` are how it may be
    called in the passages; `quote` is the sentence that the answer of a plain question rests on. `cautions` say what is
    wrong with the wording as it is now."""

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
    """How far a review is: `kept` are accepted, of `keep` that are wanted, and `waiting` are not decided on."""

    keep: int
    kept: int
    waiting: int


class ReviewState(ReviewCounts):
    """All questions, the best first, and how far the review is."""

    questions: list[ReviewQuestion]


class ReviewOutcome(ReviewCounts):
    """A question after a decision on it, and how far the review is."""

    question: ReviewQuestion


class ReviewDecision(Given):
    """What is decided: `undo` takes back an earlier decision, `edit` does so too and changes the wording."""

    id: str = Field(min_length=1, max_length=100, examples=["bridge-943077f0507d"])
    decision: Literal["accept", "reject", "undo", "edit"]
    question: Whole | None = Field(None, max_length=1000, description="The new wording, for `edit`.")
    answer: Whole | None = Field(None, max_length=1000)


class Reviewing(Protocol):
    """Keeps a review. Threads may share it."""

    def state(self) -> ReviewState:
        """All questions. Raises InputError where they cannot be read."""
        ...

    def decide(self, given: ReviewDecision) -> ReviewOutcome | None:
        """Keep a decision; None where there is no such question. Raises InputError where another program is deciding."""
        ...
