"""Maps the gold of a question file to the chunks of a store.

The gold of a question is the first of these that is given:

* ``gold_passages``: each passage is found in the chunk that holds its text, on the page with its title;
  when the text was split over several chunks, in the one that has most of it.
* ``gold_titles``: each title is found in any chunk of the page with that title.
* ``page`` and ``paragraph``: the chunk of the page that holds the paragraph; ``section`` breaks
  ties.
* ``page`` and ``answers``: any chunk of the page that contains an answer as whole words. With more than
  five such chunks the answer is too common to tell where the question is answered, and is not traced.

"Holds" is defined in :mod:`trivium.datasets.match`: 60 % of the text's word 4-grams, or the words themselves
when there are fewer than four. A question is traced only when every part of its gold is found.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from trivium.datasets.gold import Cause, Gold, Traced, Untraceable
from trivium.datasets.match import MIN_SHARE, PageTexts, has_words, same_words
from trivium.errors import InputError
from trivium.graph.protocols import GraphReader
from trivium.graph.records import ChunkRecord
from trivium.graph.schema import Hop, headings_of, page_uri
from trivium.text import normalise_title
from trivium.types import Question

__all__ = ["LEAD", "MAX_ANSWER_CHUNKS", "Traced", "trace"]

LEAD = "__lead__"
"""The name of the text above the first heading in question files."""
MAX_ANSWER_CHUNKS = 5
"""An answer that occurs in more chunks of its page is not traced."""
PAGES_AT_ONCE = 64
"""Number of pages whose chunks are held in memory together."""


class _Kind(Enum):
    PASSAGE = auto()
    TITLE = auto()
    PARAGRAPH = auto()
    ANSWERS = auto()


@dataclass(frozen=True, slots=True)
class _Part:
    """One thing to find on one page. A part that many questions share is looked for only once."""

    kind: _Kind
    title: str
    text: str = ""
    section: str | None = None
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Miss:
    cause: Cause
    reason: str


_Found = tuple[str, ...] | _Miss


def trace(questions: Sequence[Question], store: GraphReader) -> Traced:
    """The gold chunks of every question, or the reason why it has none.

    Titles may be written with underscores and may be redirects. The store is read in batches of pages, each page
    once. Raises InputError when two questions have the same id.
    """
    parts = {question.id: _parts(question) for question in questions}
    if len(parts) < len(questions):
        raise InputError(f"expected questions with distinct ids, got {len(questions)} with {len(parts)} ids")
    distinct = dict.fromkeys(
        part
        for question_parts in parts.values()
        if not isinstance(question_parts, _Miss)
        for part in question_parts
    )
    found = _find(list(distinct), store)
    gold: dict[str, Gold] = {}
    untraceable: list[Untraceable] = []
    for identifier, question_parts in parts.items():
        if isinstance(question_parts, _Miss):
            outcome: Gold | _Miss = question_parts
        else:
            outcome = _join([found[part] for part in question_parts])
        if isinstance(outcome, _Miss):
            untraceable.append(Untraceable(identifier, outcome.cause, outcome.reason))
        else:
            gold[identifier] = outcome
    traced = tuple(question for question in questions if question.id in gold)
    return Traced(traced, gold, tuple(untraceable))


def _parts(question: Question) -> tuple[_Part, ...] | _Miss:
    """The parts to find for a question, or why there are none."""
    if question.gold_passages:
        parts = tuple(_Part(_Kind.PASSAGE, p.title, text=p.text) for p in question.gold_passages)
    elif question.gold_titles:
        return tuple(_Part(_Kind.TITLE, title) for title in question.gold_titles)
    elif question.page is None:
        return _Miss(Cause.NO_GOLD, "expected a page, gold_titles or gold_passages, got none of them")
    elif question.paragraph is not None:
        parts = (_Part(_Kind.PARAGRAPH, question.page, text=question.paragraph, section=question.section),)
    else:
        if not any(map(has_words, question.answers)):
            return _Miss(Cause.NO_GOLD, "expected a paragraph or answers besides the page, got neither")
        return (_Part(_Kind.ANSWERS, question.page, answers=question.answers),)
    if not all(has_words(part.text) for part in parts):
        return _Miss(Cause.NO_GOLD, "expected a gold text of words, got one of punctuation only")
    return parts


def _join(outcomes: Sequence[_Found]) -> Gold | _Miss:
    misses = [outcome for outcome in outcomes if isinstance(outcome, _Miss)]
    if not misses:
        return Gold.of(outcome for outcome in outcomes if not isinstance(outcome, _Miss))
    if len(outcomes) == 1:
        return misses[0]
    first = misses[0]
    return _Miss(first.cause, f"{len(misses)} of {len(outcomes)} gold parts not found: {first.reason}")


def _find(parts: Sequence[_Part], store: GraphReader) -> dict[_Part, _Found]:
    uris = {part.title: page_uri(normalise_title(part.title)) for part in parts}
    entities = store.resolve(list(dict.fromkeys(uris.values())))
    by_page: dict[str, list[_Part]] = {}
    found: dict[_Part, _Found] = {}
    for part in parts:
        page = entities.get(uris[part.title])
        if page is None:
            found[part] = _Miss(Cause.NO_PAGE, f"the store has no page {part.title!r}")
        else:
            by_page.setdefault(page, []).append(part)
    pages = list(by_page)
    for start in range(0, len(pages), PAGES_AT_ONCE):
        batch = {page: by_page[page] for page in pages[start : start + PAGES_AT_ONCE]}
        found |= _find_on_pages(batch, store)
    return found


def _find_on_pages(by_page: Mapping[str, Sequence[_Part]], store: GraphReader) -> dict[_Part, _Found]:
    chunks = store.expand(list(by_page), Hop.BELOW)
    to_fetch = [
        uri
        for page, parts in by_page.items()
        if any(part.kind is not _Kind.TITLE for part in parts)
        for uri in chunks.get(page, ())
    ]
    records = dict(zip(to_fetch, store.fetch(to_fetch), strict=True)) if to_fetch else {}
    found: dict[_Part, _Found] = {}
    for page, parts in by_page.items():
        uris = chunks.get(page, [])
        on_page = [records[uri] for uri in uris if uri in records]
        texts = PageTexts([record.text for record in on_page])
        for part in parts:
            if not uris:
                found[part] = _Miss(Cause.NO_PAGE, f"the store has no text of the page {part.title!r}")
            elif part.kind is _Kind.TITLE:
                found[part] = tuple(uris)
            else:
                found[part] = _find_text(part, on_page, texts)
    return found


def _find_text(part: _Part, records: Sequence[ChunkRecord], texts: PageTexts) -> _Found:
    if part.kind is _Kind.ANSWERS:
        rows = texts.containing(part.answers)
        if len(rows) > MAX_ANSWER_CHUNKS:
            return _Miss(
                Cause.TOO_MANY,
                f"{len(rows)} chunks of {part.title!r} contain an answer, more than {MAX_ANSWER_CHUNKS}",
            )
        requirement = "contains an answer"
    else:
        rows = texts.best(part.text, _under(part.section, records))
        if not rows and part.kind is _Kind.PASSAGE:
            rows = texts.best_part(part.text)
        requirement = f"shares {MIN_SHARE:.0%} of the gold text"
    if not rows:
        return _Miss(Cause.NO_MATCH, f"no chunk of {part.title!r} {requirement}")
    return tuple(records[row].uri for row in rows)


def _under(section: str | None, records: Sequence[ChunkRecord]) -> Collection[int]:
    """The positions of the chunks directly under a heading."""
    if section is None:
        return ()
    if section == LEAD:
        return [row for row, record in enumerate(records) if record.section == record.page]
    return [
        row
        for row, record in enumerate(records)
        if record.section != record.page and same_words(headings_of(record.section)[-1], section)
    ]
