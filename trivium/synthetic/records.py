"""The records of the steps, one per bridge and step. They can be read without the store."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from trivium.answering.passage_prompts import Source
from trivium.graph.schema import unescape
from trivium.types import Usage


@dataclass(frozen=True, slots=True)
class Bridge:
    """The subject of a question.

    For a multi-hop question, an entity that connects its ``sources``: chunks that cite it, each from a different page.
    ``cited`` is the number of chunks in the store that cite it; ``names`` are its title and aliases, normalised
    (:func:`trivium.text.normalise.normalise_name`). For a plain question, one of the slots of a chunk: its only source
    is that chunk, ``cited`` is 0 and there are no names.
    """

    entity: str
    cited: int
    names: tuple[str, ...]
    sources: tuple[Source, ...]

    @property
    def title(self) -> str:
        """The entity's title, for display."""
        return unescape(self.entity)

    @property
    def plain(self) -> bool:
        """Whether it is for a plain question."""
        return self.cited == 0

    @property
    def id(self) -> str:
        """The id of its question in question files, independent of the wording."""
        kind = "plain" if self.plain else "bridge"
        return f"{kind}-{hashlib.sha256(self.entity.encode()).hexdigest()[:12]}"


class Outcome(StrEnum):
    """The result of asking the model for a question."""

    WRITTEN = "written"  # a question that passes every check
    DECLINED = "declined"  # the model reports that no question is possible
    MALFORMED = "malformed"  # the reply cannot be parsed
    FAILED = "failed"  # a question that fails checks


@dataclass(frozen=True, slots=True)
class Written:
    """The writer's result for a bridge.

    - ``sources``: uris of the offered chunks that the model reports as used.
    - ``failed``: names of the checks that the question fails.
    - ``reason``: why there is no question.
    - ``reply``: the model's reply, if it could not be parsed.
    - ``quote``: the sentence that supports the answer of a plain question, as in the passage.
    """

    entity: str
    outcome: Outcome
    question: str = ""
    answer: str = ""
    sources: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    reason: str = ""
    reply: str = ""
    usage: Usage = field(default_factory=Usage)
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """The judge's scores of a question, from 1 (bad) to 10 (good) per criterion. Empty if the reply could not be
    parsed; then ``reason`` and ``reply`` are set.
    """

    entity: str
    scores: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    reply: str = ""
    usage: Usage = field(default_factory=Usage)

    @property
    def total(self) -> int:
        """The sum of the scores, 0 without scores."""
        return sum(self.scores.values())

    @property
    def weakest(self) -> int:
        """The lowest score, 1 to 10, because one fault makes a question unusable. 0 without scores."""
        return min(self.scores.values(), default=0)


CRITERIA = ("multi_hop", "clear", "unambiguous", "one_answer")
"""Whether a question needs several passages, is not convoluted, is not ambiguous, and has only one answer."""
PLAIN_CRITERIA = ("borne_out", "clear", "unambiguous", "one_answer")
"""Criteria of a plain question. The first is whether the passage supports the answer."""


def criteria_of(plain: bool) -> tuple[str, ...]:
    """Return the criteria by which a question is judged."""
    return PLAIN_CRITERIA if plain else CRITERIA


class Decision(StrEnum):
    """A reviewer's decision."""

    ACCEPT = "accept"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A reviewer's decision on a question, with its wording."""

    entity: str
    decision: Decision
    question: str
    answer: str
