"""Maps the gold of a question file to the chunks of a store.

The gold of a question is the first of these that is given:

* ``judged`` documents of a benchmark, by their ids: any chunk of each, with its grade. Documents that are not in the
  store are passed over as long as one is.
* ``document`` and ``pages``: any chunk of the document that is on one of these pages; without ``pages`` any chunk of it.
* ``evidence``: each document is found in any of its chunks that holds one of the quotes, or in any of its chunks if
  there are no quotes. Quotes that no chunk holds are passed over as long as one is held.
* ``gold_passages``: each passage is found in the chunk that holds its text, on the page with its title;
  when the text was split over several chunks, in the one that has most of it.
* ``gold_titles``: each title is found in any chunk of the page with that title.
* ``page`` and ``marked`` texts, such as the long answers of Natural Questions: every chunk of the page that holds part of
  one, each by itself (:mod:`trivium.parser.sources.locate_marked_text`). Texts that are not found are passed over as long
  as one is.
* ``page`` and ``paragraph``: the chunk of the page that holds the paragraph; ``section`` breaks
  ties.
* ``page`` and ``answers``: any chunk of the page that contains an answer as whole words. With more than
  five such chunks the answer is too common to tell where the question is answered, and is not traced.

"Holds" is defined in :mod:`trivium.datasets.match_text`: 60 % of the text's word 4-grams, or the words themselves
when there are fewer than four; a chunk also holds a longer quote that it lies within.
:mod:`trivium.datasets.find_documents` defines what documents are called.

A question is traced only when every part of its gold is found. With ``gold_any`` any part will do: the parts that are
found become one group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Protocol, cast

from trivium.datasets.find_documents import Documents
from trivium.datasets.gold import (
    OF_DOCUMENTS,
    WHOLE,
    Cause,
    Found,
    Gold,
    Kind,
    Miss,
    Part,
    Traced,
    Untraceable,
    parts_of,
    wordless,
)
from trivium.datasets.match_text import MIN_SHARE, PageTexts, QuotedTexts, same_words
from trivium.errors import InputError
from trivium.graph.protocols import PageReader
from trivium.graph.records import ChunkRecord
from trivium.graph.schema import Hop, headings_of, page_uri
from trivium.parser.sources.locate_marked_text import MarkedPage
from trivium.text.normalise import normalise_title
from trivium.types import MarkedText, Question

__all__ = ["LEAD", "MAX_ANSWER_CHUNKS", "Traced", "trace"]

LEAD = "__lead__"
"""Section name in question files for the text before the first heading."""
MAX_ANSWER_CHUNKS = 5
"""An answer that occurs in more chunks of its page is not traced."""
PAGES_AT_ONCE = 64
"""Number of pages whose chunks are held in memory at once."""
_SHOWN_PAGES = 10
_SHOWN_CHARACTERS = 80


class PassageSource(Protocol):
    """Pages and their chunks, as provided by a store (:class:`trivium.graph.protocols.GraphReader`)."""

    def resolve(self, titles: Sequence[str]) -> dict[str, str]: ...

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]: ...

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]: ...

    def page_text(self, page: str) -> str: ...


class GoldStore(PassageSource, PageReader, Protocol):
    """The store methods that tracing needs."""


def trace(questions: Sequence[Question], store: GoldStore | PassageSource) -> Traced:
    """Find the gold chunks of every question, or the reason why it has none.

    Titles may contain underscores and may be redirects. The store is read in batches of pages, each page once. If a
    question names a document, the pages of the store are listed, which a bare PassageSource does not support. Raises
    InputError when two questions have the same id.
    """
    if (ids := len({question.id for question in questions})) < len(questions):
        raise InputError(f"expected questions with distinct ids, got {len(questions)} with {ids} ids")
    unanswerable = tuple(question for question in questions if question.unanswerable)
    questions = [question for question in questions if not question.unanswerable]
    parts = {question.id: parts_of(question) for question in questions}
    distinct = dict.fromkeys(
        part
        for question_parts in parts.values()
        if not isinstance(question_parts, Miss)
        for part in question_parts
    )
    found = _find(list(distinct), store)
    gold: dict[str, Gold] = {}
    untraceable: list[Untraceable] = []
    partly: list[Untraceable] = []
    for question in questions:
        question_parts = parts[question.id]
        if isinstance(question_parts, Miss):
            outcome: Gold | Miss = question_parts
        elif question_parts[0].kind in (Kind.MARKED, Kind.JUDGED):
            outcomes = [found[part] for part in question_parts]
            outcome, missed = _join_judged(outcomes, question) if question.judged else _join_marked(outcomes)
            if missed is not None and not isinstance(outcome, Miss):
                partly.append(Untraceable(question.id, missed.cause, missed.reason))
        else:
            outcome = _join([found[part] for part in question_parts], question.gold_any)
        if isinstance(outcome, Miss):
            untraceable.append(Untraceable(question.id, outcome.cause, outcome.reason))
        else:
            gold[question.id] = outcome
    traced = tuple(question for question in questions if question.id in gold)
    return Traced(traced, gold, tuple(untraceable), tuple(partly), unanswerable)


def _join_judged(outcomes: Sequence[Found], question: Question) -> tuple[Gold | Miss, Miss | None]:
    """Return the documents that were found, each as a group with its grade, and what was not found."""
    grades = [grade for _, grade in question.judged if grade > 0]
    found = [(one, grade) for one, grade in zip(outcomes, grades, strict=True) if not isinstance(one, Miss)]
    missed = next((one for one in outcomes if isinstance(one, Miss)), None)
    if missed is not None and not found:
        return missed, None
    return Gold.of([chunks for chunks, _ in found], [grade for _, grade in found]), missed


def _join_marked(outcomes: Sequence[Found]) -> tuple[Gold | Miss, Miss | None]:
    """Return every chunk that holds part of a marked text as a group of its own, and what was not found."""
    chunks = dict.fromkeys(chain.from_iterable(one for one in outcomes if not isinstance(one, Miss)))
    missed = next((one for one in outcomes if isinstance(one, Miss)), None)
    if not chunks:
        assert missed is not None
        return missed, None
    return Gold(tuple((chunk,) for chunk in sorted(chunks))), missed


def _join(outcomes: Sequence[Found], any_will_do: bool) -> Gold | Miss:
    found = [outcome for outcome in outcomes if not isinstance(outcome, Miss)]
    misses = [outcome for outcome in outcomes if isinstance(outcome, Miss)]
    if found and any_will_do:
        return Gold.of([chain.from_iterable(found)])
    if not misses:
        return Gold.of(found)
    if len(outcomes) == 1:
        return misses[0]
    first = misses[0]
    return Miss(first.cause, f"{len(misses)} of {len(outcomes)} gold parts not found: {first.reason}")


def _find(parts: Sequence[Part], store: GoldStore | PassageSource) -> dict[Part, Found]:
    by_page: dict[str, list[Part]] = {}
    outcomes: dict[Part, list[Found]] = {}
    for part, place in _places(parts, store).items():
        if isinstance(place, Miss):
            outcomes[part] = [place]
            continue
        for page in place:
            by_page.setdefault(page, []).append(part)
    pages = list(by_page)
    for start in range(0, len(pages), PAGES_AT_ONCE):
        batch = {page: by_page[page] for page in pages[start : start + PAGES_AT_ONCE]}
        for part, outcome in _find_on_pages(batch, store):
            outcomes.setdefault(part, []).append(outcome)
    return {part: _anywhere(found) for part, found in outcomes.items()}


def _anywhere(outcomes: Sequence[Found]) -> Found:
    """Return what was found on any of the pages where a part was searched for."""
    found = tuple(chain.from_iterable(chunks for chunks in outcomes if not isinstance(chunks, Miss)))
    return found or outcomes[0]


def _places(parts: Sequence[Part], store: GoldStore | PassageSource) -> dict[Part, Found]:
    """Return the pages on which each part is searched for: one, or all pages that the name of a document may refer to."""
    uris = {
        part.name: page_uri(normalise_title(part.name)) for part in parts if part.kind not in OF_DOCUMENTS
    }
    entities = store.resolve(list(dict.fromkeys(uris.values()))) if uris else {}
    documents = (
        Documents(cast(GoldStore, store)) if any(part.kind in OF_DOCUMENTS for part in parts) else None
    )
    places: dict[Part, Found] = {}
    for part in parts:
        unusable = wordless(part)
        if unusable is not None:
            places[part] = unusable
        elif documents is not None and part.kind in OF_DOCUMENTS:
            by_path = () if part.kind is Kind.JUDGED else documents.named(part.name)
            places[part] = by_path or documents.with_id(part.name) or _no_document(part.name, documents)
        else:
            page = entities.get(uris[part.name])
            missing = Miss(Cause.NO_PAGE, f"the store has no page {part.name!r}")
            places[part] = missing if page is None else (page,)
    return places


def _no_document(name: str, documents: Documents) -> Miss:
    similar = documents.similar(name)
    hint = "" if similar is None else f": did you mean {similar!r}?"
    return Miss(Cause.NO_DOCUMENT, f"the store has no document {name!r}{hint}")


def _find_on_pages(
    by_page: Mapping[str, Sequence[Part]], store: PassageSource
) -> Iterator[tuple[Part, Found]]:
    chunks = store.expand(list(by_page), Hop.BELOW)
    to_fetch = [
        uri
        for page, parts in by_page.items()
        if any(part.kind not in WHOLE for part in parts)
        for uri in chunks.get(page, ())
    ]
    records = dict(zip(to_fetch, store.fetch(to_fetch), strict=True)) if to_fetch else {}
    for page, parts in by_page.items():
        uris = chunks.get(page, [])
        on_page = _Chunks(page, [records[uri] for uri in uris if uri in records], store)
        for part in parts:
            if not uris:
                kind = "document" if part.kind in OF_DOCUMENTS else "page"
                yield part, Miss(Cause.NO_PAGE, f"the store has no text of the {kind} {part.name!r}")
            elif part.kind in WHOLE:
                yield part, tuple(uris)
            else:
                yield part, on_page.find(part)


class _Chunks:
    """The chunks of one page, indexed on first use."""

    def __init__(self, page: str, records: Sequence[ChunkRecord], store: PassageSource) -> None:
        self._page = page
        self._records = records
        self._store = store

    @cached_property
    def _texts(self) -> PageTexts:
        return PageTexts([record.body for record in self._records])

    @cached_property
    def _quoted(self) -> QuotedTexts:
        return QuotedTexts([record.body for record in self._records])

    @cached_property
    def _marked(self) -> MarkedPage:
        return MarkedPage(
            self._store.page_text(self._page), [(record.start, record.end) for record in self._records]
        )

    def find(self, part: Part) -> Found:
        """Return the chunks that contain a part."""
        if part.kind is Kind.MARKED:
            found = self._marked.find(MarkedText(part.text, part.place, part.occurrence))
            if isinstance(found, str):
                return Miss(Cause.NO_MATCH, f"no chunk of {part.name!r} holds the long answer: {found}")
            return tuple(self._records[row].uri for row in found)
        rows: Sequence[int]
        if part.kind is Kind.PAGES:
            rows = _on(part.pages, self._records)
            requirement = f"stands on {_listed(part.pages)}"
            if all(record.pages is None for record in self._records):
                requirement += ": it has no page numbers"
        elif part.kind is Kind.QUOTES:
            rows = self._quoted.holding(part.quotes)
            requirement = f"holds the quote {_short(part.quotes[0])!r}"
            if len(part.quotes) > 1:
                requirement = f"holds any of {len(part.quotes)} quotes, such as {_short(part.quotes[0])!r}"
        elif part.kind is Kind.ANSWERS:
            rows = self._texts.containing(part.answers)
            if len(rows) > MAX_ANSWER_CHUNKS:
                return Miss(
                    Cause.TOO_MANY,
                    f"{len(rows)} chunks of {part.name!r} contain an answer, more than {MAX_ANSWER_CHUNKS}",
                )
            requirement = "contains an answer"
        else:
            rows = self._texts.best(part.text, _under(part.section, self._records))
            if not rows and part.kind is Kind.PASSAGE:
                rows = self._texts.best_part(part.text)
            requirement = f"shares {MIN_SHARE:.0%} of the gold text"
        if not rows:
            return Miss(Cause.NO_MATCH, f"no chunk of {part.name!r} {requirement}")
        return tuple(self._records[row].uri for row in rows)


def _on(pages: Sequence[int], records: Sequence[ChunkRecord]) -> list[int]:
    """Return the positions of chunks that are on one of the pages of a document."""
    return [
        row
        for row, record in enumerate(records)
        if record.pages is not None and any(record.pages[0] <= page <= record.pages[1] for page in pages)
    ]


def _listed(pages: Sequence[int]) -> str:
    if len(pages) == 1:
        return f"page {pages[0]}"
    more = " ..." if len(pages) > _SHOWN_PAGES else ""
    return f"any of the pages {', '.join(map(str, pages[:_SHOWN_PAGES]))}{more}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 3]}..."


def _under(section: str | None, records: Sequence[ChunkRecord]) -> Collection[int]:
    """Return the positions of chunks directly under a heading."""
    if section is None:
        return ()
    if section == LEAD:
        return [row for row, record in enumerate(records) if record.section == record.page]
    return [
        row
        for row, record in enumerate(records)
        if record.section != record.page and same_words(headings_of(record.section)[-1], section)
    ]
