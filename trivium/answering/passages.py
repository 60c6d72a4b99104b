"""Hits as numbered passages, split into sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from trivium.graph.page_facts import document_name
from trivium.graph.protocols import GraphReader
from trivium.graph.records import ChunkRecord, page_numbers
from trivium.graph.schema import Hop, headings_of
from trivium.text.folding import apart, joined, spellings, tokens, written
from trivium.text.headings_in_passages import body_of
from trivium.text.languages import IN_ENGLISH, Analyzer
from trivium.text.normalise import sentences, words
from trivium.types import ChunkKind, Citation, Hit

_MOST_JOINED = 8
"""Number of words written apart in a question that are put together."""
_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
_CONTINUED = 3
"""Number of hits of which continuations are looked for."""
_MOST_ADDED = 4
MAX_SENTENCE = 600
"""Number of characters of a sentence that are used, since rows of tables can be very long."""


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """``number`` is the rank, by which answers cite the passage. ``body`` is its text without the headings that it
    begins with, ``sentences`` are those of the body, in order. ``said`` are the terms of headings and text, ``words``
    their words.
    """

    number: int
    hit: Hit
    body: str
    headings: str
    sentences: tuple[str, ...]
    said: frozenset[str]
    words: frozenset[str]
    analyzer: Analyzer = IN_ENGLISH

    @property
    def above(self) -> str:
        """What stands above it: its headings, its document and its page."""
        return f"{self.headings} {self.hit.document} {self.hit.page}"

    @property
    def citation(self) -> Citation:
        """The citation of this passage."""
        hit = self.hit
        return Citation(
            self.number, hit.uri, hit.page, hit.section, hit.start, hit.end, hit.document, hit.pages, hit.live
        )

    def said_by(self, sentence: str) -> frozenset[str]:
        """Return the terms of one of its sentences and of the headings."""
        return frozenset(self.analyzer.terms(f"{self.headings} {sentence}"))


def passages(hits: Sequence[Hit], analyzer: Analyzer = IN_ENGLISH) -> list[NumberedPassage]:
    """Number hits, best first, as passages 1, 2, 3, ... ``analyzer`` is that of their store."""
    return [_passage(number, hit, analyzer) for number, hit in enumerate(hits, start=1)]


def _passage(number: int, hit: Hit, analyzer: Analyzer) -> NumberedPassage:
    above = headings_of(hit.section)
    headings = " > ".join(above)
    body = body_of(hit.text, above)
    return NumberedPassage(
        number,
        hit,
        body,
        headings,
        tuple(body[start : min(end, start + MAX_SENTENCE)] for start, end in sentences(body)),
        frozenset(analyzer.terms(f"{headings} {hit.text}")),
        frozenset(words(f"{headings} {hit.text}")),
        analyzer,
    )


def continuations(
    hits: Sequence[Hit], kinds: Sequence[ChunkKind], store: GraphReader, wanted: Sequence[str] = ()
) -> list[Hit]:
    """Return up to four passages that are not among the ``hits`` and stand beside one of the best three in its section,
    if it and all between them are of ``kinds``, or if they announce it with a colon, and those that are
    ``wanted``. They are ranked behind the others.
    """
    best = [hit for hit in hits[:_CONTINUED] if hit.kind in kinds and hit.live is None]
    below = store.expand(list(dict.fromkeys(hit.section for hit in best)), Hop.CHILD) if best else {}
    known = {hit.uri for hit in hits}
    as_last = (hits[-1].score, hits[-1].rerank_score) if hits else ()
    added = {record.uri: hit_of(record, *as_last) for record in store.fetch(list(wanted))}
    for hit in best:
        chunks = below.get(hit.section, [])
        place = chunks.index(hit.uri) if hit.uri in chunks else len(chunks)
        before, behind = (
            chunks[max(0, place - _MOST_ADDED) : place],
            chunks[place + 1 : place + 1 + _MOST_ADDED],
        )
        records = {record.uri: record for record in store.fetch([*before, *behind])}
        for way in (before[::-1], behind):
            beside = [records[uri] for uri in way]
            going_on = list(takewhile(lambda one: one.kind in kinds, beside))
            announcing = [] if way is behind else beside[len(going_on) :][:1]
            for record in [*going_on, *(one for one in announcing if one.text.rstrip().endswith(":"))]:
                if record.uri not in known:
                    added[record.uri] = hit_of(record, *as_last)
    found = list(added.values())[:_MOST_ADDED]
    return [replace(hit, rank=rank) for rank, hit in enumerate(found, start=len(hits) + 1)]


def hit_of(record: ChunkRecord, score: float = 0.0, rerank_score: float | None = None) -> Hit:
    """Return a passage that was not searched for as a hit."""
    place = (record.page, record.section, record.kind, record.start, record.end)
    return Hit(
        *(record.uri, record.text, score, 1, *place),
        document=document_name(record.document),
        pages=tuple(page_numbers(record.pages)),
        format=record.format,
        metadata=record.metadata,
        rerank_score=rerank_score,
    )


def respelled(question: str, offered: Sequence[NumberedPassage]) -> str:
    """Return a question with its words as the passages spell them, for words that no passage has as they are written
    in the question (``Lomza``, ``e-mail``), so that it is answered as if it had been asked in their spelling.
    """
    question = _together(question, offered)
    own = {word: _bare(word) for word in question.split()}
    asked = {form for core in own.values() for form in _forms(core)}
    found: dict[str, str] = {}
    for passage in offered:
        for word in f"{passage.headings} {passage.hit.text}".split():
            core = _bare(word)
            forms = asked.intersection(_forms(core)) if core else ()
            for form in forms:
                found.setdefault(form, core)
            if forms:
                found.setdefault(core.lower(), core)
                found[written(core)] = core
    spelled = {}
    for word, core in own.items():
        spellings_of = (core.lower(), written(core), *_forms(core))
        shown = next((found[form] for form in spellings_of if form in found), core)
        if shown.lower() != core.lower():
            spelled[word] = word.replace(core, shown)
    return " ".join(spelled.get(word, word) for word in question.split()) if spelled else question


def _together(question: str, offered: Sequence[NumberedPassage]) -> str:
    """Return a question with words together that are one word in the passages (``e mail``)."""
    common = offered[0].analyzer.function_words if offered else frozenset[str]()
    runs = dict.fromkeys(apart(tokens(question), common))
    known = [run for run in runs if any("".join(run) in passage.words for passage in offered)]
    parts = question.split()
    for run in known[:_MOST_JOINED]:
        size = len(run)
        said = [tuple(tokens(part)) for part in parts]
        for at in range(len(parts) - size + 1):
            if said[at : at + size] == [(token,) for token in run]:
                parts[at : at + size] = [
                    "".join((*(p.rstrip(".") for p in parts[at : at + size - 1]), parts[at + size - 1]))
                ]
                break
    return " ".join(parts) if known else question


def _bare(word: str) -> str:
    core = _CORE.search(word)
    return "" if core is None else core[0].removesuffix("'s").removesuffix("’s")


def _forms(core: str) -> tuple[str, ...]:
    """The forms in which spellings of a word agree, as a whole."""
    return spellings(joined(written(core)), str)
