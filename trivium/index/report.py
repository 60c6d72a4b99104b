"""What a load did, and what went wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from trivium.graph.records import WriteReport
from trivium.index.questions import QuestionReport
from trivium.languages import NAMES
from trivium.parser.sources.base import LeftOut, Problem


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A page that came more than once: ``kept`` and ``dropped`` are the sources."""

    page: str
    kept: str
    dropped: str


@dataclass(slots=True)
class IngestReport:
    """What a load did, in pages, and what went wrong. The first problems are listed (as many as the limits say),
    ``unlisted`` counts the others. ``left_out`` are files of no format that is read which were found in folders, as
    many as problems are listed, and ``left_out_kinds`` counts all of them by suffix (by name where they have none).
    ``languages`` says how many pages came in each language, by its code, and ``retitled`` which pages have gone
    because their files call themselves otherwise now. ``likely_language`` is that of most pages where they look to be
    in another one than they were taken for, since none was named. ``questions`` says what became of the questions of
    rows, None where nobody asked for them."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    relinked: int = 0
    skipped: list[str] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: int = 0
    left_out: list[str] = field(default_factory=list)
    left_out_kinds: Counter[str] = field(default_factory=Counter)
    languages: dict[str, int] = field(default_factory=dict)
    retitled: list[str] = field(default_factory=list)
    likely_language: str | None = None
    questions: QuestionReport | None = None

    @property
    def read(self) -> int:
        """How many pages came, whatever became of them."""
        return self.added + self.replaced + self.unchanged + len(self.skipped)

    @property
    def hints(self) -> list[str]:
        """What might be done otherwise, for people."""
        if self.likely_language is None:
            return []
        name = NAMES[self.likely_language]
        return [
            f"most documents look {name}: --language {self.likely_language} or auto searches their words better"
        ]

    def leave_out(self, found: LeftOut, limit: int) -> None:
        """Add a file that is left out; with ``limit`` of them it is only counted."""
        self.left_out_kinds[found.kind] += 1
        if len(self.left_out) < limit:
            self.left_out.append(found.location)

    def problem(self, found: Problem | None, limit: int) -> None:
        """Add a problem; with ``limit`` of them, or None in its place, it is only counted."""
        if found is not None and len(self.problems) < limit:
            self.problems.append(found.shortened())
        else:
            self.unlisted += 1

    def count(self, written: WriteReport) -> None:
        """Add one write's outcome."""
        self.added += written.added
        self.replaced += written.replaced
        self.unchanged += written.unchanged
        self.skipped.extend(written.skipped)
