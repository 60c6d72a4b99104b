"""Measures how much of what one text says is said by another, weighting rare words more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from trivium.graph.protocols import TextSearch
from trivium.retrievers.lexical import idf
from trivium.text.languages import IN_ENGLISH, Analyzer, StoreLanguages
from trivium.text.normalise import words

_NAME = re.compile(r"\b(?:[^\W\d_]*[A-Z]\w*|\w*\d\w*)\b")
_DIGIT = re.compile(r"\d")
_FIRST = re.compile(r"\W*\w+")


@dataclass(frozen=True, slots=True)
class Rarity:
    """The weights of terms: their inverse document frequency in a store, whose ``analyzer`` converts words to terms.
    ``unknown`` are those of them that no passage has.
    """

    weights: dict[str, float]
    analyzer: Analyzer = IN_ENGLISH
    unknown: frozenset[str] = frozenset()

    @classmethod
    def of(cls, store: TextSearch, texts: Iterable[str]) -> Rarity:
        """Fetch the weights of every term of some texts, in one store call."""
        analyzer = StoreLanguages.read(store.languages).analyzer
        asked = sorted({term for text in texts for term in analyzer.terms(text)})
        if not asked:
            return cls({}, analyzer)
        found = store.term_statistics(asked)
        unknown = [term for term, count in zip(asked, found.document_frequency, strict=True) if count == 0]
        return cls(dict(zip(asked, idf(found).tolist(), strict=True)), analyzer, frozenset(unknown))

    def covered(self, claim: Iterable[str], said: frozenset[str]) -> float:
        """Return the share, in [0, 1], of the weight of the distinct terms that are among those ``said``; 1 for no
        terms.

        >>> Rarity({"moon": 3.0, "two": 1.0}).covered(["two", "moon"], frozenset(["moon"]))
        0.75
        """
        total = found = 0.0
        for term in dict.fromkeys(claim):
            weight = self.weights.get(term, 0.0)
            total += weight
            found += weight if term in said else 0.0
        return found / total if total > 0 else 1.0

    def alike(self, one: str, other: str) -> tuple[float, float]:
        """Return the shares, in [0, 1], of the weight of the terms of each of two texts that the other has, too, without
        those with digits.
        """
        first, second = (
            frozenset(term for term in self.content(text) if not _DIGIT.search(term)) for text in (one, other)
        )
        return (self.covered(first, second), self.covered(second, first)) if first and second else (0.0, 0.0)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, in order."""
        return self.analyzer.terms(text)

    def content(self, text: str) -> list[str]:
        """Return the distinct terms of a text that carry its topic, or all terms if none does."""
        return self.analyzer.question_terms(text)


def names_and_numbers(sentence: str) -> list[str]:
    """Return the distinct words of a sentence, lower-cased, that contain a capital or a digit. The first word counts
    only with a digit, or a capital after its first letter, since sentences start with a capital.

    >>> names_and_numbers("The moons were found by Asaph Hall in 1877.")
    ['asaph', 'hall', '1877']
    """
    first = _FIRST.match(sentence)
    begin = first.end() if first is not None else 0
    found = [
        name[0]
        for name in _NAME.finditer(sentence)
        if name.start() >= begin or any(c.isdigit() or c.isupper() for c in name[0][1:])
    ]
    return list(dict.fromkeys(word for name in found for word in words(name)))
