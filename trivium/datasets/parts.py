"""The parts of a question's gold: what has to be found, each on the page with a title or in a document."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from trivium.datasets.gold import Cause
from trivium.datasets.match import has_words, words_of
from trivium.types import Evidence, Question


class Kind(Enum):
    """How a part is found: in a document by page numbers or quotes, or on the page with a title."""

    JUDGED = auto()
    PAGES = auto()
    QUOTES = auto()
    PASSAGE = auto()
    MARKED = auto()
    TITLE = auto()
    PARAGRAPH = auto()
    ANSWERS = auto()


OF_DOCUMENTS = (Kind.JUDGED, Kind.PAGES, Kind.QUOTES)
"""Kinds of parts that name a document. All others name the title of a page."""


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
            "expected a page, gold_titles, gold_passages, evidence or a document with pages, got none of them",
        )
    if question.paragraph is not None:
        return (Part(Kind.PARAGRAPH, question.page, text=question.paragraph, section=question.section),)
    if not any(map(has_words, question.answers)):
        return Miss(Cause.NO_GOLD, "expected a paragraph or answers besides the page, got neither")
    return (Part(Kind.ANSWERS, question.page, answers=question.answers),)


def _of_document(evidence: Evidence) -> Part:
    if evidence.pages:
        return Part(Kind.PAGES, evidence.document, pages=evidence.pages)
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
