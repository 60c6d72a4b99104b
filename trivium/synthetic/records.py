"""What the steps hand on, one record a bridge and step. All of it can be read without the store it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from trivium.graph.schema import headings_of, unescape
from trivium.types import Usage


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk that a question may be made from. ``section`` is the section or page directly above it."""

    uri: str
    page: str
    section: str
    text: str

    @property
    def headings(self) -> str:
        """Where it stands, readable."""
        return " > ".join(headings_of(self.section))


@dataclass(frozen=True, slots=True)
class Bridge:
    """An entity with chunks that cite it, each on a page of its own. ``cited`` is how many chunks do in all; ``names``
    are its title and aliases, normalised (:func:`trivium.text.normalise_name`)."""

    entity: str
    cited: int
    names: tuple[str, ...]
    sources: tuple[Source, ...]

    @property
    def title(self) -> str:
        """The entity's name as people write it."""
        return unescape(self.entity)

    @property
    def id(self) -> str:
        """What its question is called in question files: the same whatever becomes of the wording."""
        return f"bridge-{hashlib.sha256(self.entity.encode()).hexdigest()[:12]}"


class Outcome(StrEnum):
    """What came of asking for a question."""

    WRITTEN = "written"  # one that passes every check
    DECLINED = "declined"  # the model says that there is none
    MALFORMED = "malformed"  # the reply cannot be read
    FAILED = "failed"  # one that fails checks


@dataclass(frozen=True, slots=True)
class Written:
    """What a model made of a bridge. ``sources`` are the uris of the chunks it says it used, of those offered;
    ``failed`` names the checks that the question fails; ``reason`` says why there is none; ``reply`` is what the model
    said, where it could not be read."""

    entity: str
    outcome: Outcome
    question: str = ""
    answer: str = ""
    sources: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    reason: str = ""
    reply: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model thinks of a question: for each of :data:`CRITERIA` 1 (bad) to 10 (good), or nothing where the reply
    could not be read (``reason``, ``reply``)."""

    entity: str
    scores: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    reply: str = ""
    usage: Usage = field(default_factory=Usage)

    @property
    def total(self) -> int:
        """The sum, 4 to 40; 0 where there are no scores."""
        return sum(self.scores.values())

    @property
    def weakest(self) -> int:
        """The worst score, since one fault is enough to spoil a question; 0 where there are none."""
        return min(self.scores.values(), default=0)


CRITERIA = ("multi_hop", "clear", "unambiguous", "one_answer")
"""Whether it needs several passages, is not convoluted, not ambiguous, and has one answer only."""


class Decision(StrEnum):
    """What a person did."""

    ACCEPT = "accept"
    REJECT = "reject"
    EDIT = "edit"  # changed the wording, which is yet to be decided on


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What a person did with a question, and how it reads since."""

    entity: str
    decision: Decision
    question: str
    answer: str
