"""The gold chunks of questions, in groups; and what has to be found, each on the page with a title or in a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from itertools import chain, repeat

from trivium.datasets.match_text import has_words, words_of
from trivium.errors import InputError
from trivium.graph.schema import page_of
from trivium.types import Evidence, NoAnswer, Question


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of one question: disjoint, non-empty groups of chunk uris.

    A group is one thing to find, and finding any of its chunks counts: a chunk that holds the paragraph, any chunk of a
    gold title, any chunk that contains an answer, or any chunk of a document that is on one of the pages or holds one
    of the quotes. ``hit`` requires one group, ``all`` every group, and ``recall`` is the share of groups found.

    ``grades`` says how relevant each group is, for nDCG; empty: all are 1.
    """

    groups: tuple[tuple[str, ...], ...]
    grades: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        chunks = [chunk for group in self.groups for chunk in group]
        if not self.groups or not all(self.groups) or len(set(chunks)) < len(chunks):
            raise InputError(f"expected disjoint non-empty groups of gold chunks, got {self.groups!r}")
        if self.grades and (len(self.grades) != len(self.groups) or min(self.grades) < 1):
            raise InputError(
                f"expected a grade from 1 for each of {len(self.groups)} groups, got {self.grades!r}"
            )

    @classmethod
    def of(cls, parts: Iterable[Iterable[str]], grades: Iterable[int] = ()) -> Gold:
        """Create gold from parts, each given as the chunks it may be found in. Parts that share a chunk are merged into
        one group, because finding that chunk finds all of them. It has the highest of their ``grades``.

        >>> Gold.of([["A#chunk-1"], ["B#chunk-2", "B#chunk-1"], ["A#chunk-1"]]).groups
        (('A#chunk-1',), ('B#chunk-1', 'B#chunk-2'))
        >>> Gold.of([["B#chunk-1"], ["A#chunk-1"]], [2, 1]).grades
        (1, 2)
        """
        groups: list[tuple[set[str], int]] = []
        for part, grade in zip(parts, chain(grades, repeat(1)), strict=False):
            merged = set(part)
            disjoint = []
            for group, other in groups:
                if group & merged:
                    merged |= group
                    grade = max(grade, other)
                else:
                    disjoint.append((group, other))
            groups = [*disjoint, (merged, grade)]
        found = sorted((tuple(sorted(group)), grade) for group, grade in groups)
        graded = tuple(grade for _, grade in found)
        return cls(tuple(group for group, _ in found), graded if max(graded, default=1) > 1 else ())

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages of the gold chunks, sorted. Questions that share a page belong in the same fold."""
        return tuple(sorted({page_of(chunk) for group in self.groups for chunk in group}))


class Cause(StrEnum):
    """The kinds of reasons why a question could not be traced."""

    NO_GOLD = "the question names no usable gold"
    NO_LONG_ANSWER = NoAnswer.NONE.value
    NO_MAJORITY = NoAnswer.FEW.value
    NO_PAGE = "the page is not in the store"
    NO_DOCUMENT = "the document is not in the store"
    NO_MATCH = "no chunk of the page holds it"
    TOO_MANY = "too many chunks hold an answer"


@dataclass(frozen=True, slots=True)
class Untraceable:
    """A question without gold chunks. ``reason`` is a message for people, ``cause`` its kind."""

    id: str
    cause: Cause
    reason: str


@dataclass(frozen=True, slots=True)
class Traced:
    """The result of tracing questions: the traceable ``questions`` in order, their ``gold`` by question id, and the
    ``untraceable`` ones. ``partly`` lists traceable questions for which some marked texts or judged documents were not
    found. ``unanswerable`` are the questions that the collection cannot answer.
    """

    questions: tuple[Question, ...]
    gold: Mapping[str, Gold]
    untraceable: tuple[Untraceable, ...] = ()
    partly: tuple[Untraceable, ...] = ()
    unanswerable: tuple[Question, ...] = ()

    @property
    def asked(self) -> int:
        """The number of all questions."""
        return len(self.questions) + len(self.untraceable) + len(self.unanswerable)


class Kind(Enum):
    """How a part is found: in a document by page numbers or quotes, or on the page with a title."""

    JUDGED = auto()
    DOCUMENT = auto()
    PAGES = auto()
    QUOTES = auto()
    PASSAGE = auto()
    MARKED = auto()
    TITLE = auto()
    PARAGRAPH = auto()
    ANSWERS = auto()


OF_DOCUMENTS = (Kind.JUDGED, Kind.DOCUMENT, Kind.PAGES, Kind.QUOTES)
"""Kinds of parts that name a document. All others name the title of a page."""
WHOLE = (Kind.JUDGED, Kind.DOCUMENT, Kind.TITLE)
"""Kinds of parts that any chunk of the page or document has."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to find on the page with a title, or in the document with a path. A part shared by several questions is
    searched for only once.
    """

    kind: Kind
    name: str
    text: str = ""
    section: str | None = None
    answers: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    place: float = 0.0
    occurrence: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """Why a part or a question has no chunks."""

    cause: Cause
    reason: str


Found = tuple[str, ...] | Miss
"""Chunk uris, or why there are none."""


def parts_of(question: Question) -> tuple[Part, ...] | Miss:
    """Return the parts to find for a question, or why there are none."""
    if question.judged:
        relevant = tuple(Part(Kind.JUDGED, name) for name, grade in question.judged if grade > 0)
        return relevant or Miss(Cause.NO_GOLD, "no document is judged relevant")
    if question.evidence:
        return tuple(map(_of_document, question.evidence))
    if question.gold_passages:
        return tuple(Part(Kind.PASSAGE, p.title, text=p.text) for p in question.gold_passages)
    if question.gold_titles:
        return tuple(Part(Kind.TITLE, title) for title in question.gold_titles)
    if question.no_answer is not None:
        kind, reason = question.no_answer
        return Miss(Cause(kind.value), reason)
    if question.page is not None and question.marked:
        return tuple(
            Part(
                Kind.MARKED,
                question.page,
                text=marked.text,
                place=marked.place,
                occurrence=marked.occurrence,
            )
            for marked in question.marked
        )
    if question.page is None:
        return Miss(
            Cause.NO_GOLD,
            "expected a page, gold_titles, gold_passages, evidence or a document, got none of them",
        )
    if question.paragraph is not None:
        return (Part(Kind.PARAGRAPH, question.page, text=question.paragraph, section=question.section),)
    if not any(map(has_words, question.answers)):
        return Miss(Cause.NO_GOLD, "expected a paragraph or answers besides the page, got neither")
    return (Part(Kind.ANSWERS, question.page, answers=question.answers),)


def _of_document(evidence: Evidence) -> Part:
    if evidence.pages:
        return Part(Kind.PAGES, evidence.document, pages=evidence.pages)
    if not evidence.quotes:
        return Part(Kind.DOCUMENT, evidence.document)
    return Part(Kind.QUOTES, evidence.document, quotes=evidence.quotes)


def wordless(part: Part) -> Miss | None:
    """Return why a part can never be found; None if it can."""
    if part.kind in (Kind.PASSAGE, Kind.PARAGRAPH, Kind.MARKED) and not has_words(part.text):
        return Miss(Cause.NO_GOLD, "expected a gold text of words, got one of punctuation only")
    if part.kind is Kind.QUOTES and not any(has_words(words_of(quote)) for quote in part.quotes):
        return Miss(
            Cause.NO_GOLD,
            f"expected a quote of words from {part.name!r}, got only punctuation, or links and pictures without a text",
        )
    return None
