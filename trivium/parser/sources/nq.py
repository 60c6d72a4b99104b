"""Natural Questions: the page of a row, its question, and its answers traced to chunks (evaluation gold).

Annotations are ranges of document tokens. Their words, without tags, are aligned with the words of the parsed page; the
chunks that contain the aligned window are the answer's chunks (:mod:`trivium.parser.sources.marked`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast

from trivium.errors import InputError
from trivium.limits import DEFAULT_LIMITS, InputLimits
from trivium.parser.html import parse_html
from trivium.parser.sources.align import Window, occurrences, words_of
from trivium.parser.sources.annotators import MAJORITY, counted
from trivium.parser.sources.base import clean_text
from trivium.parser.sources.marked import IN_NO_CHUNK, MIN_COVERAGE, MarkedPage, not_there
from trivium.parser.sources.nq_rows import (
    AnnotatedText,
    Row,
    TokenSpan,
    annotated,
    annotated_text,
    as_row,
    document_of,
    is_simplified,
    title_and_revision,
    unit_of,
)
from trivium.types import MarkedText, Page, Question

_MAX_ID = 200

Kind = Literal["long", "short"]


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """An answer found on the page: ``page.text[start:end] == text``. ``chunks`` are indices into ``page.all_chunks()``;
    ``coverage``, in (0, 1], is the share of the answer's words found there; ``annotation`` is the index of the
    annotator.
    """

    kind: Kind
    annotation: int
    start: int
    end: int
    chunks: tuple[int, ...]
    text: str
    coverage: float


@dataclass(frozen=True, slots=True)
class UntracedAnswer:
    """An answer that was not found on the page: the annotated words and the reason."""

    kind: Kind
    annotation: int
    text: str
    reason: str


def to_page(row: Row, source: str = "", limits: InputLimits = DEFAULT_LIMITS) -> Page:
    """Return the page of a row, with the row's revision. If the row has a different title than the page, it becomes an
    alias. Raises InputError when the page cannot be parsed.
    """
    document = document_of(as_row(row))
    title, revision = title_and_revision(document)
    page = parse_html(clean_text(cast(str, document["html"])), source=source, title=title, limits=limits)
    if title is not None and is_simplified(row):  # the page's own heading is tokenised: "Colony ( biology )"
        page = replace(page, title=title, aliases=tuple(alias for alias in page.aliases if alias != title))
    elif title is not None and title not in (page.title, *page.aliases):
        page = replace(page, aliases=(*page.aliases, title))
    return page if revision is None else replace(page, revision=revision)


def questions(row: Row, annotators: str = MAJORITY) -> list[Question]:
    """Return the question of a row, with the distinct answers of the annotators that count
    (:func:`~trivium.parser.sources.annotators.counted`): the long ones as ``marked`` texts, the one marked most often
    (ties: the first) also as ``paragraph``, short and yes/no ones as ``answers``. A question without any has the reason
    in ``no_answer``.

    Raises InputError when the row is malformed, and for an unknown rule.
    """
    text = question_text(row)
    annotations = annotated(row, unit_of(row))
    chosen = counted(annotations, annotators)
    title, _ = title_and_revision(document_of(row))
    if not isinstance(chosen, list):  # most training rows: skip their tokens, which make up most of a row
        return [Question(id=question_id(row), text=text, page=title, no_answer=chosen)]
    document = annotated_text(row)
    counting = [annotations[index] for index in chosen]
    answers = [document.text(span) for annotation in counting for span in annotation.short]
    answers += [annotation.yes_no for annotation in counting if annotation.yes_no is not None]
    spans = Counter(annotation.long for annotation in counting if annotation.long is not None)
    marked = tuple(_marked(document, span) for span in spans)
    return [
        Question(
            id=question_id(row),
            text=text,
            answers=tuple(dict.fromkeys(filter(None, answers))),
            page=title,
            paragraph=document.text(spans.most_common(1)[0][0]) if spans else None,
            marked=marked,
        )
    ]


def _marked(document: AnnotatedText, span: TokenSpan) -> MarkedText:
    """Describe a range for finding it on another page of the same document. Its position is counted in words, because
    tags are present only here.
    """
    text, start = document.text(span), span[0]
    if document.unit == "byte":
        return MarkedText(text, start / document.size)
    words = words_of(document.text((0, document.size)))
    before = len(words_of(document.text((0, start)))) if start else 0
    alike = occurrences(words_of(text), words, 0, len(words))
    occurrence = (alike.index(before), len(alike)) if len(alike) > 1 and before in alike else None
    return MarkedText(text, before / max(1, len(words)), occurrence)


def question_text(row: Row) -> str:
    """Return the question of a row. Raises InputError when it has none."""
    text = row.get("question_text")
    if text is None and isinstance(question := row.get("question"), Mapping):
        text = question.get("text")
    if not isinstance(text, str) or not text.strip():
        raise InputError("expected a Natural Questions row with its question, got none")
    return clean_text(text.strip())


def question_id(row: Row) -> str:
    """Return the id of a question. Raises InputError when the row has none."""
    found = row.get("example_id", row.get("id"))
    if isinstance(found, bool) or not isinstance(found, str | int) or not str(found).strip():
        raise InputError(f"expected a Natural Questions row with its example_id, got {str(found)[:40]!r}")
    if len(str(found)) > _MAX_ID:
        raise InputError(f"expected an example_id of at most {_MAX_ID} characters, got {len(str(found)):,}")
    return f"nq-{clean_text(str(found)).strip()}"


def trace(row: Row, page: Page) -> list[TracedAnswer | UntracedAnswer]:
    """Trace every long and short answer of a row, by annotator, the long answer before its short ones.

    A short answer is searched for inside the chunks of its traced long answer. "No answer" and yes/no answers are left
    out. Raises InputError when the row's tokens or annotations are malformed.
    """
    document = annotated_text(row)
    tracer = _Tracer(document, page)
    traced: list[TracedAnswer | UntracedAnswer] = []
    for index, annotation in enumerate(annotated(row, document.unit)):
        within = None
        if annotation.long is not None:
            answer, within = tracer.trace("long", index, annotation.long)
            traced.append(answer)
        for span in annotation.short:
            outer = (annotation.long, within) if annotation.long is not None and within is not None else None
            traced.append(tracer.trace("short", index, span, outer)[0])
    return traced


class _Tracer:
    def __init__(self, document: AnnotatedText, page: Page) -> None:
        self._document = document
        self._page = page
        self._chunks = [(chunk.start, chunk.end) for _, chunk in page.all_chunks()]
        self._marked = MarkedPage(page.text, self._chunks)
        self._words = self._marked.words

    def trace(
        self, kind: Kind, annotation: int, span: TokenSpan, outer: tuple[TokenSpan, Window] | None = None
    ) -> tuple[TracedAnswer | UntracedAnswer, Window | None]:
        """Return the answer and, if it was found, the window of its chunks."""
        try:
            text = self._document.text(span)
        except InputError as error:
            return UntracedAnswer(kind, annotation, "", str(error)), None
        wanted = words_of(text)
        if not wanted:
            return UntracedAnswer(kind, annotation, text, "the annotated tokens hold no words"), None
        window = self._locate(wanted, span, outer)
        if window is None or window.coverage < MIN_COVERAGE:
            return UntracedAnswer(kind, annotation, text, not_there(window)), None
        chunks = self._marked.holders(window)
        if not chunks:
            return UntracedAnswer(kind, annotation, text, IN_NO_CHUNK), None
        first, last = self._chunks[chunks[0]][0], self._chunks[chunks[-1]][1]
        start, end = self._words.characters(window)
        start, end = max(start, first), min(end, last)
        answer = TracedAnswer(
            kind, annotation, start, end, chunks, self._page.text[start:end], window.coverage
        )
        return answer, self._words.between(first, last)

    def _locate(
        self, wanted: list[str], span: TokenSpan, outer: tuple[TokenSpan, Window] | None
    ) -> Window | None:
        if outer is None:
            return self._words.locate(wanted, span[0] / self._document.size)
        (first, last), within = outer
        # The words may occur several times in the long answer: take the same occurrence.
        outer_words = words_of(self._document.text((first, last)))
        before = len(words_of(self._document.text((first, span[0])))) if span[0] > first else 0
        there = occurrences(wanted, outer_words, 0, len(outer_words))
        here = occurrences(wanted, self._words.words, within.start, within.end)
        if before in there and len(there) == len(here):
            start = here[there.index(before)]
            return Window(start, start + len(wanted), 1.0)
        return self._words.locate(wanted, before / max(1, len(outer_words)), within)
