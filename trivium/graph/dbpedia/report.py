"""What an enrichment did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from trivium.parser.sources.base import Problem

_MOST_PROBLEMS = 1_000


@dataclass(slots=True)
class EnrichReport:
    """Counts and complaints.

    ``read`` statements between resources, the links to Wikipedia aside; ``mapped`` of them are allowed relations
    between two entities of the store. ``relations`` distinct ones have both ends mentioned in one document; ``added``
    counts (page, relation) pairs that the store did not have. ``typed`` entities have a type in the sources, which is
    new for ``types_set`` of them. The first thousand problems are listed, ``unlisted`` counts the others.
    """

    read: int = 0
    mapped: int = 0
    relations: int = 0
    added: int = 0
    typed: int = 0
    types_set: int = 0
    problems: list[Problem] = field(default_factory=list)
    unlisted: int = 0

    def problem(self, found: Problem) -> None:
        """Take note of a problem."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(found)
        else:
            self.unlisted += 1

    def to_json(self) -> dict[str, object]:
        """For programs."""
        return asdict(self)
