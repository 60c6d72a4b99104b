"""Adds the questions of Natural Questions rows to a store, linked to the chunks that answer them.

The rows are read again once their pages are in the store, so that questions are traced to the stored chunks, whatever
the chunker and whichever of several copies of a page was kept. This takes about half as long as loading the pages,
mostly for parsing JSON, and little compared with embedding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.graph.page_graph import QuestionNode
from trivium.graph.protocols import GraphReader, GraphWriter
from trivium.graph.schema import Hop, page_uri
from trivium.parser.sources.locate_marked_text import MarkedPage
from trivium.parser.sources.natural_question_files import read_row_questions
from trivium.parser.sources.natural_question_rows import MAJORITY
from trivium.parser.sources.source_items import Problem
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import Question

_AT_ONCE = 64
"""Number of questions traced together, whose pages are in memory."""


class AnswerStore(GraphReader, GraphWriter, Protocol):
    """The part of a store that tracing questions uses."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that no chunk of the store answers: its id, the location of its row, and the reason."""

    id: str
    location: str
    reason: str


@dataclass(slots=True)
class QuestionReport:
    """Number of questions ``asked``, of those ``traced`` to chunks, of ``relations`` to chunks, and of questions that
    are new or ``changed``. The first untraced questions are listed (up to the limit), ``unlisted`` counts the others.
    ``problems`` are rows whose question cannot be read.
    """

    asked: int = 0
    traced: int = 0
    relations: int = 0
    changed: int = 0
    untraced: list[Unanswered] = field(default_factory=list)
    unlisted: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question of a row, and the location of the row."""

    name: str
    question: Question


def put_questions(
    sources: Sequence[str],
    store: AnswerStore,
    *,
    annotators: str = MAJORITY,
    format: str = "auto",
    limits: InputLimits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> QuestionReport:
    """Trace the questions of the rows among the sources to chunks of their pages, and store them as ``is_answer_of``
    relations.

    ``annotators`` says whose answers count (:func:`trivium.parser.sources.natural_question_rows.counted`). A stored
    question that can no longer be traced is removed.
    ``progress`` counts bytes of files. Raises InputError for an unknown value of ``annotators``.
    """
    report = QuestionReport()
    found = read_row_questions(
        sources,
        annotators,
        limits,
        format="nq" if format == "nq" else "auto",
        others=True,
        progress=progress,
    )
    # Drop the rows one by one: with all their tokens, many of them would take hundreds of megabytes.
    light = (one if isinstance(one, Problem) else _Asked(one.name, one.question) for one in found)
    for some in batched(light, _AT_ONCE):
        report.problems += [one for one in some if isinstance(one, Problem)]
        _put([one for one in some if isinstance(one, _Asked)], store, report, limits.problems)
    return report


def _put(rows: Sequence[_Asked], store: AnswerStore, report: QuestionReport, listed: int) -> None:
    kept: dict[str, list[QuestionNode]] = {}
    pages = _pages([row.question for row in rows], store)
    for row, page, chunks in zip(rows, pages, _traced(rows, pages, store), strict=True):
        question = row.question
        report.asked += 1
        if isinstance(chunks, str):
            if len(report.untraced) < listed:
                report.untraced.append(Unanswered(question.id, row.name, chunks))
            else:
                report.unlisted += 1
        else:
            report.traced += 1
            report.relations += len(chunks)
        if page is not None:
            answering = () if isinstance(chunks, str) else tuple(chunks)
            kept.setdefault(page, []).append(
                QuestionNode(question.id, question.text, question.answers, answering)
            )
    if kept:
        report.changed += store.put_questions(kept)


def _pages(questions: Sequence[Question], store: AnswerStore) -> list[str | None]:
    """Return the stored page of each question, None if it is missing."""
    titles = [
        None if question.page is None else page_uri(normalise_title(question.page)) for question in questions
    ]
    resolved = store.resolve(list(dict.fromkeys(title for title in titles if title is not None)))
    return [None if title is None else resolved.get(title) for title in titles]


def _traced(rows: Sequence[_Asked], pages: Sequence[str | None], store: AnswerStore) -> list[list[str] | str]:
    """Return, for each question, the chunks that answer it, in page order, or the reason why there are none."""
    wanted = {
        page
        for row, page in zip(rows, pages, strict=True)
        if page is not None and row.question.no_answer is None
    }
    chunks = store.expand(sorted(wanted), Hop.BELOW) if wanted else {}
    there = {page: _Stored(store, page, uris) for page, uris in chunks.items() if uris}
    return [_chunks(row.question, page, there) for row, page in zip(rows, pages, strict=True)]


class _Stored:
    """A stored page on which texts are traced."""

    def __init__(self, store: AnswerStore, page: str, uris: Sequence[str]) -> None:
        records = store.fetch(uris)
        self._uris = uris
        self._page = MarkedPage(store.page_text(page), [(record.start, record.end) for record in records])

    def find(self, question: Question) -> list[str] | str:
        """Return the chunks that overlap a long answer, or the reason why none was found."""
        outcomes = [self._page.find(marked) for marked in question.marked]
        rows = {row for found in outcomes if not isinstance(found, str) for row in found}
        if rows:
            return [self._uris[row] for row in sorted(rows)]
        reason = next((found for found in outcomes if isinstance(found, str)), "it has no long answer")
        return f"the long answer is not on the page: {reason}"


def _chunks(question: Question, page: str | None, there: Mapping[str, _Stored]) -> list[str] | str:
    if question.no_answer is not None:
        return question.no_answer[1]
    if page is None or page not in there:
        return f"the store has no page {question.page!r}"
    return there[page].find(question)
