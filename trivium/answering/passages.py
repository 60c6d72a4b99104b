"""Hits as numbered passages, split into sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.folding import joined, spellings, written
from trivium.graph.schema import headings_of
from trivium.headings import BETWEEN, body_of
from trivium.languages import IN_ENGLISH, Analyzer
from trivium.text import sentences, words
from trivium.types import Citation, Hit

LEAST_STATED = 6
"""Minimum number of words of a heading that is quoted like a sentence. Fewer name a topic."""
_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
MAX_SENTENCE = 600
"""Number of characters of a sentence that are used, since rows of tables can be very long."""


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """``number`` is the rank, by which answers cite the passage. ``body`` is its text without the headings that it
    begins with, ``sentences`` are those of the body, in order, and ``stated`` the headings that say something as a
    sentence does. ``said`` are the terms of headings and text, ``words`` their words.
    """

    number: int
    hit: Hit
    body: str
    headings: str
    sentences: tuple[str, ...]
    said: frozenset[str]
    words: frozenset[str]
    analyzer: Analyzer = IN_ENGLISH
    stated: tuple[str, ...] = ()

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
        tuple(filter(_states, hit.text.removesuffix(body).split(BETWEEN))),
    )


def _states(heading: str) -> bool:
    """Whether a heading has the words of a sentence rather than those of a topic or a question."""
    return len(words(heading)) >= LEAST_STATED and not heading.endswith("?")


def respelled(question: str, offered: Sequence[NumberedPassage]) -> str:
    """Return a question with its words as the passages spell them, for words that no passage has as they are written
    in the question (``Lomza``, ``e-mail``), so that it is answered as if it had been asked in their spelling.
    """
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
                found[written(core)] = core
    spelled = {}
    for word, core in own.items():
        shown = next((found[form] for form in (written(core), *_forms(core)) if form in found), core)
        if written(shown) != written(core):
            spelled[word] = word.replace(core, shown)
    return " ".join(spelled.get(word, word) for word in question.split()) if spelled else question


def _bare(word: str) -> str:
    core = _CORE.search(word)
    return "" if core is None else core[0].removesuffix("'s").removesuffix("’s")


def _forms(core: str) -> tuple[str, ...]:
    """The forms in which spellings of a word agree, as a whole."""
    return spellings(joined(written(core)), str)
