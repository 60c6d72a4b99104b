"""Natural Questions: the page of a row, and its question.

Annotations are ranges of document tokens. Their words, without tags, are later aligned with the words of a page
(:mod:`trivium.parser.sources.locate_marked_text`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from trivium.errors import InputError
from trivium.parser.html import parse_html
from trivium.parser.sources.locate_marked_text import occurrences, words_of
from trivium.parser.sources.natural_question_rows import (
    MAJORITY,
    Row,
    Tokens,
    TokenSpan,
    annotated,
    as_row,
    counted,
    document_of,
    is_simplified,
    title_and_revision,
    tokens,
)
from trivium.parser.sources.source_items import clean_text
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.types import MarkedText, Page, Question

_MAX_ID = 200


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
    (:func:`~trivium.parser.sources.natural_question_rows.counted`): the long ones as ``marked`` texts, the one marked
    most often (ties: the first) also as ``paragraph``, short and yes/no ones as ``answers``. A question without any has
    the reason in ``no_answer``.

    Raises InputError when the row is malformed, and for an unknown rule.
    """
    text = question_text(row)
    annotations = annotated(row)
    chosen = counted(annotations, annotators)
    title, _ = title_and_revision(document_of(row))
    if not isinstance(chosen, list):  # most training rows: skip their tokens, which make up most of a row
        return [Question(id=question_id(row), text=text, page=title, no_answer=chosen)]
    document = tokens(row)
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


def _marked(document: Tokens, span: TokenSpan) -> MarkedText:
    """Describe a range for finding it on another page of the same document. Its position is counted in words, because
    tags are present only here.
    """
    text, start = document.text(span), span[0]
    words = words_of(document.text((0, len(document.tokens))))
    before = len(words_of(document.text((0, start)))) if start else 0
    alike = occurrences(words_of(text), words)
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
