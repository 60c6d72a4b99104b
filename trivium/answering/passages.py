"""A hit as an answer may rest on it: numbered, and cut into sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.graph.schema import headings_of
from trivium.text import sentences, terms, words
from trivium.types import Citation, Hit

LONGEST_SENTENCE = 600
"""Characters of a sentence that are looked at: rows of tables can go on."""


@dataclass(frozen=True, slots=True)
class Passage:
    """``number`` is what answers call it: its rank. ``sentences`` are in its order; ``said`` are the terms of headings
    and text, ``words`` their words."""

    number: int
    hit: Hit
    headings: str
    sentences: tuple[str, ...]
    said: frozenset[str]
    words: frozenset[str]

    @property
    def citation(self) -> Citation:
        """Where it stands."""
        hit = self.hit
        return Citation(self.number, hit.uri, hit.page, hit.section, hit.start, hit.end)

    def said_by(self, sentence: str) -> frozenset[str]:
        """The terms of one of its sentences, under its headings."""
        return frozenset(terms(f"{self.headings} {sentence}"))


def passages(hits: Sequence[Hit]) -> list[Passage]:
    """Hits, best first, as passages 1, 2, 3 ..."""
    return [_passage(number, hit) for number, hit in enumerate(hits, start=1)]


def _passage(number: int, hit: Hit) -> Passage:
    headings = " > ".join(headings_of(hit.section))
    spans = sentences(hit.text)
    return Passage(
        number,
        hit,
        headings,
        tuple(hit.text[start : min(end, start + LONGEST_SENTENCE)] for start, end in spans),
        frozenset(terms(f"{headings} {hit.text}")),
        frozenset(words(f"{headings} {hit.text}")),
    )
