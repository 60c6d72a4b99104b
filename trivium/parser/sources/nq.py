"""Natural Questions: the page of a row, its question, and its answers traced to chunks (evaluation gold).

Annotations are ranges of document tokens. Their words, tags dropped, are aligned with the words of the parsed
page; the chunks that hold the aligned stretch are the answer's chunks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast

from trivium.errors import InputError
from trivium.parser.html import parse_html
from trivium.parser.sources.align import PageWords, Window, occurrences, words_of
from trivium.parser.sources.base import clean_text
from trivium.parser.sources.nq_rows import (
    Row,
    Tokens,
    TokenSpan,
    annotated,
    as_row,
    document_of,
    title_and_revision,
    tokens,
)
from trivium.types import Page, Question

MIN_COVERAGE = 0.6
"""Share of an answer's words that must be on the page, in one stretch, for it to count as traced."""

# Share of the shorter of two that must be common for a chunk to hold an answer.
_TOUCH = 0.05

Kind = Literal["long", "short"]


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """An answer found on the page: ``page.text[start:end] == text``, within the chunks of these indices (in
    the order of ``page.all_chunks()``). ``coverage`` in (0, 1] is the share of its words found there;
    ``annotation`` the index of the annotator."""

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


def to_page(row: Row, source: str = "") -> Page:
    """The page of a row, with the revision the row gives; where the row names the page otherwise than the
    page itself, that is an alias. Raises InputError when it cannot be parsed."""
    document = document_of(as_row(row))
    title, revision = title_and_revision(document)
    page = parse_html(clean_text(cast(str, document["html"])), source=source, title=title)
    if title is not None and title not in (page.title, *page.aliases):
        page = replace(page, aliases=(*page.aliases, title))
    return page if revision is None else replace(page, revision=revision)


def questions(row: Row) -> list[Question]:
    """The question of a row, with its distinct short (and yes/no) answers and, as paragraph, the long
    answer that most annotators marked (the first of several). A question nobody could answer comes without
    either.

    Raises InputError when the row is malformed.
    """
    asked = row.get("question_text")
    if asked is None and isinstance(question := row.get("question"), Mapping):
        asked = question.get("text")
    if not isinstance(asked, str) or not asked.strip():
        raise InputError("expected a Natural Questions row with its question, got none")
    document = tokens(row)
    marked = annotated(row)
    answers = [document.text(span) for annotation in marked for span in annotation.short]
    answers += [annotation.yes_no for annotation in marked if annotation.yes_no is not None]
    spans = Counter(annotation.long for annotation in marked if annotation.long is not None)
    title, _ = title_and_revision(document_of(row))
    return [
        Question(
            id=f"nq-{row.get('example_id', row.get('id'))}",
            text=clean_text(asked.strip()),
            answers=tuple(dict.fromkeys(answers)),
            page=title,
            paragraph=document.text(spans.most_common(1)[0][0]) if spans else None,
        )
    ]


def trace(row: Row, page: Page) -> list[TracedAnswer | UntracedAnswer]:
    """Every long and short answer of a row, by annotator, the long answer before its short ones.

    A short answer is looked for inside the chunks of its traced long answer. "No answer" and yes/no give
    nothing. Raises InputError when the row's tokens or annotations are malformed.
    """
    tracer = _Tracer(tokens(row), page)
    found: list[TracedAnswer | UntracedAnswer] = []
    for index, annotation in enumerate(annotated(row)):
        within = None
        if annotation.long is not None:
            answer, within = tracer.trace("long", index, annotation.long)
            found.append(answer)
        for span in annotation.short:
            outer = (annotation.long, within) if annotation.long is not None and within is not None else None
            found.append(tracer.trace("short", index, span, outer)[0])
    return found


class _Tracer:
    def __init__(self, document: Tokens, page: Page) -> None:
        self._document = document
        self._page = page
        self._words = PageWords(page.text)
        self._chunks = [(chunk.start, chunk.end) for _, chunk in page.all_chunks()]

    def trace(
        self, kind: Kind, annotation: int, span: TokenSpan, outer: tuple[TokenSpan, Window] | None = None
    ) -> tuple[TracedAnswer | UntracedAnswer, Window | None]:
        """The answer and, when it was found, the words of its chunks."""
        try:
            text = self._document.text(span)
        except InputError as error:
            return UntracedAnswer(kind, annotation, "", str(error)), None
        wanted = words_of(text)
        if not wanted:
            return UntracedAnswer(kind, annotation, text, "the annotated tokens hold no words"), None
        window = self._locate(wanted, span, outer)
        if window is None or window.coverage < MIN_COVERAGE:
            share = 0.0 if window is None else window.coverage
            reason = f"{share:.0%} of its words are on the page in one stretch, {MIN_COVERAGE:.0%} are needed"
            return UntracedAnswer(kind, annotation, text, reason), None
        chunks = self._holders(window)
        if not chunks:
            return UntracedAnswer(kind, annotation, text, "its words are on the page but in no chunk"), None
        first, last = self._chunks[chunks[0]][0], self._chunks[chunks[-1]][1]
        start, end = self._words.characters(window)
        start, end = max(start, first), min(end, last)
        found = TracedAnswer(
            kind, annotation, start, end, chunks, self._page.text[start:end], window.coverage
        )
        return found, self._words.between(first, last)

    def _holders(self, window: Window) -> tuple[int, ...]:
        """The chunks that hold the window. One it only touches, with a word or two at its edge, is none."""
        held = []
        for index, (first, last) in enumerate(self._chunks):
            chunk = self._words.between(first, last)
            shared = min(chunk.end, window.end) - max(chunk.start, window.start)
            if shared > _TOUCH * min(chunk.end - chunk.start, window.end - window.start):
                held.append(index)
        return tuple(held)

    def _locate(
        self, wanted: list[str], span: TokenSpan, outer: tuple[TokenSpan, Window] | None
    ) -> Window | None:
        if outer is None:
            return self._words.locate(wanted, span[0] / len(self._document.tokens))
        (first, last), within = outer
        # The same words may stand in the long answer several times: take the same one of them.
        said = words_of(self._document.text((first, last)))
        before = len(words_of(self._document.text((first, span[0])))) if span[0] > first else 0
        there = occurrences(wanted, said, 0, len(said))
        here = occurrences(wanted, self._words.words, within.start, within.end)
        if before in there and len(there) == len(here):
            start = here[there.index(before)]
            return Window(start, start + len(wanted), 1.0)
        return self._words.locate(wanted, before / max(1, len(said)), within)
