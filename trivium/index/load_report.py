"""What a load did, and what it left out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from trivium.embedding.manifest import advise_many_languages
from trivium.errors import NothingReadError
from trivium.graph.records import WriteReport
from trivium.parser.sources.source_items import LeftOut, Problem
from trivium.text.languages import NAMES

if TYPE_CHECKING:
    from trivium.index.load_questions import QuestionReport

_MAX_KINDS = 8
MAX_REASONS = 3
"""Number of problems listed in the error of a load without results."""
_KEYS_NAMED = 5
"""Maximum number of keys of metadata named in a hint."""
_MAX_INCOMPLETE = 1_000
"""Maximum number of documents listed that were read in part."""
_MAX_CHANGED = 1_000


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A page that occurred more than once. ``kept`` and ``dropped`` are the sources."""

    page: str
    kept: str
    dropped: str


@dataclass(slots=True)
class IngestReport:
    """The result of a load, counted in pages.

    - ``problems``: the first problems, up to the limit; ``unlisted`` counts the others.
    - ``left_out``: files of unsupported formats found in folders, up to the same limit; ``left_out_kinds`` counts all
      of them by suffix, or by name if they have none.
    - ``incomplete``: the first documents that were read without some of their parts, with what was left out and why.
    - ``differing``: metadata in which records of one title differ, with the number of pages that therefore lack it.
    - ``languages``: number of pages by language code.
    - ``retitled``: pages that were removed because their files have another title now.
    - ``removed``: pages that were pruned; ``changed``: the first pages that were replaced.
    - ``likely_language``: the language of most pages if it seems to differ from the assumed one and none was named.
    - ``english_embedder``: the embedder of the load if it is known to support English only.
    - ``questions``: the result of tracing questions, None if it was not requested.
    """

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
    incomplete: list[Problem] = field(default_factory=list)
    differing: Counter[str] = field(default_factory=Counter)
    languages: dict[str, int] = field(default_factory=dict)
    retitled: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    likely_language: str | None = None
    english_embedder: str | None = None
    questions: QuestionReport | None = None

    @property
    def read(self) -> int:
        """Number of pages read, whatever became of them."""
        return self.added + self.replaced + self.unchanged + len(self.skipped)

    @property
    def hints(self) -> list[str]:
        """Return suggestions for the user."""
        hints = []
        if self.likely_language is not None:
            name = NAMES[self.likely_language]
            better = f"--language {self.likely_language} or auto searches their words better"
            if self.english_embedder is not None:
                better += (
                    f"; {self.english_embedder} knows English only: one of many languages searches what they mean"
                    f" (build another store with {advise_many_languages()})"
                )
            hints.append(f"most documents look {name}: {better}")
        if self.differing:
            keys = [f"{key} ({number:,})" for key, number in self.differing.most_common(_KEYS_NAMED)]
            more = len(self.differing) - len(keys)
            listed = ", ".join(keys) + (f" and {more} more" if more else "")
            hints.append(
                f"records of one title form one document and have no metadata in which they differ: {listed};"
                " give them different titles to keep it"
            )
        return hints

    def leave_out(self, found: LeftOut, limit: int) -> None:
        """Add a skipped file. Beyond ``limit`` it is only counted."""
        self.left_out_kinds[found.kind] += 1
        if len(self.left_out) < limit:
            self.left_out.append(found.location)

    def replace(self, pages: Iterable[str]) -> None:
        """Name pages that are replaced, as long as there are few."""
        self.changed.extend(islice(pages, _MAX_CHANGED - len(self.changed)))

    def read_in_part(self, location: str, missing: Sequence[str]) -> None:
        """Add a document that was read without the parts ``missing``."""
        if len(self.incomplete) < _MAX_INCOMPLETE:
            self.incomplete.append(Problem(location, "; ".join(missing)).shortened())

    def problem(self, found: Problem | None, limit: int) -> None:
        """Add a problem. Beyond ``limit``, or if it is None, it is only counted."""
        if found is not None and len(self.problems) < limit:
            self.problems.append(found.shortened())
        else:
            self.unlisted += 1

    def count(self, written: WriteReport) -> None:
        """Add the result of one write."""
        self.added += written.added
        self.replaced += written.replaced
        self.unchanged += written.unchanged
        self.skipped.extend(written.skipped)


def describe_kinds(kinds: Mapping[str, int]) -> str:
    """Describe the number of files by kind, most frequent first.

    >>> describe_kinds({"Makefile": 1, ".zip": 3, ".py": 8})
    '12 files: 8 .py, 3 .zip, Makefile'
    >>> describe_kinds({".py": 1})
    '1 file: 1 .py'
    """
    count = sum(kinds.values())
    ordered = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    parts = [
        name if number == 1 and not name.startswith(".") else f"{number:,} {name}"
        for name, number in ordered[:_MAX_KINDS]
    ]
    others = sum(number for _, number in ordered[_MAX_KINDS:])
    if others:
        parts.append(f"{others:,} others")
    return f"{count:,} {'file' if count == 1 else 'files'}: {', '.join(parts)}"


def location_shown(problem: Problem) -> str:
    """Return the location of a problem as users name it: a file of the working directory without ``./``.

    >>> location_shown(Problem("./bad.jsonl", "")), location_shown(Problem("dump/bad.jsonl", ""))
    ('bad.jsonl', 'dump/bad.jsonl')
    """
    return problem.location.removeprefix(f"{os.curdir}{os.sep}")


def nothing_read(report: IngestReport) -> NothingReadError:
    """Return the error for a load without results: what was found, and what is supported."""
    from trivium.parser.sources.recognise_format import known_formats

    came = []
    unread = len(report.problems) + report.unlisted
    if unread:
        reasons = "; ".join(f"{location_shown(p)}: {p.reason}" for p in report.problems[:MAX_REASONS])
        more = f"; and {unread - MAX_REASONS:,} more" if unread > MAX_REASONS else ""
        noun = "document" if unread == 1 else "documents"
        came.append(f"{unread:,} {noun} that could not be read ({reasons}{more})")
    if report.left_out_kinds:
        came.append(f"{describe_kinds(report.left_out_kinds)}, of no format that is read")
    return NothingReadError(
        f"nothing could be read: expected documents ({known_formats()}), got {' and '.join(came)}", report
    )
